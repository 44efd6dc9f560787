import { isUtf8 } from 'node:buffer'
import { base64Length, writeBase64 } from '../encoding/base64.ts'
import { sha256 } from '../encoding/hash.ts'
import { hasWordsIn, jsonTextLength, writeJsonText } from '../encoding/json-text.ts'
import { depthWithin, isJsonObject, parseJson, wellFormedJson } from '../encoding/json.ts'
import { noForm, titledText } from '../prompt/words/resources.ts'
import type { ConversationItem, Part } from '../model/conversation.ts'
import { LIMITS } from '../model/limits.ts'
import type { Lifetime, Segment, SegmentRole } from '../model/segment.ts'

/** What a segment is made of, before it has a place in a request. */
export interface SegmentBlock extends Omit<Segment, 'bracket' | 'bytes' | 'length'> {
  readonly content: string | EmbeddedFile
}

/** A block of JSON, with or without an embedded file. Without a `seq` it belongs to the surface. */
export function block(
  role: SegmentRole,
  content: string | EmbeddedFile,
  seq = -1,
  { lifetime, resource }: Pick<Segment, 'lifetime' | 'resource'> = { lifetime: 'stable' },
): SegmentBlock {
  return resource === undefined
    ? { role, content, seq, lifetime }
    : { role, content, seq, lifetime, resource }
}

/** One block per part of an item, except blank parts. */
export function partBlocks(
  { kind, seq, parts }: Extract<ConversationItem, { readonly parts: readonly Part[] }>,
  encoded: (part: Part) => string | EmbeddedFile,
): SegmentBlock[] {
  return parts.flatMap((part) => (isBlank(part) ? [] : [block(kind, encoded(part), seq, part)]))
}

/** Where a segment is in a request, as far as brackets depend on it. */
export type SegmentPlace = Pick<Segment, 'role' | 'seq' | 'whole'>

/** The bracket between two segments, or before the first. */
export type Between = (before: SegmentPlace | undefined, now: SegmentPlace) => string

/** Segments of blocks that follow the segment `behind`, each with the bracket that `between` gives it. */
export function placeSegments(
  blocks: readonly SegmentBlock[],
  behind: SegmentPlace | undefined,
  between: Between,
): Segment[] {
  return placedItems(blocks, behind, between, (one) => [one])
}

/** Like `placeSegments`, for the blocks of items; those of one item may depend on what precedes them. */
export function placedItems<Item>(
  items: readonly Item[],
  behind: SegmentPlace | undefined,
  between: Between,
  blocksOf: (item: Item, before: SegmentRole | undefined) => readonly SegmentBlock[],
): Segment[] {
  const segments: Segment[] = []
  let before = behind
  for (const item of items) {
    for (const one of blocksOf(item, before?.role)) {
      segments.push(segment(one, bracketOf(between(before, one))))
      before = one
    }
  }
  return segments
}

function segment(one: SegmentBlock, bracket: Buffer): Segment {
  const { role, content, seq, lifetime, resource, whole } = one
  if (typeof content === 'string' && resource === undefined)
    return new (whole === true ? WholeSegment : TextSegment)(one, bracket, content)
  const owner = resource === undefined ? {} : { resource }
  const facts = { role, seq, lifetime, bracket, ...owner, ...(whole === true ? { whole } : {}) }
  if (typeof content !== 'string') return fileSegment(facts, content)
  const bytes = ownBytes(content)
  return { ...facts, bytes, length: bytes.length }
}

/**
 * Nearly all segments of a long request. Their bytes are in slabs, because a buffer of its own takes more memory than
 * most of them have. Each is behind its bracket, so that a run of them is copied into a body at once.
 */
class TextSegment implements Segment {
  readonly role: SegmentRole
  readonly bracket: Buffer
  readonly length: number
  readonly seq: number
  readonly lifetime: Lifetime
  /** Only declared: a request has many segments, and few are whole. */
  declare readonly whole?: true
  readonly #slab: Buffer
  readonly #start: number

  constructor({ role, seq, lifetime }: SegmentBlock, bracket: Buffer, text: string) {
    this.role = role
    this.bracket = bracket
    this.length = Buffer.byteLength(text)
    this.seq = seq
    this.lifetime = lifetime
    const length = bracket.length + this.length
    this.#slab = length > LONG_TEXT ? Buffer.allocUnsafeSlow(length) : slabWith(length)
    const at = length > LONG_TEXT ? 0 : slabUsed
    this.#start = at + bracket.length
    this.#slab.set(bracket, at)
    this.#slab.write(text, this.#start)
    if (length <= LONG_TEXT) slabUsed += length
  }

