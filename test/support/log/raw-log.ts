import { closing, readSpan, writeAll, type Folder } from '../../../src/host/files/files.ts'
import { logName } from '../../../src/log/files/names.ts'
import type { SessionId } from '../../../src/model/ids.ts'

/** The bytes of a file, without interpretation. */
export async function rawBytes(folder: Folder, name: string): Promise<Buffer> {
  const file = await folder.open(name, 'read')
  const { size } = await file.stat()
  return closing(file, () => readSpan(file, 0, size))
}

/** Replaces the content of a file, bypassing the writer. */
export async function overwrite(folder: Folder, name: string, bytes: Uint8Array): Promise<void> {
  const file = await folder.open(name, 'lease')
  await file.truncate(0)
  await writeAll(file, bytes)
  await file.close()
}

export async function rawLog(sessions: Folder, session: SessionId): Promise<Buffer> {
  return rawBytes(sessions, logName(session))
}

/** Complete lines with their newlines; an unfinished last line is omitted. */
export function linesOf(bytes: Buffer): Buffer[] {
  const lines: Buffer[] = []
  let from = 0
  for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, from)) {
    lines.push(bytes.subarray(from, at + 1))
    from = at + 1
  }
  return lines
}
