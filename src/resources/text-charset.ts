import { isUtf8 } from 'node:buffer'
import { analyse } from 'chardet'
import { charsetName, decodedPieces } from '../encoding/charset.ts'

export interface TextFacts {
  readonly lines: number
  /** A `TextDecoder` label. Absent for UTF-8, which needs no conversion. */
  readonly charset?: string
}

/** The facts of bytes as text, in UTF-8 or a detected charset; undefined if they are not text. Does not change the bytes. */
export function textFacts(bytes: Buffer): TextFacts | undefined {
  const marked = MARKED.find(({ mark }) => bytes.subarray(0, mark.length).equals(mark))
  if (marked !== undefined) return readAs(bytes, marked.charset)
  if (bytes.includes(0)) return undefined
  const plain = isUtf8(bytes)
  if (plain && !bytes.includes(SHIFT)) return { lines: lineCount(bytes) }
  for (const charset of likely(bytes)) {
    // Valid UTF-8 that could also be a 7-bit charset is most likely the latter.
    if (plain && !/^iso-2022/i.test(charset)) continue
    const facts = readAs(bytes, charset)
    if (facts !== undefined) return facts
  }
  return plain ? { lines: lineCount(bytes) } : undefined
}

/** UTF-16 is only detected by its byte order mark. */
const MARKED = [
  { mark: Buffer.of(0xff, 0xfe), charset: 'utf-16le' },
  { mark: Buffer.of(0xfe, 0xff), charset: 'utf-16be' },
]

/** Starts a shift sequence in 7-bit charsets. */
const SHIFT = Buffer.from('\x1b$')

/** Control characters that do not occur in text. Bell, backspace, escape and all line breaks are allowed. */
const BINARY = new RegExp(String.raw`[\0-\x06\x0e-\x1a\x1c-\x1f\x7f-\x84\x86-\x9f]`)

/** In pieces, so that the text is not in memory twice. */
function readAs(bytes: Buffer, name: string): TextFacts | undefined {
  const charset = charsetName(name)
  if (charset === undefined) return undefined
  let lines = 0
  let last = ''
  try {
    for (const text of decodedPieces(bytes, charset)) {
      if (BINARY.test(text)) return undefined
      lines += newlines(text)
      last = text.at(-1) ?? last
    }
  } catch {
    return undefined
  }
  return { lines: lines + (last === '\n' ? 0 : 1), charset }
}

/** The most likely first. A few letters are not enough evidence; then it is the most common charset before UTF-8. */
function likely(bytes: Buffer): string[] {
  return [...analyse(sample(bytes)).map(({ name }) => name), 'windows-1252']
}

const SAMPLE_BYTES = 64 * 1024

/** The lines that are not ASCII, which identify a charset: the first may be far into the text. */
function sample(bytes: Buffer): Buffer {
  if (bytes.length <= SAMPLE_BYTES) return bytes
  const lines: Buffer[] = []
  let room = SAMPLE_BYTES
  for (let at = nextTelling(bytes, 0); at !== -1 && room > 0;) {
    const start = Math.max(bytes.lastIndexOf(NEWLINE, at) + 1, at - SAMPLE_BYTES / 4)
    const found = bytes.indexOf(NEWLINE, at)
    const end = Math.min(found === -1 ? bytes.length : found + 1, start + room)
    lines.push(bytes.subarray(start, end))
    room -= end - start
    at = nextTelling(bytes, Math.max(end, at + 1))
  }
  return Buffer.concat(lines)
}

function nextTelling(bytes: Buffer, from: number): number {
  for (let at = from; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0
    if (byte > 0x7f || byte === 0x1b) return at
  }
  return -1
}

const NEWLINE = 0x0a

function lineCount(bytes: Buffer): number {
  let lines = bytes.at(-1) === NEWLINE ? 0 : 1
  for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, at + 1)) lines += 1
  return lines
}

function newlines(text: string): number {
  let count = 0
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count += 1
  return count
}
