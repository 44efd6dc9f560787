import { decodedPieces } from '../encoding/charset.ts'
import type { Redactor } from '../encoding/redaction.ts'

/** What the search for keys needs to know about bytes. */
export interface KeyedContent {
  readonly media_type: string
  /** The charset of text that is not UTF-8. */
  readonly charset?: string | undefined
}

/**
 * Whether bytes contain a key: as they are, as text, or in the text of their pages, ignoring whitespace. Does not find a key
 * in an image or where no text can be extracted.
 */
export async function holdsKey(
  { media_type, charset }: KeyedContent,
  bytes: Buffer,
  redactor: Redactor,
): Promise<boolean> {
  if (redactor.keys.length === 0) return false
  if (redactor.holds(bytes)) return true
  if (charset !== undefined) return redactor.holds(decodeText(bytes, charset))
  if (media_type !== 'application/pdf') return false
  const { pdfHoldsKey } = await import('./pdf/pdf-facts.ts')
  return pdfHoldsKey(bytes, redactor.keys)
}

/** A Log from elsewhere may name any charset; what cannot be decoded is not shown either. */
function decodeText(bytes: Buffer, charset: string): string {
  try {
    return [...decodedPieces(bytes, charset)].join('')
  } catch {
    return ''
  }
}
