import { depthWithin } from '../../src/encoding/json.ts'

/** The parsed body, and what is wrong with its bytes. */
export interface JsonBody {
  /** `undefined` if the bytes are not JSON. */
  readonly body: unknown
  readonly faults: readonly string[]
}

const DEEPEST = 200

/** Reads the body of a request as strictly as any vendor might: also reports faults that `JSON.parse` accepts silently. */
export function readJson(bytes: Uint8Array): JsonBody {
  let text: string
  let body: unknown
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    body = JSON.parse(text)
  } catch (error) {
    return { body: undefined, faults: [`the body is not JSON: ${String(error)}`] }
  }
  if (!depthWithin(body, DEEPEST)) return { body, faults: ['the body is nested too deeply'] }
  const { keys, brokenStrings } = census(body)
  return {
    body,
    faults: [
      ...(keysWritten(text) === keys ? [] : ['an object in the body has a duplicate key']),
      ...brokenStrings.map(
        (string) => `an unpaired surrogate in ${JSON.stringify(string).slice(0, 80)}`,
      ),
    ],
  }
}

/** The number of keys in a value, and its strings with an unpaired surrogate. */
function census(value: unknown): { keys: number; brokenStrings: string[] } {
  let keys = 0
  const brokenStrings: string[] = []
  const look = (part: unknown) => {
    if (typeof part === 'string' && !part.isWellFormed()) brokenStrings.push(part)
    if (typeof part !== 'object' || part === null) return
    if (!Array.isArray(part)) {
      keys += Object.keys(part).length
      for (const key of Object.keys(part)) look(key)
    }
    for (const inner of Object.values(part)) look(inner)
  }
  look(value)
  return { keys, brokenStrings }
}

/** In JSON a string before a colon is a key. */
function keysWritten(text: string): number {
  let count = 0
  let at = text.indexOf('"')
  while (at >= 0) {
    const end = endOfString(text, at)
    if (/^\s*:/.test(text.slice(end + 1, end + 20))) count += 1
    at = text.indexOf('"', end + 1)
  }
  return count
}

function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); ; end = text.indexOf('"', end + 1)) {
    let backslashes = 0
    while (text[end - 1 - backslashes] === '\\') backslashes += 1
    if (backslashes % 2 === 0) return end
  }
}
