/**
 * Text from outside, made safe for a line that people or models read: quoted, on one line, with control characters, line
 * separators and everything that changes the direction or visibility of text escaped.
 */
export function quote(text: string): string {
  return JSON.stringify(text.toWellFormed()).replaceAll(
    /[\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/**
 * A name from outside for a label in square brackets: escaped like `quote`, so that it stays on one line, and with escaped
 * brackets, so that it cannot end the label. At most `limit` bytes.
 */
export function nameInBrackets(name: string, limit: number): string {
  const line = quote(name)
    .slice(1, -1)
    .replaceAll(String.raw`\"`, '"')
  return `[${shorten(line.replaceAll(/[[\]]/g, String.raw`\$&`), limit)}]`
}

/** At most `limit` bytes of UTF-8, cut between characters, with an ellipsis if shortened. */
export function shorten(text: string, limit: number): string {
  const bytes = new TextEncoder().encode(text)
  if (bytes.length <= limit) return text.toWellFormed()
  let end = Math.max(0, limit - MARK_BYTES)
  // A byte of the form 10xxxxxx continues a character.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(0, end)) + MARK
}

const MARK = '…'
const MARK_BYTES = 3
