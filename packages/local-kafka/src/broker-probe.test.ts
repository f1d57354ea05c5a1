import { once } from 'node:events'
import { createServer } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { parseMetadataResponse, probeBroker } from './broker-probe.ts'

// The answer of a Kafka 4.4.0 broker to Metadata version 4.
const answer = Buffer.concat([
  Buffer.from('6261726e00000000', 'hex'), // correlation id, throttle time
  Buffer.from('00000001', 'hex'), // one broker
  Buffer.from('00000001', 'hex'),
  text('127.0.0.1'),
  Buffer.from('00002384', 'hex'),
  Buffer.from('ffff', 'hex'), // no rack
  text('PqWRMduQRyaDQ8RiuH58Zw'),
  Buffer.from('00000001', 'hex'), // controller
  Buffer.from('00000000', 'hex'), // no topics
])

test('the cluster that a broker names is read', () => {
  expect(parseMetadataResponse(answer)).toEqual({ clusterId: 'PqWRMduQRyaDQ8RiuH58Zw', brokerCount: 1 })
})

test('half an answer and the answer to another question are none', () => {
  expect(parseMetadataResponse(answer.subarray(0, 30))).toBeNull()
  expect(parseMetadataResponse(Buffer.concat([Buffer.alloc(4), answer.subarray(4)]))).toBeNull()
})

test.each([
  ['a web server', 'HTTP/1.1 400 Bad Request\r\n\r\n'],
  ['one that hangs up', ''],
])('%s is no broker', async (_, says) => {
  const server = createServer((socket) => socket.on('error', () => undefined).end(says))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const address = server.address()
  expect(await probeBroker(typeof address === 'object' ? (address?.port ?? 0) : 0, 5_000)).toBeNull()
})

function text(value: string): Buffer {
  const length = Buffer.alloc(2)
  length.writeInt16BE(value.length)
  return Buffer.concat([length, Buffer.from(value)])
}
