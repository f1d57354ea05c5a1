import { randomBytes } from 'node:crypto'
import kafkajs from 'kafkajs'
import { afterEach, describe, expect, test } from 'vitest'
import { CODEC_NAMES, UnknownCodecError, registerCodecs } from './codecs.ts'

interface Codec {
  compress(encoder: { readonly buffer: Buffer }): Promise<Buffer>
  decompress(buffer: Buffer): Promise<Buffer>
}

const TYPES = { gzip: 1, snappy: 2, lz4: 3, zstd: 4 }

function registered(name: keyof typeof TYPES): Codec {
  const codec = (kafkajs.CompressionCodecs as Record<number, (() => Codec) | undefined>)[TYPES[name]]
  if (codec === undefined) throw new Error(`no codec ${name}`)
  return codec()
}

afterEach(() => registerCodecs(CODEC_NAMES))

describe('registerCodecs', () => {
  test.each(CODEC_NAMES)('%s gives back what it was given', async (name) => {
    registerCodecs(CODEC_NAMES)
    for (const buffer of [
      Buffer.alloc(0),
      Buffer.from('some text'),
      Buffer.alloc(200_000, 'abc'),
      randomBytes(100_000),
    ]) {
      const compressed = await registered(name).compress({ buffer })
      expect((await registered(name).decompress(compressed)).equals(buffer)).toBe(true)
    }
  })

  test('snappy is framed as Java frames it', async () => {
    registerCodecs(CODEC_NAMES)
    const compressed = await registered('snappy').compress({ buffer: Buffer.from('x') })
    expect(compressed.subarray(0, 16).toString('hex')).toBe('82534e41505059000000000100000001')
  })

  test('raw snappy, as librdkafka writes it, is read too', async () => {
    registerCodecs(CODEC_NAMES)
    const raw = Buffer.from('040c74657874', 'hex') // length 4, then a literal of 4 bytes
    expect((await registered('snappy').decompress(raw)).toString()).toBe('text')
  })

  test('a codec that was left out is refused by name', async () => {
    registerCodecs(['gzip'])
    await expect(registered('zstd').decompress(Buffer.alloc(8))).rejects.toEqual(new UnknownCodecError('zstd'))
    await expect(registered('zstd').decompress(Buffer.alloc(8))).rejects.toThrow('zstd')
  })
})
