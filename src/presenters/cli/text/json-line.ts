/** A value as one line of JSON, as `jsonText` writes it. */
export function jsonLine(value: unknown): string {
  return `${jsonText(value)}\n`
}

/**
 * A value as JSON. What could steer a terminal or hide text there is written as an escape, which means the same to whoever
 * parses it: JSON itself lets everything above U+001F through.
 */
export function jsonText(value: unknown): string {
  return JSON.stringify(value).replaceAll(UNSEEN, (sign) =>
    // One escape for each UTF-16 unit, as JSON has it.
    Array.from({ length: sign.length }, (_, at) => escaped(sign.charCodeAt(at))).join(''),
  )
}

const UNSEEN = /[\u007f-\u009f\p{Cf}\p{Zl}\p{Zp}\p{DI}]/gu

function escaped(unit: number): string {
  return `\\u${unit.toString(16).padStart(4, '0')}`
}