  get bytes(): Buffer {
    return this.#slab.subarray(this.#start, this.#start + this.length)
  }

  /** Writes the bytes into a body at `at` and returns the offset of their end. */
  put(body: Buffer, at: number): number {
    return at + this.#slab.copy(body, at, this.#start, this.#start + this.length)
  }

  /** Whether its bracket is right behind the bytes of `last`. */
  isBehind(last: TextSegment): boolean {
    return (
      this.#slab === last.#slab && this.#start - this.bracket.length === last.#start + last.length
    )
  }

  /** Writes the run from this one to `last`, with all brackets. */
  putThrough(last: TextSegment, body: Buffer, at: number): number {
    const start = this.#start - this.bracket.length
    return at + this.#slab.copy(body, at, start, last.#start + last.length)
  }
}

/** The text of a message that has no other part. */
class WholeSegment extends TextSegment {
  override readonly whole = true
}

const SLAB_BYTES = 16 * 1024
/** A longer text has a buffer of its own, so that little of a slab stays empty. */
const LONG_TEXT = SLAB_BYTES / 8

let slab: Buffer = Buffer.alloc(0)
/** Where the free part of the slab starts. */
let slabUsed = 0

/** The slab, if it has so many free bytes, or a new one. */
function slabWith(length: number): Buffer {
  if (slabUsed + length <= slab.length) return slab
  slab = Buffer.allocUnsafeSlow(SLAB_BYTES)
  slabUsed = 0
  return slab
}

/** The same buffer for the same bracket: there are few, and a request has many segments. */
function bracketOf(text: string): Buffer {
  const known = BRACKETS.get(text)
  if (known !== undefined) return known
  const bracket = ownBytes(text)
  BRACKETS.set(text, bracket)
  return bracket
}

const BRACKETS = new Map<string, Buffer>()

/** In a buffer of its own: a slice of the shared pool of small buffers would keep the whole pool alive. */
function ownBytes(text: string): Buffer {
  return Buffer.from(UTF_8.encode(text).buffer)
}

const UTF_8 = new TextEncoder()

/** A file between two pieces of JSON, stored raw and encoded when it is written. */
export interface EmbeddedFile {
  readonly before: Buffer
  readonly file: Buffer
  readonly after: Buffer
  readonly form: Form
}

/** How a file is written into a body, and its length there. */
interface Form {
  readonly lengthOf: (file: Buffer) => number
  readonly write: (file: Buffer, buffer: Buffer, start: number) => number
}

const IN_BASE64: Form = { lengthOf: ({ length }) => base64Length(length), write: writeBase64 }
const AS_TEXT: Form = { lengthOf: jsonTextLength, write: writeJsonText }

/** Placeholder in JSON for the base64 of a file. No handle and no supported media type can contain it. */
export const BASE64 = '<base64>'

/** JSON with a file in place of the first `BASE64`. */
export function embedBase64(file: Buffer, json: string): EmbeddedFile {
  return around(BASE64, json, file, IN_BASE64)
}

/** Placeholder in JSON for a long text. No handle can contain it. */
const TEXT = '<text>'
/** Shorter texts are simply copied. */
const SHORT_TEXT = 64 * 1024

/**
 * JSON that contains the text of a file. A long text is only copied into the body. `json` must be pure and must not put other
 * file content before the text.
 */
export function embedText(file: Buffer, json: (text: string) => string): string | EmbeddedFile {
  // Invalid UTF-8 has to be converted first.
  if (file.length < SHORT_TEXT || !isUtf8(file)) return json(file.toString('utf8'))
  return around(TEXT, json(TEXT), file, AS_TEXT)
}

function around(place: string, json: string, file: Buffer, form: Form): EmbeddedFile {
  const at = json.indexOf(place)
  const [before, after] = [json.slice(0, at), json.slice(at + place.length)]
  return { before: ownBytes(before), file, after: ownBytes(after), form }
}

/** Keeps the raw file, which is shorter than its encoded form, and encodes it straight into each body. */
function fileSegment(facts: Omit<Segment, 'bytes' | 'length'>, shown: EmbeddedFile): Segment {
  const { before, file, after, form } = shown
  const length = before.length + form.lengthOf(file) + after.length
  const made: Segment = {
    ...facts,
    length,
    get bytes() {
      const bytes = Buffer.allocUnsafeSlow(length)
      putFile(shown, bytes, 0)
      return bytes
    },
  }
  FILES.set(made, shown)
  return made
}

const FILES = new WeakMap<Segment, EmbeddedFile>()

