import { isUtf8 } from 'node:buffer'
import { base64Length, writeBase64 } from '../encoding/base64.ts'
import { sha256 } from '../encoding/hash.ts'
import { hasWordsIn, jsonTextLength, writeJsonText } from '../encoding/json-text.ts'
import { depthWithin, isJsonObject, parseJson, wellFormedJson } from '../encoding/json.ts'
import { takesNo, titledText, unfit } from '../encoding/words/resources.ts'
import type { Part } from '../model/conversation.ts'
import { LIMITS } from '../model/limits.ts'
import type { Segment, SegmentRole } from '../model/segment.ts'

/** A segment of JSON, or of JSON that shows a file; of the surface, unless it says which Event it is from. */
export function segment(
  role: SegmentRole,
  content: string | ShownFile,
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

/** A file, which stands in a form of its own between two pieces of JSON. */
export interface ShownFile {
  readonly before: Buffer
  readonly file: Buffer
  readonly after: Buffer
  readonly form: Form
}

/** How a file is written into a body, and how many bytes it has there. */
interface Form {
  readonly lengthOf: (file: Buffer) => number
  readonly write: (file: Buffer, room: Buffer, start: number) => number
}

const IN_BASE64: Form = { lengthOf: ({ length }) => base64Length(length), write: writeBase64 }
const AS_TEXT: Form = { lengthOf: jsonTextLength, write: writeJsonText }

/** Stands in JSON for the base64 of a file. No media type that is shown and no handle can hold it. */
export const BASE64 = '<base64>'

/** JSON that shows a file where it first says `BASE64`. */
export function showing(file: Buffer, json: string): ShownFile {
  return around(BASE64, json, file, IN_BASE64)
}

/** Stands in JSON for a long text. No handle can hold it. */
const TEXT = '<text>'
/** As many bytes are no burden, in as many forms as they have on the way into a body. */
const SHORT_TEXT = 64 * 1024

/** JSON that says the text of a file. A long one is not in it before it is in a body. `json` is pure, and says no file first. */
export function quoting(file: Buffer, json: (text: string) => string): string | ShownFile {
  // What is no UTF-8 is not written as it is.
  if (file.length < SHORT_TEXT || !isUtf8(file)) return json(file.toString('utf8'))
  return around(TEXT, json(TEXT), file, AS_TEXT)
}

function around(place: string, json: string, file: Buffer, form: Form): ShownFile {
  const at = json.indexOf(place)
  const [before, after] = [json.slice(0, at), json.slice(at + place.length)]
  return { before: ownBytes(before), file, after: ownBytes(after), form }
}

/** A file is longer in a body, so it is kept as it is, and written straight into each body. */
function shownSegment(facts: Omit<Segment, 'bytes' | 'length'>, shown: ShownFile): Segment {
  const { before, file, after, form } = shown
  const length = before.length + form.lengthOf(file) + after.length
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

const SHOWN = new WeakMap<Segment, ShownFile>()

/** Writes a segment into a body, from `at` on, and answers where it ends. */
export function put(one: Segment, body: Buffer, at: number): number {
  const shown = SHOWN.get(one)
  if (shown !== undefined) return putShown(shown, body, at)
  body.set(one.bytes, at)
  return at + one.length
}

function putShown({ before, file, after, form }: ShownFile, body: Buffer, at: number): number {
  body.set(before, at)
  const end = form.write(file, body, at + before.length)
  body.set(after, end)
  return end + after.length
}

/** What a part says in words; what has none says so. */
export function wordsOf(part: Part): string {
  if (part.type === 'text') return part.text
  if (part.bytes === undefined || !isText(part.media_type)) {
    return unfit(part.handle, takesNo(part.media_type))
  }
  return titledText(part.handle, part.bytes.toString('utf8'))
}

/** JSON that says what a part says in words. */
export function saying(part: Part, json: (words: string) => string): string | ShownFile {
  if (part.type === 'text' || part.bytes === undefined || !isText(part.media_type)) {
    return json(wordsOf(part))
  }
  return quoting(part.bytes, (text) => json(titledText(part.handle, text)))
}

/** Whether what a part says in words is nothing but white space. */
export function isBlank(part: Part): boolean {
  if (part.type === 'text') return !hasWords(part.text)
  // A title is said in words, and so is what is not shown.
  if (part.bytes === undefined || !isText(part.media_type) || part.handle !== undefined)
    return false
  return !hasWordsIn(part.bytes)
}

/** Vendors refuse text that is nothing but white space. */
export function hasWords(text: string): boolean {
  return text.trim() !== ''
}

/** A file is text when its type says so; which bytes are text was decided when it was brought in. */
export function isText(media_type: string): boolean {
  return media_type.startsWith('text/')
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
