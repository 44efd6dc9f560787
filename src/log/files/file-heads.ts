import { parseJson } from '../../encoding/json.ts'
import {
  closing,
  fileFailure,
  ifThere,
  isMissing,
  readSpan,
  removeTemporaries,
  replaceFile,
  type Folder,
} from '../../host/files/files.ts'
import { failed, ok, type Result } from '../../model/errors.ts'
import type { SessionId } from '../../model/ids.ts'
import { HeadRecord } from '../head-record.ts'
import type { HeadStore } from '../head-store.ts'
import type { HeadFiles } from './head-files.ts'
import { sessionsNamed } from './names.ts'
import { noteWritten, writtenOrder } from './written-order.ts'

/** Each head in a file that has the id of its Session as its name. */
export function fileHeads(files: HeadFiles): HeadStore {
  const { heads, ids } = files
  return {
    label: heads.label,
    read: (session) => readHead(heads, session),
    write: (session, head) => {
      const bytes = Buffer.from(`${JSON.stringify(head)}\n`)
      return replaceFile(heads, session, bytes, ids.temporary())
    },
    remove: (session) => ifThere(heads.remove(session)),
    settle: () => heads.sync(),
    list: async () => sessionsNamed(await heads.names(), ''),
    noteWritten: (session) => noteWritten(files, session),
    writtenOrder: () => writtenOrder(files),
    tidy: async (olderThan) => void (await removeTemporaries(heads, olderThan)),
  }
}

const HEAD_BYTES = 4096

async function readHead(
  heads: Folder,
  session: SessionId,
): Promise<Result<HeadRecord | undefined>> {
  try {
    const file = await heads.open(session, 'read')
    const text = await closing(file, async () => {
      const { size } = await file.stat()
      return readSpan(file, 0, Math.min(size, HEAD_BYTES))
    })
    const record = HeadRecord.safeParse(parseJson(text.toString('utf8')))
    if (record.success) return ok(record.data)
    return failed(
      'log_damaged',
      'The head of this Session is unreadable, so its Log cannot be verified.',
      { session_id: session, reason: 'head_unreadable' },
    )
  } catch (error) {
    if (isMissing(error)) return ok(undefined)
    return { ok: false, error: fileFailure(error, 'read the head of this Session') }
  }
}