/** Writes segments with their brackets into a body at `at` and returns the offset of their end. */
export function putAll(segments: readonly Segment[], body: Buffer, at: number): number {
  let end = at
  for (let next = 0; next < segments.length;) {
    const one = segments[next++]
    if (!(one instanceof TextSegment)) {
      if (one !== undefined) end = putPlaced(one, body, end)
      continue
    }
    let last = one
    for (let other = segments[next]; ; other = segments[++next]) {
      if (!(other instanceof TextSegment) || !other.isBehind(last)) break
      last = other
    }
    end = one.putThrough(last, body, end)
  }
  return end
}

/** Writes a segment with its bracket into a body at `at` and returns the offset of its end. */
export function putPlaced(one: Segment, body: Buffer, at: number): number {
  const { bracket } = one
  // Most are one comma.
  if (bracket.length === 1) body[at] = bracket[0] ?? 0
  else body.set(bracket, at)
  return put(one, body, at + bracket.length)
}

/** The bytes that segments and their brackets have in a body. */
export function placedLength(segments: readonly Segment[]): number {
  let length = 0
  for (const one of segments) length += one.bracket.length + one.length
  return length
}

/** Writes a segment into a body at `at` and returns the offset of its end. */
export function put(one: Segment, body: Buffer, at: number): number {
  if (one instanceof TextSegment) return one.put(body, at)
  const shown = FILES.get(one)
  if (shown !== undefined) return putFile(shown, body, at)
  body.set(one.bytes, at)
  return at + one.length
}

function putFile({ before, file, after, form }: EmbeddedFile, body: Buffer, at: number): number {
  body.set(before, at)
  const end = form.write(file, body, at + before.length)
  body.set(after, end)
  return end + after.length
}

/** The text of a part; for a part without text, a sentence that says it is not shown. */
export function partText(part: Part): string {
  if (part.type === 'text') return part.text
  if (part.bytes === undefined || !isText(part.media_type)) {
    return noForm(part.handle, part.media_type)
  }
  return titledText(part.handle, part.bytes.toString('utf8'))
}

/** JSON that contains the text of a part. */
export function embedPartText(part: Part, json: (words: string) => string): string | EmbeddedFile {
  if (part.type === 'text' || part.bytes === undefined || !isText(part.media_type)) {
    return json(partText(part))
  }
  return embedText(part.bytes, (text) => json(titledText(part.handle, text)))
}

/** The text of an item that is one string, as a block that is all of its message. Its parts are retired together. */
export function stringBlock(
  { seq, parts }: { readonly seq: number; readonly parts: readonly Part[] },
  json: (text: string) => string,
): SegmentBlock[] {
  const shown = parts.filter((part) => !isBlank(part))
  const [first] = shown
  if (first === undefined) return []
  const text = shown.map(partText).join('\n\n')
  return [{ ...block('user', json(text), seq, first), whole: true }]
}

/** Whether the text of a part is only whitespace. */
export function isBlank(part: Part): boolean {
  if (part.type === 'text') return !hasWords(part.text)
  // A title is text, and so is the sentence for a part that is not shown.
  if (part.bytes === undefined || !isText(part.media_type) || part.handle !== undefined)
    return false
  return !hasWordsIn(part.bytes)
}

/** Vendors reject text that is only whitespace. */
export function hasWords(text: string): boolean {
  return text.trim() !== ''
}

/** Whether a file is text, by its media type. The bytes were checked when the file was added. */
export function isText(media_type: string): boolean {
  return media_type.startsWith('text/')
}

/** The image types that every vendor accepts. */
export function isImage(media_type: string): media_type is ImageType {
  const types: readonly string[] = IMAGES
  return types.includes(media_type)
}

const IMAGES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'] as const
type ImageType = (typeof IMAGES)[number]

/** Arguments as the model wrote them, made into what every vendor accepts: an object without lone surrogates. */
export function argumentsObject(text: string): string {
  if (text === '') return '{}'
  const read = parseJson(text)
  if (!isJsonObject(read) || !depthWithin(read, LIMITS.event_depth)) {
    return wellFormedJson({ unreadable_arguments: text })
  }
  // A lone surrogate can be hidden in an escape; JSON.stringify escapes no other surrogate.
  const halved = text.includes('\\u') && JSON.stringify(read).includes('\\ud')
  return halved ? wellFormedJson(read) : text
}

/** OpenAI rejects longer keys. Hashing keeps equal keys equal, which is all that matters. */
const CACHE_KEY_LENGTH = 64

export function fittingKey(key: string): string {
  return key.length <= CACHE_KEY_LENGTH ? key : sha256(key)
}
