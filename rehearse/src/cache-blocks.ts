import { sha256 } from '../../src/encoding/hash.ts'
import { canonicalJson } from '../../src/encoding/json.ts'

/** A large picture or document counts as this many bytes, which is roughly what vendors charge for one. */
const MEDIA_BYTES = 6_400

/** Part of a request as the prompt cache sees it: the same content has the same bytes, marked or not. */
export function cacheBlock(content: object): Buffer {
  return Buffer.from(canonicalJson(shrunk(content)))
}

/** The number of tokens in all blocks, as the prompt cache counts them. */
export function tokensIn(blocks: readonly Uint8Array[]): number {
  return Math.ceil(blocks.reduce((sum, { length }) => sum + length, 0) / BYTES_A_TOKEN)
}

export const BYTES_A_TOKEN = 4

function shrunk(value: unknown, key = ''): unknown {
  if (typeof value === 'string') return MEDIA_KEYS.has(key) ? shortText(value) : value
  if (Array.isArray(value)) return value.map((member: unknown) => shrunk(member))
  if (typeof value !== 'object' || value === null) return value
  const fields = Object.entries(value).filter(([name]) => name !== 'cache_control')
  // Text in a document is read like any other text.
  const isText = 'type' in value && value.type === 'text'
  return Object.fromEntries(
    fields.map(([name, field]) => [name, shrunk(field, isText ? '' : name)]),
  )
}

const MEDIA_KEYS: ReadonlySet<string> = new Set(['data', 'file_data', 'image_url', 'url'])

function shortText(text: string): string {
  return text.length <= MEDIA_BYTES ? text : sha256(text).padEnd(MEDIA_BYTES, '.')
}
