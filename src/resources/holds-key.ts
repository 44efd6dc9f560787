import { decodedPieces } from '../encoding/charset.ts'
import type { Redactor } from '../encoding/redaction.ts'

/** What bytes are, as far as looking for a key takes it. */
export interface KeyedContent {
  readonly media_type: string
  /** Of text that is not UTF-8. */
  readonly charset?: string | undefined
}

/**
 * Whether bytes hold a key: as they are, as text, or in the text of their pages, where white space is overlooked. A key that
 * is drawn, or that stands where no text can be extracted, is not found.
 */
export async function holdsKey(
  { media_type, charset }: KeyedContent,
  bytes: Buffer,
  redactor: Redactor,
): Promise<boolean> {
  if (redactor.keys.length === 0) return false
  if (redactor.holds(bytes)) return true
  if (charset !== undefined) return redactor.holds(decoded(bytes, charset))
  if (media_type !== 'application/pdf') return false
  const { pdfHoldsKey } = await import('./pdf/keys.ts')
  return pdfHoldsKey(bytes, redactor.keys)
}

/** A Log from elsewhere may name any encoding; what cannot be decoded is not shown either. */
function decoded(bytes: Buffer, charset: string): string {
  try {
    return [...decodedPieces(bytes, charset)].join('')
  } catch {
    return ''
  }
}
