import { randomUUID } from 'node:crypto'
import { link, mkdir, open, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { BlobSink, BlobWrite } from './blob-sink.ts'

/**
 * A folder in which each container is a folder, as it is in a storage account. The container must be there; the folders
 * below it are made.
 */
export function createFolderBlobSink(root: string, container: string): BlobSink {
  async function write(path: string, body: Buffer): Promise<BlobWrite> {
    const folder = join(root, container)
    // Without the root a disk is missing, which may come back.
    if (!(await isFolder(root))) return { kind: 'unavailable', message: `${root} is no folder` }
    if (!(await isFolder(folder))) return { kind: 'no-container' }
    const file = join(folder, path)
    await mkdir(dirname(file), { recursive: true })
    // Nobody sees half a file: it gets its name when it is whole and on the disk.
    const unfinished = join(dirname(file), `.${randomUUID()}.unfinished`)
    try {
      await writeDurably(unfinished, body)
      if (!(await isNamed(unfinished, file))) return { kind: 'there' }
    } finally {
      await rm(unfinished, { force: true })
    }
    await syncFolder(dirname(file))
    return { kind: 'written' }
  }

  return {
    async write(path, body) {
      try {
        return await write(path, body)
      } catch (error) {
        return { kind: 'unavailable', message: error instanceof Error ? error.message : String(error) }
      }
    },
  }
}

/** False when another file has the name. */
async function isNamed(unfinished: string, file: string): Promise<boolean> {
  try {
    await link(unfinished, file)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw error
  }
}

async function writeDurably(path: string, body: Buffer): Promise<void> {
  const file = await open(path, 'wx', 0o640)
  try {
    await file.writeFile(body)
    await file.sync()
  } finally {
    await file.close()
  }
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
