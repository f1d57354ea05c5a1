import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'

/**
 * Tries the import matrix (.dependency-cruiser.mjs) on a small workspace made for it: each row is one file with one
 * import, and the rule that must forbid it (null: allowed). All rows are checked in one run of the real command. A cycle
 * is reported once, at one of its files.
 */
const arrows: readonly (readonly [from: string, imports: string, rule: string | null])[] = [
  ['packages/core/src/a.ts', 'zod', null],
  ['packages/core/src/b.ts', './index.ts', null],
  ['packages/core/src/c.ts', 'node:fs', 'core-is-pure'],
  ['packages/core/src/d.ts', 'path', 'core-is-pure'],
  ['packages/core/src/e.ts', 'yaml', 'core-is-pure'],
  ['packages/core/src/f.ts', '@barnabas/kafka', 'imports-of-packages-core'],
  ['packages/core/src/g.test.ts', 'vitest', null],
  ['packages/core/src/h.test.ts', 'fast-check', null],
  ['packages/core/src/i.test.ts', 'cloudevents', null],
  ['packages/core/src/j.test.ts', 'node:fs', null],
  ['packages/core/src/k.ts', './j.test.ts', 'sources-do-not-import-tests'],
  ['packages/core/src/l.test.ts', '@barnabas/runtime', 'imports-of-packages-core'],

  ['packages/kafka/src/a.ts', '@barnabas/core', null],
  ['packages/kafka/src/b.ts', 'kafkajs', null],
  ['packages/kafka/src/c.ts', '@barnabas/webhook', 'imports-of-packages-kafka'],
  ['packages/kafka/src/d.ts', '../../core/src/a.ts', 'imports-of-packages-kafka'],
  ['packages/kafka/src/e.ts', 'undici', 'only-packages-webhook-imports-undici'],
  ['packages/kafka/src/f.ts', 'vitest', 'test-libraries-in-tests-only'],

  ['packages/webhook/src/a.ts', '@barnabas/core', null],
  ['packages/webhook/src/b.ts', 'undici', null],
  ['packages/webhook/src/c.ts', 'kafkajs', 'only-packages-kafka-imports-kafkajs'],
  ['packages/webhook/src/d.ts', '@barnabas/runtime', 'imports-of-packages-webhook'],
  ['packages/webhook/src/test-receiver.ts', 'vitest', null],
  ['packages/webhook/src/e.ts', './test-receiver.ts', 'sources-do-not-import-tests'],

  ['packages/runtime/src/a.ts', 'pino', null],
  ['packages/runtime/src/b.ts', 'prom-client', null],
  ['packages/runtime/src/c.ts', '@barnabas/core', 'imports-of-packages-runtime'],

  ['packages/local-kafka/src/a.ts', 'testcontainers', null],
  ['packages/local-kafka/src/b.ts', '@barnabas/core', 'imports-of-packages-local-kafka'],

  ['packages/delivery/src/a.ts', '@barnabas/core', null],
  ['packages/delivery/src/b.ts', '@barnabas/kafka', null],
  ['packages/delivery/src/c.ts', '@barnabas/webhook', 'imports-of-packages-delivery'],
  ['packages/delivery/src/d.ts', 'pino', 'only-packages-runtime-imports-pino'],

  ['packages/registry/src/a.ts', '@barnabas/core', null],
  ['packages/registry/src/b.ts', '@barnabas/kafka', null],
  ['packages/registry/src/c.ts', '@barnabas/runtime', 'imports-of-packages-registry'],

  ['packages/host/src/a.ts', '@barnabas/runtime', null],
  ['packages/host/src/b.ts', '@barnabas/local-kafka', 'imports-of-packages-host'],

  ['services/dispatcher/open.ts', '@barnabas/delivery', null],
  ['services/dispatcher/b.ts', '@barnabas/webhook', null],
  ['services/dispatcher/c.ts', '@barnabas/retrier', 'imports-of-services-dispatcher'],
  ['services/dispatcher/d.ts', '../../packages/core/src/a.ts', 'imports-of-services-dispatcher'],
  ['services/dispatcher/e.ts', 'prom-client', 'only-packages-runtime-imports-prom-client'],
  ['services/dispatcher/f.ts', '../../test/support/kafka.ts', 'imports-of-services-dispatcher'],
  ['services/retrier/open.ts', '@barnabas/core', null],
  ['services/retrier/b.ts', '@barnabas/dispatcher', 'imports-of-services-retrier'],
  ['services/dead-letter/a.ts', '@barnabas/dispatcher', 'imports-of-services-dead-letter'],
  ['services/cli/a.ts', '@barnabas/registry', null],
  ['services/cli/b.ts', '@barnabas/dispatcher', 'imports-of-services-cli'],
  ['services/cli/c.ts', 'commander', null],
  ['services/standalone/a.ts', '@barnabas/dispatcher', null],
  ['services/standalone/b.ts', '../retrier/b.ts', 'imports-of-services-standalone'],
  ['services/standalone/c.ts', 'commander', 'only-services-cli-imports-commander'],

  ['test/support/kafka.ts', 'kafkajs', null],
  ['test/a.test.ts', '@barnabas/kafka', null],
  ['test/b.test.ts', '../packages/core/src/a.ts', 'imports-of-test'],
  ['test/c.test.ts', './support/kafka.ts', null],
  ['packages/registry/src/d.ts', 'no-such-library', 'no-unresolved-imports'],
  ['packages/registry/src/e.ts', './f.ts', 'no-cycles'],
  ['packages/registry/src/f.ts', './e.ts', null],
  ['packages/unheard-of/src/a.ts', '@barnabas/core', 'unknown-to-the-matrix'],
]

