import { Redactor } from '../../encoding/redaction.ts'
import type { BlobKey } from '../../model/ids.ts'
import { holdsKey } from '../../resources/holds-key.ts'
import type { TurnParts } from '../../turn/parts/turn-parts.ts'

/**
 * Searches stored bytes for keys, once per blob: extracting the text of a PDF is slow, and neither blobs nor keys
 * change.
 */
export function keyCheck(secrets: readonly string[]): TurnParts['model']['holdsKey'] {
  const redactor = new Redactor(secrets)
  const known = new Map<BlobKey, Promise<boolean>>()
  return (content, bytes) => {
    const found = known.get(content.blob) ?? holdsKey(content, bytes, redactor)
    known.set(content.blob, found)
    return found
  }
}
