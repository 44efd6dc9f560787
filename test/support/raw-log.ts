import { closing, readSpan, writeAll, type Folder } from '../../src/host/files/files.ts'
import { logName } from '../../src/log/place.ts'
import type { SessionId } from '../../src/model/ids.ts'

/** The bytes of a file, whatever they are. */
export async function rawBytes(folder: Folder, name: string): Promise<Buffer> {
  const file = await folder.open(name, 'read')
  const { size } = await file.stat()
  return closing(file, () => readSpan(file, 0, size))
}

/** Puts bytes in place of a file's, as no writer of ours would. */
export async function overwrite(folder: Folder, name: string, bytes: Uint8Array): Promise<void> {
  const file = await folder.open(name, 'lease')
  await file.truncate(0)
  await writeAll(file, bytes)
  await file.close()
}

export async function rawLog(sessions: Folder, session: SessionId): Promise<Buffer> {
  return rawBytes(sessions, logName(session))
}

/** Lines with their newlines; what has none at the end is left out. */
export function linesOf(bytes: Buffer): Buffer[] {
  const lines: Buffer[] = []
  let from = 0
  for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, from)) {
    lines.push(bytes.subarray(from, at + 1))
    from = at + 1
  }
  return lines
}
