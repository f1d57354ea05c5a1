import { expect, test } from 'vitest'
import { brokerProperties, formatProperties, parseProperties } from './broker-config.ts'

test('properties survive being written and read', () => {
  const properties = {
    plain: 'value',
    'with=equals:and space': 'a=b:c d',
    '#not-a-comment': '# nor this',
    path: 'C:\\temp',
    leading: '  spaces',
    lines: 'one\ntwo\r\n',
    beyond: 'Zürich ☂',
    empty: '',
  }
  const text = formatProperties(properties)
  expect(text).toMatch(/^[\x20-\x7e\n]*$/)
  expect(parseProperties(text)).toEqual(properties)
})

test("Kafka's own meta.properties is read", () => {
  const text = '#\n#Mon Nov 30 20:44:15 UTC 2026\ncluster.id=PqWRMduQRyaDQ8RiuH58Zw\nnode.id=1\nversion=1\n'
  expect(parseProperties(text)).toEqual({ 'cluster.id': 'PqWRMduQRyaDQ8RiuH58Zw', 'node.id': '1', version: '1' })
})

test('the broker listens on 127.0.0.1 only and makes no topics by itself', () => {
  const properties = brokerProperties({ broker: 9092, controller: 40_001 }, { 'log.retention.ms': '1000' })
  expect(properties).toMatchObject({
    listeners: 'PLAINTEXT://127.0.0.1:9092,CONTROLLER://127.0.0.1:40001',
    'advertised.listeners': 'PLAINTEXT://127.0.0.1:9092',
    'controller.quorum.voters': '1@127.0.0.1:40001',
    'auto.create.topics.enable': 'false',
    'log.retention.ms': '1000',
  })
})
