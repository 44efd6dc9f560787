import { isUtf8 } from 'node:buffer'

/** Text for a model or a file, made of any bytes. */
export interface PlainText {
  readonly text: string
  /** Bytes that are not UTF-8; each group of them is one U+FFFD in the text. */
  readonly invalid_bytes_replaced: number
  /** Whether control characters or sequences were removed. */
  readonly hadControls: boolean
}

/**
 * Bytes as well-formed text without control sequences: those of terminals are removed with their parameters, other control
 * characters alone. Tabs and line breaks stay; every line break becomes LF. Pure.
 */
export function plainText(bytes: Buffer): PlainText {
  const decoded = bytes.toString('utf8')
  const invalid_bytes_replaced = isUtf8(bytes) ? 0 : invalidBytes(bytes, decoded)
  const lines = decoded.replaceAll(/\r\n?/g, '\n')
  const text = lines.replaceAll(SEQUENCE, '').replaceAll(CONTROL, '')
  return { text, invalid_bytes_replaced, hadControls: text.length < lines.length }
}

/** CSI; OSC, DCS, SOS, PM and APC up to their end; other escape sequences. Each also in its form with one character. */
const SEQUENCE = new RegExp(
  [
    String.raw`(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]`,
    // A start inside ends the search: otherwise many starts without an end would take quadratic time.
    String.raw`(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x90\x98\x9c-\x9f]*(?:\x07|\x1b\\|\x9c)`,
    String.raw`\x1b[ -/]*[0-~]`,
  ].join('|'),
  'g',
)
const CONTROL = /[^\P{Cc}\t\n]/gu

/** Everything that is neither a valid character nor a replacement character of the input itself. */
function invalidBytes(bytes: Buffer, decoded: string): number {
  const replacements = decoded.split('\uFFFD').length - 1
  let genuine = 0
  for (let at = bytes.indexOf(REPLACEMENT); at !== -1; at = bytes.indexOf(REPLACEMENT, at + 3))
    genuine += 1
  const valid = Buffer.byteLength(decoded) - REPLACEMENT.length * (replacements - genuine)
  return bytes.length - valid
}

const REPLACEMENT = Buffer.from('\uFFFD')
