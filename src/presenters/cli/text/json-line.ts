/** A value as one line of JSON, encoded by `jsonText`. */
export function jsonLine(value: unknown): string {
  return `${jsonText(value)}\n`
}

/**
 * A value as JSON. Characters that could control a terminal or hide text are escaped, which does not change the parsed
 * value; JSON itself allows everything above U+001F.
 */
export function jsonText(value: unknown): string {
  const json = JSON.stringify(value)
  // Most lines are plain, and making the other pattern takes a millisecond.
  if (PLAIN.test(json)) return json
  return json.replaceAll(/[\u007f-\u009f\p{Cf}\p{Zl}\p{Zp}\p{DI}]/gu, (sign) =>
    // One escape for each UTF-16 code unit.
    Array.from({ length: sign.length }, (_, at) => escapeUnit(sign.charCodeAt(at))).join(''),
  )
}

const PLAIN = /^[\x20-\x7e]*$/

function escapeUnit(unit: number): string {
  return `\\u${unit.toString(16).padStart(4, '0')}`
}
