import { promisify } from 'node:util'
import * as zlib from 'node:zlib'
import kafkajs from 'kafkajs'
import { compressFrame, decompressFrame } from 'lz4-napi'
import snappy from 'snappyjs'

/** Codecs by the names that Kafka's `compression.type` uses. */
export const CODEC_NAMES = ['gzip', 'snappy', 'lz4', 'zstd'] as const
export type CodecName = (typeof CODEC_NAMES)[number]

interface Codec {
  compress(encoder: { readonly buffer: Buffer }): Promise<Buffer>
  decompress(buffer: Buffer): Promise<Buffer>
}

/** The batch of a partition is written with a codec that this process does not know. */
export class UnknownCodecError extends Error {
  override readonly name = 'KafkaJSNotImplemented'
  /** The client does not try again, and does not restart the consumer. */
  readonly retriable = false
  readonly codec: CodecName

  constructor(codec: CodecName) {
    super(`records compressed with ${codec} cannot be read here`)
    this.codec = codec
  }
}

const gzip = promisify(zlib.gzip)
const gunzip = promisify(zlib.gunzip)
const zstdCompress = promisify(zlib.zstdCompress)
const zstdDecompress = promisify(zlib.zstdDecompress)

const CODECS: Record<CodecName, Codec> = {
  gzip: { compress: ({ buffer }) => gzip(buffer), decompress: (buffer) => gunzip(buffer) },
  snappy: {
    compress: ({ buffer }) => Promise.resolve(compressXerial(buffer)),
    decompress: (buffer) => Promise.resolve(decompressXerial(buffer)),
  },
  lz4: { compress: ({ buffer }) => compressFrame(buffer), decompress: (buffer) => decompressFrame(buffer) },
  zstd: { compress: ({ buffer }) => zstdCompress(buffer), decompress: (buffer) => zstdDecompress(buffer) },
}

/**
 * Makes the client read (and able to write) exactly these codecs. The client's registry is one per process: the
 * last call decides.
 */
export function registerCodecs(names: readonly CodecName[]): void {
  for (const name of CODEC_NAMES) {
    const codec = names.includes(name) ? CODECS[name] : unknownCodec(name)
    CODEC_REGISTRY[CODEC_TYPES[name]] = () => codec
  }
}

/** The client types its keys as an enum that erasable TypeScript cannot index by name. */
const CODEC_REGISTRY = kafkajs.CompressionCodecs as Record<number, () => Codec>

/** The codec's bits in the attributes of a record batch. */
const CODEC_TYPES: Record<CodecName, number> = { gzip: 1, snappy: 2, lz4: 3, zstd: 4 }

function unknownCodec(name: CodecName): Codec {
  const refuse = (): Promise<Buffer> => Promise.reject(new UnknownCodecError(name))
  return { compress: refuse, decompress: refuse }
}

/**
 * The framing that Java's snappy stream writes, and so every Java producer: a magic of 8 bytes, two versions of
 * 4 bytes, then blocks of a length (4 bytes, big endian) and raw snappy. librdkafka writes raw snappy; both are read.
 */
const XERIAL_MAGIC = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0])
const XERIAL_HEADER_BYTES = 16
const XERIAL_BLOCK_BYTES = 32 * 1024

function decompressXerial(buffer: Buffer): Buffer {
  if (!buffer.subarray(0, XERIAL_MAGIC.length).equals(XERIAL_MAGIC)) return snappy.uncompress(buffer)
  const blocks: Buffer[] = []
  for (let at = XERIAL_HEADER_BYTES; at < buffer.length;) {
    const length = buffer.readUInt32BE(at)
    at += 4
    blocks.push(snappy.uncompress(buffer.subarray(at, at + length)))
    at += length
  }
  return Buffer.concat(blocks)
}

function compressXerial(buffer: Buffer): Buffer {
  const header = Buffer.alloc(XERIAL_HEADER_BYTES)
  XERIAL_MAGIC.copy(header)
  header.writeUInt32BE(1, 8)
  header.writeUInt32BE(1, 12)
  const parts: Buffer[] = [header]
  for (let at = 0; at < buffer.length; at += XERIAL_BLOCK_BYTES) {
    const block = snappy.compress(buffer.subarray(at, at + XERIAL_BLOCK_BYTES))
    const length = Buffer.alloc(4)
    length.writeUInt32BE(block.length)
    parts.push(length, block)
  }
  return Buffer.concat(parts)
}
