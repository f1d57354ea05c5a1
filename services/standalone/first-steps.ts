import type { Config } from '@barnabas/runtime'

/**
 * What a person does next: a receiver, a subscription and an event of their own. `settings` are what the commands need
 * in their environment to find this Kafka and these topics, "" for nothing.
 */
export function firstSteps(settings = ''): readonly string[] {
  const where = settings === '' ? '' : `, with ${settings}`
  return [
    `Send an event of your own, each command in another terminal${where}:`,
    `  1. receive:    node -e "require('http').createServer((q, s) => q.on('data', (d) => console.log(q.headers['ce-type'], '' + d)).on('end', () => s.end())).listen(3000, '127.0.0.1')"`,
    `  2. subscribe:  echo '{id: first, topics: [orders], sink: "http://127.0.0.1:3000/"}' | npx -y pnpm@10 barnabas apply -f -`,
    `  3. send:       npx -y pnpm@10 barnabas send orders --type order.created --data '{"number": 1}'`,
    'Then: npx -y pnpm@10 barnabas describe first. Ctrl-C here ends everything; what is parked goes on with the next start.',
  ]
}

/** The variables that another terminal needs, since they are not at their defaults here. */
export function settingsToRepeat(config: Pick<Config, 'prefix' | 'dataDir'>, isOwnBroker: boolean): string {
  const settings = [
    ...(isOwnBroker ? [] : ['the same KAFKA_BROKERS', 'BARNABAS_ALLOWED_NETWORKS=127.0.0.0/8']),
    ...(isOwnBroker && config.dataDir !== '.barnabas' ? [`BARNABAS_DATA_DIR=${config.dataDir}`] : []),
    ...(config.prefix === 'barnabas' ? [] : [`BARNABAS_PREFIX=${config.prefix}`]),
  ]
  return settings.join(' and ')
}
