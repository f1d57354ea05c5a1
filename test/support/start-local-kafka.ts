import { fastStartJvmFlags, startLocalKafka } from '@barnabas/local-kafka'

// A parent to be killed: starts a broker in the directory of the first argument, as the run named by the second.
// With a third argument the broker ends with its parent.
const [dataDir = '', runId = '', endsWithParent] = process.argv.slice(2)
const { brokers, pid, adopted, formerRunId } = await startLocalKafka({
  dataDir,
  runId,
  endsWithParent: endsWithParent !== undefined,
  port: 0,
  heapMb: 256,
  jvmFlags: fastStartJvmFlags,
})
console.log(JSON.stringify({ brokers, pid, adopted, formerRunId }))
