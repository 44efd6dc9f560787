/** The tag around facts of the harness, where a vendor has no role for them. Layer 0 names it to every model. */
export const NOTE_TAG = 'harness-note'

/**
 * Text in which no spelling of the tag is left: each gets a backslash behind its bracket, so `<harness-note>` becomes
 * `<\harness-note>`. Spellings that a model may take for the tag count too: other case, spaces, invisible characters,
 * characters that look alike. One that has backslashes already gets one more, so that `originalText` is exact. Pure, and
 * independent of the version of Unicode that a Node has: the same text gives the same bytes everywhere.
 */
export function escapeNotes(text: string): string {
  return text.replace(tag(), (_, bracket: string, rest: string) => `${bracket}\\${rest}`)
}

/** The text that `escapeNotes` was given. Changes nothing else. */
export function originalText(escaped: string): string {
  return escaped.replace(tag(), (whole, bracket: string, rest: string) =>
    rest.startsWith('\\') ? bracket + rest.slice(1) : whole,
  )
}

let known: RegExp | undefined

/** Built on first use, because few commands compose a request. */
function tag(): RegExp {
  known ??= new RegExp(
    `([${BRACKETS}])(\\\\*${GAP}*(?:[/${SLASHES}]${GAP}*)*${name()})`,
    // Without the flag `i`, whose meaning depends on the version of Unicode.
    'gu',
  )
  return known
}

/** Both words, with any dash, space or nothing between them. */
function name(): string {
  const [first = '', second = ''] = NOTE_TAG.split('-').map((word) =>
    Array.from(word, (letter) => `[${spellings(letter)}]`).join(`${INVISIBLE}*`),
  )
  return `${first}(?:${GAP}|[${DASHES}])*${second}`
}

const BRACKETS = String.raw`<\u02C2\u1438\u2039\u227A\u2329\u276C\u276E\u27E8\u3008\u300A\uFE64\uFF1C`
const SLASHES = String.raw`\u2044\u2215\u29F8\uFF0F`
const DASHES = String.raw`\-_\u02D7\u058A\u1806\u2010-\u2015\u2043\u2212\u2796\u30FC\uFE58\uFE63\uFF0D\uFF3F`
/** Characters without a width, and marks that are drawn over the letter before them. */
const INVISIBLE = String.raw`[\u00AD\u0300-\u036F\u061C\u115F\u1160\u17B4\u17B5\u180B-\u180F\u200B-\u200F\u202A-\u202E\u2060-\u206F\u3164\uFE00-\uFE0F\uFEFF\uFFA0\u{E0000}-\u{E0FFF}]`
const SPACES = String.raw`[\t-\r \u0085\u00A0\u1680\u2000-\u200A\u2028\u2029\u202F\u205F\u3000]`
const GAP = `(?:${INVISIBLE}|${SPACES})`

/** Letters of other alphabets, and small capitals, that look like the letter. */
const LOOKALIKES: Readonly<Record<string, string>> = {
  h: 'һНΗʜℋℌℍℎ',
  a: 'аАαΑᴀɑ',
  r: 'гʀℛℜℝ',
  n: 'пΝոɴℕ',
  e: 'еЕΕᴇℯℰ',
  s: 'ѕЅꜱ',
  o: 'оОοΟᴏℴ0',
  t: 'тТΤᴛ',
}

/** Alphabets of Unicode that repeat A to Z and then a to z, and those that have each case at a place of its own. */
const MATHEMATICAL = { first: 0x1d400, alphabets: 13 }
const CASED = [
  [0x24b6, 0x24d0],
  [0xff21, 0xff41],
] as const

function spellings(letter: string): string {
  const place = letter.charCodeAt(0) - 0x61
  const mathematical = Array.from({ length: MATHEMATICAL.alphabets * 2 }, (_, at) =>
    String.fromCodePoint(MATHEMATICAL.first + at * 26 + place),
  )
  const cased = CASED.flat().map((first) => String.fromCodePoint(first + place))
  return [letter, letter.toUpperCase(), LOOKALIKES[letter] ?? '', ...mathematical, ...cased].join(
    '',
  )
}
