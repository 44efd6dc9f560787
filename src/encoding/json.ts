/**
 * JSON text that every parser reads the same way: compact, in the order of the object's own keys, and well formed (a lone
 * surrogate becomes U+FFFD, as in UTF-8). Omits values that JSON cannot represent, as `JSON.stringify` does.
 */
export function wellFormedJson(value: object): string {
  const text = JSON.stringify(value)
  // JSON.stringify writes only lone surrogates as \udXXX, so most values are finished here.
  return text.includes('\\ud') ? JSON.stringify(wellFormed(value)) : text
}

/** The parsed value, or undefined if the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * Canonical JSON: keys sorted by UTF-16 code units at every level, numbers and text as in ECMAScript, text well formed. Equal
 * values have equal bytes.
 */
export function canonicalJson(value: unknown): string {
  const plain: unknown = value instanceof Date ? value.toISOString() : value
  if (Array.isArray(plain))
    return `[${plain.map((child) => canonicalJson(child ?? null)).join(',')}]`
  if (typeof plain === 'string') return JSON.stringify(plain.toWellFormed())
  if (!isJsonObject(plain)) return JSON.stringify(plain) ?? 'null'
  const entries = Object.entries(plain)
    .filter(([, child]) => child !== undefined && typeof child !== 'function')
    .map(([key, child]): [string, unknown] => [key.toWellFormed(), child])
    // Not through an object, which would move integer-like keys to the front.
    .toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    .map(([key, child]) => `${JSON.stringify(key)}:${canonicalJson(child)}`)
  return `{${entries.join(',')}}`
}

/** True if arrays and objects nest at most `limit` deep. Stops at the limit, so hostile depth costs nothing. */
export function depthWithin(value: unknown, limit: number): boolean {
  if (typeof value !== 'object' || value === null) return true
  if (limit === 0) return false
  // Allocates no list of values: this runs for every line.
  for (const key in value) {
    const child: unknown = Reflect.get(value, key)
    if (typeof child === 'object' && child !== null && !depthWithin(child, limit - 1)) return false
  }
  return true
}

/**
 * True if JSON text contains at most `limit` values, where an empty list counts as two. Does not parse: an empty list takes
 * three characters of text, but ten times as much memory.
 */
export function valuesWithin(text: string, limit: number): boolean {
  // Each value but the last takes at least two characters.
  if (text.length < 2 * limit) return true
  let count = 1
  for (let at = 0; at < text.length && count <= limit; at++) {
    const character = text.charAt(at)
    if (character === '"') at = endOfString(text, at)
    else if (character === ',' || character === '[' || character === '{') count += 1
  }
  return count <= limit
}

function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let backslashes = 0
    while (text.charAt(end - 1 - backslashes) === '\\') backslashes += 1
    if (backslashes % 2 === 0) return end
  }
  return text.length
}

function wellFormed(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed()
  if (Array.isArray(value)) return value.map(wellFormed)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, child]) => [key.toWellFormed(), wellFormed(child)]),
  )
}
