/**
 * Long pasted texts, by the character that represents each in a draft. One character is one unit: keys pass and delete
 * the whole chip. Only a character that is in the map is a chip.
 */
export type Chips = ReadonlyMap<string, string>

export const NO_CHIPS: Chips = new Map()

/** A paste of more lines becomes a chip. */
const MOST_LINES = 5
/** So does a paste without line breaks that would fill the screen. */
const MOST_CHARACTERS = 2_000

export function isLong(text: string): boolean {
  if (text.length > MOST_CHARACTERS) return true
  return pastedLines(text) > MOST_LINES
}

/** Adds a text, and returns the character that represents it; `undefined` if there are too many. */
export function addChip(
  chips: Chips,
  text: string,
): { readonly chips: Chips; readonly sign: string } | undefined {
  for (let code = FIRST; code <= LAST; code += 1) {
    const sign = String.fromCodePoint(code)
    if (!chips.has(sign)) return { chips: new Map([...chips, [sign, text]]), sign }
  }
  return undefined
}

/** The text with every chip replaced by what it represents. */
export function expand(text: string, chips: Chips): string {
  if (!mayHaveChips(text)) return text
  return text.replaceAll(SIGNS, (sign) => chips.get(sign) ?? sign)
}

/** Text from outside, in which no character may be mistaken for a chip that exists. */
export function withoutSigns(text: string, chips: Chips): string {
  if (chips.size === 0 || !mayHaveChips(text)) return text
  return text.replaceAll(SIGNS, (sign) => (chips.has(sign) ? '\ufffd' : sign))
}

/** The chips that occur in any of the texts. */
export function chipsIn(texts: readonly string[], chips: Chips): Chips {
  const used = new Set(
    texts.flatMap((text) => (mayHaveChips(text) ? (text.match(SIGNS) ?? []) : [])),
  )
  return new Map([...chips].filter(([sign]) => used.has(sign)))
}

/** What a person sees of a chip. */
export function chipLabel(text: string, number: number): string {
  const lines = pastedLines(text)
  const size = lines === 1 ? `${text.length} characters` : `${lines} lines`
  return `[paste ${number}: ${size}]`
}

/** The number of the chip among those that exist, counted from 1. */
export function chipNumber(sign: string): number {
  return (sign.codePointAt(0) ?? FIRST) - FIRST + 1
}

/** A line break at the end of what was copied begins no line. */
function pastedLines(text: string): number {
  return lineCount(text.endsWith('\n') ? text.slice(0, -1) : text)
}

/** Counts without splitting, because a text may have megabytes. */
export function lineCount(text: string): number {
  let lines = 1
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines += 1
  return lines
}

/** The end of the last private plane, which fonts with icons do not use. */
const FIRST = 0x10f000
const LAST = 0x10f3ff
const SIGNS = /[\u{10f000}-\u{10f3ff}]/gu

/** Faster than the pattern, which most texts never match. */
function mayHaveChips(text: string): boolean {
  return text.includes('\udbfc')
}
