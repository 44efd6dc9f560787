import { closing, FileFailure, readSpan, replaceFile, type Folder } from '../../host/files/files.ts'
import type { SessionId } from '../../model/ids.ts'
import type { LogPiece } from '../log-store.ts'
import { tornName } from './names.ts'

/** A piece that was cut off before a line, the `nth` at that line. */
interface TornPiece extends LogPiece {
  readonly nth: number
}

/** Makes a piece durable beside the Log. The name of the file has the number of the line that was cut. */
export async function keepPiece(
  sessions: Folder,
  session: SessionId,
  { seq, bytes }: { readonly seq: number; readonly bytes: Buffer },
  temporary: string,
): Promise<void> {
  const kept = await piecesAt(sessions, session, seq)
  const again = await findSame(sessions, kept, bytes)
  if (again === undefined) {
    const last = kept.at(-1)?.nth ?? 0
    const name = tornName(session, last === 0 ? `${seq}` : `${seq}-${last + 1}`)
    await replaceFile(sessions, name, bytes, temporary)
  } else {
    // The process that stored it may have been killed before it was durable.
    await closing(await sessions.open(again, 'read'), (piece) => piece.sync())
    await sessions.sync()
  }
}

/** The pieces cut off before the line `seq`, the oldest first. */
export async function piecesAt(
  sessions: Folder,
  session: SessionId,
  seq: number,
): Promise<readonly TornPiece[]> {
  const first = tornName(session, `${seq}`)
  const pieces: TornPiece[] = []
  for (const name of await sessions.names()) {
    const nth = name === first ? 1 : Number(/^-([1-9]\d{0,8})$/.exec(after(name, first))?.[1])
    if (!Number.isInteger(nth)) continue
    const size = await sizeOf(sessions, name)
    if (size !== undefined) pieces.push({ name, nth, size })
  }
  return pieces.toSorted((a, b) => a.nth - b.nth)
}

/** `undefined` for files that are not ours: they must not prevent opening a Session. */
async function sizeOf(sessions: Folder, name: string): Promise<number | undefined> {
  try {
    return await closing(await sessions.open(name, 'read'), async (piece) => {
      return (await piece.stat()).size
    })
  } catch (error) {
    if (error instanceof FileFailure) return undefined
    throw error
  }
}

function after(name: string, first: string): string {
  return name.startsWith(first) ? name.slice(first.length) : ''
}

async function findSame(
  sessions: Folder,
  pieces: readonly TornPiece[],
  bytes: Buffer,
): Promise<string | undefined> {
  for (const { name, size } of pieces) {
    if (size !== bytes.length) continue
    const piece = await sessions.open(name, 'read')
    if ((await closing(piece, () => readSpan(piece, 0, size))).equals(bytes)) return name
  }
  return undefined
}
