import { Redactor } from '../encoding/redaction.ts'
import type { BlobKey } from '../model/ids.ts'
import { holdsKey } from '../resources/holds-key.ts'
import { variantMaker } from '../resources/variant-maker.ts'
import type { TurnParts } from '../turn/turn-parts.ts'
import type { SessionParts } from './session-parts.ts'

/** Looks for keys in stored bytes, once for each blob: extracting the text of a PDF takes time, and neither changes. */
export function keyCheck({ secrets, variants }: SessionParts): TurnParts['holdsKey'] {
  const looking = { redactor: new Redactor(secrets), variants: variants ?? variantMaker }
  const known = new Map<BlobKey, Promise<boolean>>()
  return (content, bytes) => {
    const found = known.get(content.blob) ?? holdsKey(content, bytes, looking)
    known.set(content.blob, found)
    return found
  }
}
