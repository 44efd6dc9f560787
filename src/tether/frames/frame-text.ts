import { jsonTextLength } from '../../encoding/json-text.ts'
import { LIMITS } from '../../model/limits.ts'

/** Everything in a frame but its text: addresses, ids, four image references, with all of it escaped. */
const ENVELOPE_BYTES = 8 * 1024

/** Text for a frame: all of it, or its beginning. */
export interface FrameText {
  readonly text: string
  readonly truncated: boolean
}

/** As much of the beginning of a text as one frame can contain beside `others` bytes of JSON, cut between characters. */
export function frameText(text: string, others = 0): FrameText {
  const bytes = Buffer.from(text.toWellFormed())
  const end = fittingEnd(bytes, 0, others)
  return { text: bytes.toString('utf8', 0, end), truncated: end < bytes.length }
}

/** A text in pieces that one frame can contain. */
export function* frameTexts(text: string): Generator<string> {
  const bytes = Buffer.from(text.toWellFormed())
  for (let start = 0; start < bytes.length;) {
    const end = fittingEnd(bytes, start)
    yield bytes.toString('utf8', start, end)
    start = end
  }
}

/** The end of the longest part from `start` within the limits of text and, with its escapes, of a frame. */
function fittingEnd(bytes: Buffer, start: number, others = 0): number {
  const longest = Math.min(bytes.length, start + LIMITS.frame_text_bytes)
  const fits = (end: number) =>
    jsonTextLength(bytes.subarray(start, end)) <= LIMITS.frame_bytes - ENVELOPE_BYTES - others
  if (fits(longest)) return characterEnd(bytes, longest)
  let [enough, tooMuch] = [start, longest]
  while (tooMuch - enough > 1) {
    const middle = (enough + tooMuch) >>> 1
    if (fits(middle)) enough = middle
    else tooMuch = middle
  }
  return characterEnd(bytes, enough)
}

/** The last start of a character at or before `at`, or the end of the text. */
function characterEnd(bytes: Buffer, at: number): number {
  let end = at
  while (end < bytes.length && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1
  return end
}
