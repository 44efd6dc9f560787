import { isUtf8 } from 'node:buffer'
import { binaryKind } from '../encoding/magic-bytes.ts'

/** What bytes really are, as the end of a sentence "it is …". Looks at the bytes, never at a name. */
export function contentKind(bytes: Buffer): string {
  const head = bytes.subarray(0, HEAD_BYTES)
  const binary = binaryKind(head)
  if (binary !== undefined) return binary
  const start = head.toString('latin1').replace(/^\xef\xbb\xbf/, '')
  if (PAGE.test(start)) return 'an HTML page'
  if (DRAWING.test(start)) return 'an SVG drawing'
  if (/^\s*<\?xml\s/i.test(start)) return 'an XML document'
  return bytes.includes(0) || !isUtf8(bytes) ? 'binary data' : 'text'
}

const HEAD_BYTES = 1024

/** What may precede the first element. Each comment matches in one way only; otherwise many of them would take exponential time. */
const BEFORE = String.raw`^\s*(?:<\?xml[^>]*>\s*|<!--(?:(?!-->)[^])*-->\s*)*`
const PAGE = new RegExp(`${BEFORE}<(!doctype\\s+html|html|head|body|script)\\b`, 'i')
const DRAWING = new RegExp(`${BEFORE}<(!doctype\\s+svg|svg)\\b`, 'i')
