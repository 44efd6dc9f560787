import { canonicalJson } from '../encoding/json.ts'
import { failed, ok, type Result } from '../model/errors.ts'
import type { BlobKey, BlobMediaType } from '../model/ids.ts'
import { LIMITS } from '../model/limits.ts'

/** Stores bytes durably and names them. The blob store's `put`, as far as the Log needs it. */
export type KeepBlob = (bytes: Buffer, mediaType: BlobMediaType) => Promise<Result<BlobKey>>

/**
 * Puts each direct field of an Event's data that is over the limit into a blob, and its key in the field's place as
 * `<field>_blob`: text as its UTF-8, any other value as canonical JSON. The blobs are durable when this returns.
 */
export async function spill(
  data: Readonly<Record<string, unknown>>,
  keep: KeepBlob,
): Promise<Result<Record<string, unknown>>> {
  const kept: [string, unknown][] = []
  for (const [field, value] of Object.entries(data)) {
    const bytes = oversized(value)
    if (bytes === undefined) {
      kept.push([field, value])
      continue
    }
    const name = `${field}_blob`
    if (Object.hasOwn(data, name))
      return failed('invalid_args', `Both ${field} and ${name} are there.`)
    const key = await keep(bytes, typeof value === 'string' ? 'text/plain' : 'application/json')
    if (!key.ok) return key
    kept.push([name, key.value])
  }
  return ok(Object.fromEntries(kept))
}

/** The bytes of a value that is too large to stand in a line. */
function oversized(value: unknown): Buffer | undefined {
  if (typeof value === 'string') {
    // A UTF-16 unit is at most three bytes of UTF-8, so short text is known to fit without being encoded.
    if (value.length * 3 <= LIMITS.event_field_bytes) return undefined
    const bytes = Buffer.from(value.toWellFormed())
    return bytes.length > LIMITS.event_field_bytes ? bytes : undefined
  }
  if (typeof value !== 'object' || value === null) return undefined
  const bytes = Buffer.from(canonicalJson(value))
  return bytes.length > LIMITS.event_field_bytes ? bytes : undefined
}
