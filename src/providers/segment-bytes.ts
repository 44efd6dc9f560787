import { base64Between } from '../encoding/base64.ts'
import { sha256 } from '../encoding/hash.ts'
import { depthWithin, isJsonObject, parseJson, wellFormedJson } from '../encoding/json.ts'
import type { Part } from '../model/conversation.ts'
import { LIMITS } from '../model/limits.ts'
import type { Segment, SegmentRole } from '../model/segment.ts'
import { isText, notShown, titledText } from './said.ts'

/** A segment of a text, or of bytes that nobody else has; of the surface, unless it says which Event it is from. */
export function segment(
  role: SegmentRole,
  content: string | Buffer,
  seq = -1,
  { lifetime, resource }: Pick<Segment, 'lifetime' | 'resource'> = { lifetime: 'stable' },
): Segment {
  const bytes = typeof content === 'string' ? ownBytes(content) : content
  const owner = resource === undefined ? {} : { resource }
  return { role, bytes, seq, lifetime, ...owner }
}

/** In memory of their own: bytes in the pool of small buffers would keep all that lies beside them there. */
function ownBytes(text: string): Buffer {
  return Buffer.from(UTF_8.encode(text).buffer)
}

const UTF_8 = new TextEncoder()

/** Stands in JSON for the base64 of a file. No media type that is shown and no handle can hold it. */
export const BASE64 = '<base64>'

/** JSON that shows a file: its bytes stand in base64 where the text first says `BASE64`. */
export function showing(bytes: Buffer, json: string): Buffer {
  const at = json.indexOf(BASE64)
  return base64Between(json.slice(0, at), bytes, json.slice(at + BASE64.length))
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
