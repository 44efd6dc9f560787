/** Deeper ones are not made: Telegram allows 16 levels. */
const MOST_LEVELS = 40

/** The text of a rich message without its formatting, as far as it has text; what Telegram sends is not trusted. Pure. */
export function richWords(message: unknown): string {
  return wordsOf(memberOf(message, 'blocks'), '\n', MOST_LEVELS)
}

/** A text, an object with text in it, or a list of them. */
function wordsOf(value: unknown, between: string, levels: number): string {
  if (typeof value === 'string') return value
  if (levels === 0 || typeof value !== 'object' || value === null) return ''
  if (Array.isArray(value))
    return value
      .map((one: unknown) => wordsOf(one, '', levels - 1))
      .filter((text) => text !== '')
      .join(between)
  const parts = [
    wordsOf(memberOf(value, 'text'), '', levels - 1),
    wordsOf(memberOf(value, 'alternative_text'), '', levels - 1),
    wordsOf(memberOf(value, 'expression'), '', levels - 1),
    wordsOf(memberOf(value, 'blocks'), '\n', levels - 1),
    wordsOf(memberOf(value, 'items'), '\n', levels - 1),
    tableWords(memberOf(value, 'cells'), levels - 1),
    wordsOf(memberOf(value, 'caption'), '', levels - 1),
  ]
  return parts.filter((text) => text !== '').join('\n')
}

function tableWords(rows: unknown, levels: number): string {
  if (!Array.isArray(rows)) return ''
  return rows.map((row: unknown) => wordsOf(row, ' | ', levels)).join('\n')
}

function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined
  return Object.entries(value).find(([key]) => key === name)?.[1]
}
