/** A line and the range in it that matches. */
export interface MatchedLine {
  readonly text: string
  readonly start: number
  readonly end: number
}

/** Characters of a long line that are shown before a match, and in total. */
const BEFORE = 60
const EXCERPT = 240

/** Shortens a long line to the part around the match, never inside a character. Pure. */
export function lineExcerpt({ text, start, end }: MatchedLine): MatchedLine & {
  readonly cutBefore: boolean
  readonly cutAfter: boolean
} {
  if (text.length <= EXCERPT) return { text, start, end, cutBefore: false, cutAfter: false }
  const from = boundary(text, Math.max(0, start - BEFORE))
  const to = boundary(text, Math.min(text.length, from + EXCERPT))
  const within = (at: number) => Math.min(at, to) - from
  return {
    text: text.slice(from, to),
    start: within(start),
    end: within(end),
    cutBefore: from > 0,
    cutAfter: to < text.length,
  }
}

/** Not inside a surrogate pair. */
function boundary(text: string, at: number): number {
  return /[\uDC00-\uDFFF]/.test(text.charAt(at)) ? at - 1 : at
}
