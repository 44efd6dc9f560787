/**
 * Text from models, files, tools and names, made safe for a terminal. Whatever could move the cursor, change colours,
 * reorder or hide text is spelt out as `\u{1b}`: controls, format characters (bidi, zero width), line separators, halves
 * of surrogate pairs, and everything else that fonts do not show. `\n` and `\t` stay.
 *
 * Every offending character is spelt out by itself, so no state is needed: a text made visible in pieces, cut anywhere,
 * is as safe as one made visible whole. Made visible twice, it is the same.
 *
 * Joiners are left out where they only shape what stands around them: between two pictures, which then stand side by
 * side with a width that every terminal agrees on, and between letters of scripts that are written joined. More than
 * `MOST_MARKS` combining marks on a character are counted instead of shown.
 */
export function visibleText(text: string): string {
  if (PLAIN.test(text)) return text
  return text.replace(UNSAFE, (sign: string, picture?: string, joiner?: string) => {
    if (picture !== undefined || sign === '\n' || sign === '\t') return sign
    return joiner === undefined ? spelt(sign) : ''
  })
}

/** As `visibleText`, for a name that must stay on its line: also `\n`, `\t` and every joiner are spelt out. */
export function visibleLine(text: string): string {
  if (PLAIN_LINE.test(text)) return text
  return text.replace(UNSAFE, (sign: string, picture?: string) =>
    picture === undefined ? spelt(sign) : sign,
  )
}

/** No script in use needs more on one character; towers of them cover the lines above and below. */
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

/** First what chooses how a picture looks, then joiners, then what must not pass. */
const UNSAFE = new RegExp(`(${VARIATION})|(${JOINERS})|${UNSEEN}|${MARKS}`, 'gu')

function spelt(signs: string): string {
  const points = Array.from(signs)
  if (points.length === 1) return `\\u{${signs.codePointAt(0)?.toString(16)}}`
  const more = points.length - MOST_MARKS
  return `${points.slice(0, MOST_MARKS).join('')}(+${more} ${more === 1 ? 'mark' : 'marks'})`
}
