import { ifPossible, writeAll, type File, type Folder } from '../../../host/files/files.ts'
import type { Ids } from '../../../host/ids.ts'
import { FrameFile, type FilePosition } from './frame-file.ts'
import { encodeFrameLine } from './frame-line.ts'
import type { CarriedMessages } from '../frame-store.ts'

/** A file of the log that is open for writing. */
export interface OpenFile {
  readonly handle: File
  readonly file: FrameFile
  /** The end of its last line. */
  readonly position: FilePosition
  /** Bytes of the lines that it was started with. */
  readonly begin: number
}

export interface StartParts {
  readonly folder: Folder
  readonly ids: Pick<Ids, 'temporary'>
  readonly messages: CarriedMessages
}

/** A file that is complete under a temporary name. */
export interface UnnamedFile {
  /** Gives it its name. After it throws, the file may or may not be part of the log. */
  name(): Promise<OpenFile>
}

/**
 * Writes a new file with everything that later work needs of the files before it. If it throws, nothing has changed; nothing
 * of the file counts before it has its name.
 */
export async function writeStart(
  { folder, ids, messages }: StartParts,
  { firstSeq, reservedTo, at }: { firstSeq: number; reservedTo: number; at: number },
  before: readonly FrameFile[],
): Promise<UnnamedFile> {
  const temporary = ids.temporary()
  const handle = await folder.open(temporary, 'create')
  const { bytes, n } = startLines(messages, firstSeq, reservedTo, at, before)
  try {
    await writeAll(handle, bytes)
    await handle.sync()
  } catch (error) {
    await ifPossible(handle.close())
    await ifPossible(folder.remove(temporary))
    throw error
  }
  return {
    name: async () => {
      const file = new FrameFile(firstSeq, at, bytes.length)
      await folder.rename(temporary, file.name)
      await folder.sync()
      const position = { offset: bytes.length, n, seq: firstSeq - 1 }
      return { handle, file, position, begin: bytes.length }
    },
  }
}

function startLines(
  messages: CarriedMessages,
  firstSeq: number,
  reserved: number,
  at: number,
  before: readonly FrameFile[],
): { readonly bytes: Buffer; readonly n: number } {
  const { waiting, ended } = messages
  const start = {
    first_seq: firstSeq,
    reserved,
    at,
    files: before.map((file) => ({ first_seq: file.firstSeq, size: file.size, at: file.at })),
    carried: waiting.length,
    known: ended.map(([key, seq]): [string, number] => [key, seq]),
  }
  const lines = [
    encodeFrameLine({ n: 0, batch: 0, content: { kind: 'start', start } }),
    ...waiting.map((entry, i) =>
      encodeFrameLine({ n: i + 1, batch: 0, content: { kind: 'carried', entry } }),
    ),
  ]
  return { bytes: Buffer.concat(lines), n: lines.length }
}