const packages = ['core', 'kafka', 'webhook', 'runtime', 'local-kafka', 'delivery', 'registry']
const services = ['dispatcher', 'retrier']
const libraries = 'zod yaml kafkajs undici pino prom-client testcontainers commander vitest fast-check cloudevents'

interface Violation {
  readonly from: string
  readonly rule: { readonly name: string }
}

let workspace: string
let violations: readonly Violation[]

beforeAll(async () => {
  workspace = await mkdtemp(join(tmpdir(), 'import-matrix-'))
  for (const name of packages) await addPackage(`packages/${name}`, `@barnabas/${name}`, 'src/index.ts')
  for (const name of services) await addPackage(`services/${name}`, `@barnabas/${name}`, 'open.ts')
  for (const name of libraries.split(' ')) await addPackage(`node_modules/${name}`, name, 'index.js')
  for (const [from, imports] of arrows) await write(from, `import '${imports}'\n`)
  violations = await cruise()
})

afterAll(async () => {
  await rm(workspace, { recursive: true })
})

test.each(arrows)('%s importing %s breaks %s', (from, _imports, rule) => {
  const broken = violations.filter((violation) => violation.from === from).map((violation) => violation.rule.name)
  if (rule === null) expect(broken).toEqual([])
  else expect(broken).toContain(rule)
})

async function cruise(): Promise<readonly Violation[]> {
  const root = join(import.meta.dirname, '..')
  const command = join(root, 'node_modules/dependency-cruiser/bin/dependency-cruiser.mjs')
  const options = ['--config', join(root, '.dependency-cruiser.mjs'), '--output-type', 'json']
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [command, ...options, 'packages', 'services', 'test'],
    { cwd: workspace, maxBuffer: 1 << 24 },
  )
  return (JSON.parse(stdout) as { summary: { violations: readonly Violation[] } }).summary.violations
}

async function addPackage(path: string, name: string, entry: string): Promise<void> {
  await write(`${path}/package.json`, JSON.stringify({ name, type: 'module', exports: { '.': `./${entry}` } }))
  await write(`${path}/${entry}`, 'export {}\n')
  if (path.startsWith('node_modules')) return
  await mkdir(join(workspace, 'node_modules/@barnabas'), { recursive: true })
  await symlink(join(workspace, path), join(workspace, 'node_modules', name))
}

async function write(path: string, content: string): Promise<void> {
  await mkdir(dirname(join(workspace, path)), { recursive: true })
  await writeFile(join(workspace, path), content)
}
