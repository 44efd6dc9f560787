import { isUtf8 } from 'node:buffer'
import { Redactor } from '../../encoding/redaction.ts'
import type { EventData } from '../../model/events/event.ts'
import type { BlobKey } from '../../model/ids.ts'
import type { SessionParts } from '../live/session-parts.ts'

/** The content of a file before and after a call; `before` is absent for a new file. */
export interface ChangedTexts {
  readonly before?: string
  readonly after: string
}

/** Larger files are shown by their diff. */
const MOST_BYTES = 1024 * 1024

/** What a call of write or edit did to its file, redacted; `undefined` if it is not text, too large or missing. */
export async function changedTexts(
  { store, secrets }: Pick<SessionParts['log'], 'store' | 'secrets'>,
  { before_blob, after_blob }: Pick<EventData<'tool_result'>, 'before_blob' | 'after_blob'>,
): Promise<ChangedTexts | undefined> {
  if (after_blob === undefined) return undefined
  const redactor = new Redactor(secrets)
  const textOf = async (key: BlobKey) => {
    const blob = await store.get(key)
    const isText = blob.ok && blob.value.length <= MOST_BYTES && isUtf8(blob.value)
    return isText ? redactor.text(blob.value.toString('utf8')) : undefined
  }
  const after = await textOf(after_blob)
  if (after === undefined) return undefined
  if (before_blob === undefined) return { after }
  const before = await textOf(before_blob)
  return before === undefined ? undefined : { before, after }
}
