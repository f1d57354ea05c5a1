import { expect, test } from 'vitest'
import { checkFormat } from './data-dir.ts'

const meta = '#\ncluster.id=PqWRMduQRyaDQ8RiuH58Zw\ndirectory.id=x\nnode.id=1\nversion=1\n'

test.each([
  ['this version', '{"kafkaVersion":"4.4.0"}'],
  ['an older one', '{"kafkaVersion":"4.3.9"}'],
  ['one that left no note', null],
  ['one whose note is damaged', '{'],
])('a directory written by %s is opened', (_, written) => {
  expect(checkFormat(meta, written)).toEqual({ kind: 'fits', clusterId: 'PqWRMduQRyaDQ8RiuH58Zw' })
})

test.each([
  ['a newer Kafka', meta, '{"kafkaVersion":"4.10.0"}', 'it was written by Kafka 4.10.0, this is 4.4.0'],
  ['ZooKeeper times', meta.replace('version=1', 'version=0'), null, 'meta.properties says version=0, not 1'],
  ['another node', meta.replace('node.id=1', 'node.id=2'), null, 'meta.properties says node.id=2, not 1'],
  ['something else', null, null, 'it has no meta.properties'],
])('a directory of %s is refused', (_, text, written, reason) => {
  expect(checkFormat(text, written)).toEqual({ kind: 'refused', reason })
})
