import { parseJson } from '../encoding/json.ts'
import {
  closing,
  fileFailure,
  isMissing,
  readSpan,
  replaceFile,
  type File,
} from '../host/files/files.ts'
import { failed, ok, type Result } from '../model/errors.ts'
import type { SessionId } from '../model/ids.ts'
import { HeadRecord } from './head-record.ts'
import type { Cursor, Fault } from './line.ts'
import type { LogPlace } from './place.ts'
import { scan } from './scan.ts'

const HEAD_BYTES = 4096

/** `undefined` if there is no head here: the Session is foreign. */
export async function readHead(
  place: Pick<LogPlace, 'heads'>,
  session: SessionId,
): Promise<Result<HeadRecord | undefined>> {
  try {
    const file = await place.heads.open(session, 'read')
    const text = await closing(file, async () => {
      const { size } = await file.stat()
      return readSpan(file, 0, Math.min(size, HEAD_BYTES))
    })
    const record = HeadRecord.safeParse(parseJson(text.toString('utf8')))
    if (record.success) return ok(record.data)
    return failed(
      'log_damaged',
      'The head of this Session is unreadable, so its Log cannot be verified.',
      {
        session_id: session,
        reason: 'head_unreadable',
      },
    )
  } catch (error) {
    if (isMissing(error)) return ok(undefined)
    return { ok: false, error: fileFailure(error, 'read the head of this Session') }
  }
}

export async function writeHead(
  place: Pick<LogPlace, 'heads' | 'ids'>,
  session: SessionId,
  head: HeadRecord,
): Promise<void> {
  const bytes = Buffer.from(`${JSON.stringify(head)}\n`)
  await replaceFile(place.heads, session, bytes, place.ids.temporary())
}

/** Compares a Log, read up to `end`, with its head. */
export async function headFault(
  file: File,
  session: SessionId,
  end: Cursor,
  head: HeadRecord,
): Promise<Fault | undefined> {
  if (head.seq === -1) return undefined
  if (end.seq - 1 < head.seq) return 'head_missing'
  if (end.seq - 1 === head.seq) return end.prev === head.hash ? undefined : 'head_differs'
  // The head is behind: then the line after it is at its offset and names its hash.
  const from = { offset: head.offset, seq: head.seq + 1, prev: head.hash }
  const { cursor } = await scan(file, { session, strict: false, from }, () => false)
  return cursor.seq > from.seq ? undefined : 'head_differs'
}
