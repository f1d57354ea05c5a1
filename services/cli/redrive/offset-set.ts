/** Offsets by topic and partition, in little memory: 1,024 neighbours are 128 bytes, as sparse as they may be. */
export interface OffsetSet {
  add(topic: string, partition: number, offset: number): void
  has(topic: string, partition: number, offset: number): boolean
}

const offsetsPerBlock = 1_024
const bitsPerWord = 32

export function createOffsetSet(): OffsetSet {
  const partitions = new Map<string, Map<number, Uint32Array>>()

  return {
    add(topic, partition, offset) {
      const key = `${topic}/${partition}`
      const blocks = partitions.get(key) ?? new Map<number, Uint32Array>()
      partitions.set(key, blocks)
      const { block, word, bit } = placeOf(offset)
      const words = blocks.get(block) ?? new Uint32Array(offsetsPerBlock / bitsPerWord)
      blocks.set(block, words)
      words[word] = (words[word] ?? 0) | bit
    },
    has(topic, partition, offset) {
      const { block, word, bit } = placeOf(offset)
      const words = partitions.get(`${topic}/${partition}`)?.get(block)
      return words !== undefined && ((words[word] ?? 0) & bit) !== 0
    },
  }
}

function placeOf(offset: number) {
  const inBlock = offset % offsetsPerBlock
  return {
    block: Math.floor(offset / offsetsPerBlock),
    word: Math.floor(inBlock / bitsPerWord),
    bit: 1 << (inBlock % bitsPerWord),
  }
}
