import { isJsonObject } from './json.ts'
import { KEY_PLACEHOLDER, SHORTEST_KEY } from './redaction.ts'

/** The shortest part of a key that is hidden. Shorter keys cannot be distinguished from ordinary words and are not hidden. */
const SHORTEST_PART = SHORTEST_KEY
/** Vendors repeat a key with its middle masked. */
const MASKED = /^[*•.…]{2,}[\w-]*/

/** A JSON value whose texts do not contain the key, nor any recognizable part of it. Pure. */
export function hideKey<T>(value: T, key: string | undefined): T
export function hideKey(value: unknown, key: string | undefined): unknown {
  return key === undefined || key.length < SHORTEST_PART ? value : hide(value, key)
}

function hide(value: unknown, key: string): unknown {
  if (typeof value === 'string') return hideIn(value, key)
  if (Array.isArray(value)) return value.map((inner) => hide(inner, key))
  if (!isJsonObject(value)) return value
  const hidden = Object.entries(value).map(([name, inner]) => [hideIn(name, key), hide(inner, key)])
  return Object.fromEntries(hidden)
}

function hideIn(text: string, key: string): string {
  let shown = ''
  let at = 0
  while (at < text.length) {
    const length = sharedLength(text, at, key)
    if (length < SHORTEST_PART) {
      shown += text.charAt(at)
      at += 1
    } else {
      at += length
      at += MASKED.exec(text.slice(at))?.[0].length ?? 0
      shown += KEY_PLACEHOLDER
    }
  }
  return shown
}

/** The length of the text at `at` that also occurs in the key. */
function sharedLength(text: string, at: number, key: string): number {
  let length = 0
  let from = key.indexOf(text.slice(at, at + SHORTEST_PART))
  while (from !== -1) {
    let same = SHORTEST_PART
    while (same < key.length - from && text[at + same] === key[from + same]) same += 1
    length = Math.max(length, Math.min(same, text.length - at))
    from = key.indexOf(text.slice(at, at + SHORTEST_PART), from + 1)
  }
  return length
}
