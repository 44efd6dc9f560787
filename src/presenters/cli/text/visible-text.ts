/**
 * Makes text from models, files, tools and names safe for a terminal. Characters that could move the cursor, change
 * colours, reorder or hide text are escaped as `\u{1b}`: controls, format characters (bidi, zero width), line
 * separators, lone surrogates, and everything else that fonts do not show. `\n` and `\t` stay.
 *
 * Each character is escaped by itself, so no state is needed: text that is escaped in pieces, split anywhere, is as
 * safe as when it is escaped whole. The function is idempotent.
 *
 * Joiners are dropped if they only shape the characters around them: between two emoji, which are then shown side by
 * side with a width on which all terminals agree, and between letters of joined scripts. Combining marks beyond
 * `MOST_MARKS` on a character are counted instead of shown.
 */
export function visibleText(text: string): string {
  if (PLAIN.test(text)) return text
  return text.replace(unsafe(), (sign: string, picture?: string, joiner?: string) => {
    if (picture !== undefined || sign === '\n' || sign === '\t') return sign
    return joiner === undefined ? spelt(sign) : ''
  })
}

/** Like `visibleText`, for a name that must stay on one line: `\n`, `\t` and all joiners are escaped, too. */
export function visibleLine(text: string): string {
  if (PLAIN_LINE.test(text)) return text
  return text.replace(unsafe(), (sign: string, picture?: string) =>
    picture === undefined ? spelt(sign) : sign,
  )
}

/** No living script needs more on one character; stacks of them cover the lines above and below. */
export const MOST_MARKS = 8

const PLAIN = /^[\n\t\x20-\x7e]*$/
const PLAIN_LINE = /^[\x20-\x7e]*$/

const VARIATION = String.raw`(?<=\p{ExtPict})[\ufe0e\ufe0f]|(?<=[0-9#*])\ufe0f(?=\u20e3)`
const SHAPED = 'Arab Syrc Deva Beng Guru Gujr Orya Taml Telu Knda Mlym Sinh Khmr Mymr'
  .split(' ')
  .map((script) => `\\p{Script=${script}}`)
  .join('')
const JOINERS = [
  String.raw`(?<=\p{ExtPict}\ufe0f?|\p{EMod})\u200d(?=\p{ExtPict})`,
  String.raw`(?<=[${SHAPED}])[\u200c\u200d](?=[${SHAPED}])`,
].join('|')
const UNSEEN = String.raw`[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{DI}]`
const MARKS = String.raw`(?:(?!\p{DI})\p{M}){${MOST_MARKS + 1},}`

/** First variation selectors, then joiners, then everything unsafe. Made on first use: that takes over a millisecond. */
function unsafe(): RegExp {
  return (made ??= new RegExp(`(${VARIATION})|(${JOINERS})|${UNSEEN}|${MARKS}`, 'gu'))
}

let made: RegExp | undefined

function spelt(signs: string): string {
  const points = Array.from(signs)
  if (points.length === 1) return `\\u{${signs.codePointAt(0)?.toString(16)}}`
  const more = points.length - MOST_MARKS
  return `${points.slice(0, MOST_MARKS).join('')}(+${more} ${more === 1 ? 'mark' : 'marks'})`
}
