import { canonicalJson } from '../encoding/json.ts'
import { failed, ok, type Result } from '../model/errors.ts'
import type { BlobKey, BlobMediaType } from '../model/ids.ts'
import { LIMITS } from '../model/limits.ts'

/** Stores bytes durably and returns their key. The part of the blob store's `put` that the Log needs. */
export type KeepBlob = (bytes: Buffer, mediaType: BlobMediaType) => Promise<Result<BlobKey>>

/**
 * Moves each top-level field of an Event's data that exceeds the limit into a blob, and replaces it by the key as
 * `<field>_blob`: text as UTF-8, other values as canonical JSON. The blobs are durable when this returns.
 */
export async function spill(
  data: Readonly<Record<string, unknown>>,
  keep: KeepBlob,
): Promise<Result<Record<string, unknown>>> {
  const kept: [string, unknown][] = []
  for (const [field, value] of Object.entries(data)) {
    const bytes = oversizedBytes(value)
    if (bytes === undefined) {
      kept.push([field, value])
      continue
    }
    const name = `${field}_blob`
    if (Object.hasOwn(data, name))
      return failed('invalid_args', `The Event has both ${field} and ${name}.`)
    const key = await keep(bytes, typeof value === 'string' ? 'text/plain' : 'application/json')
    if (!key.ok) return key
    kept.push([name, key.value])
  }
  return ok(Object.fromEntries(kept))
}

/** The bytes of a value that is too large for a line. */
function oversizedBytes(value: unknown): Buffer | undefined {
  if (typeof value === 'string') {
    // A UTF-16 unit is at most three UTF-8 bytes, so short text fits without encoding it.
    if (value.length * 3 <= LIMITS.event_field_bytes) return undefined
    const bytes = Buffer.from(value.toWellFormed())
    return bytes.length > LIMITS.event_field_bytes ? bytes : undefined
  }
  if (typeof value !== 'object' || value === null) return undefined
  const bytes = Buffer.from(canonicalJson(value))
  return bytes.length > LIMITS.event_field_bytes ? bytes : undefined
}
