import { base64Length, writeBase64 } from '../encoding/base64.ts'
import { sha256 } from '../encoding/hash.ts'
import { depthWithin, isJsonObject, parseJson, wellFormedJson } from '../encoding/json.ts'
import type { Part } from '../model/conversation.ts'
import { LIMITS } from '../model/limits.ts'
import type { Segment, SegmentRole } from '../model/segment.ts'
import { isText, notShown, titledText } from './said.ts'

/** A segment of JSON, or of JSON that shows a file; of the surface, unless it says which Event it is from. */
export function segment(
  role: SegmentRole,
  content: string | Shown,
  seq = -1,
  { lifetime, resource }: Pick<Segment, 'lifetime' | 'resource'> = { lifetime: 'stable' },
): Segment {
  const facts = { role, seq, lifetime, ...(resource === undefined ? {} : { resource }) }
  if (typeof content !== 'string') return shownSegment(facts, content)
  const bytes = ownBytes(content)
  return { ...facts, bytes, length: bytes.length }
}

/** In memory of their own: bytes in the pool of small buffers would keep all that lies beside them there. */
function ownBytes(text: string): Buffer {
  return Buffer.from(UTF_8.encode(text).buffer)
}

const UTF_8 = new TextEncoder()

/** A file, which stands in base64 between two pieces of JSON. */
export interface Shown {
  readonly before: Buffer
  readonly file: Buffer
  readonly after: Buffer
}

/** Stands in JSON for the base64 of a file. No media type that is shown and no handle can hold it. */
export const BASE64 = '<base64>'

/** JSON that shows a file where it first says `BASE64`. */
export function showing(file: Buffer, json: string): Shown {
  const at = json.indexOf(BASE64)
  const [before, after] = [json.slice(0, at), json.slice(at + BASE64.length)]
  return { before: ownBytes(before), file, after: ownBytes(after) }
}

/** Base64 is a third longer than the file, so the file is kept, and its base64 is written straight into each body. */
function shownSegment(facts: Omit<Segment, 'bytes' | 'length'>, shown: Shown): Segment {
  const length = shown.before.length + base64Length(shown.file) + shown.after.length
  const made: Segment = {
    ...facts,
    length,
    get bytes() {
      const bytes = Buffer.allocUnsafeSlow(length)
      putShown(shown, bytes, 0)
      return bytes
    },
  }
  SHOWN.set(made, shown)
  return made
}

const SHOWN = new WeakMap<Segment, Shown>()

/** Writes a segment into a body, from `at` on, and answers where it ends. */
export function put(one: Segment, body: Buffer, at: number): number {
  const shown = SHOWN.get(one)
  if (shown !== undefined) return putShown(shown, body, at)
  body.set(one.bytes, at)
  return at + one.length
}

function putShown({ before, file, after }: Shown, body: Buffer, at: number): number {
  body.set(before, at)
  const end = writeBase64(file, body, at + before.length)
  body.set(after, end)
  return end + after.length
}

/** What a part says in words; what has none says so. */
export function wordsOf(part: Part): string {
  if (part.type === 'text') return part.text
  if (part.bytes === undefined || !isText(part.media_type)) return notShown(part)
  return titledText(part, part.bytes.toString('utf8'))
}

/** Vendors refuse text that is nothing but white space. */
export function hasWords(text: string): boolean {
  return text.trim() !== ''
}

/** The images that every vendor takes. */
export function isImage(media_type: string): media_type is ImageType {
  const types: readonly string[] = IMAGES
  return types.includes(media_type)
}

const IMAGES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'] as const
type ImageType = (typeof IMAGES)[number]

/** Arguments as the model wrote them. Who reads them takes nothing but an object, and none that holds half a surrogate. */
export function argumentsObject(text: string): string {
  if (text === '') return '{}'
  const read = parseJson(text)
  if (!isJsonObject(read) || !depthWithin(read, LIMITS.event_depth)) {
    return wellFormedJson({ unreadable_arguments: text })
  }
  // A half can hide in an escape; JSON.stringify writes nothing else as one.
  const halved = text.includes('\\u') && JSON.stringify(read).includes('\\ud')
  return halved ? wellFormedJson(read) : text
}

/** OpenAI refuses a longer one. Equal keys stay equal, which is all that a key is for. */
const CACHE_KEY_LENGTH = 64

export function fittingKey(key: string): string {
  return key.length <= CACHE_KEY_LENGTH ? key : sha256(key)
}
