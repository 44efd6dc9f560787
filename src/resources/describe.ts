import { binaryKind } from '../encoding/magic-bytes.ts'
import { systemClock, type Clock } from '../host/clock.ts'
import { LIMITS } from '../model/limits.ts'
import {
  IMAGE_FORMATS,
  type Describe,
  type Description,
  type Unreadable,
} from '../model/description.ts'
import { coloursOf } from './image/colours.ts'
import { imageHeader, type ImageHeader } from './image/header.ts'
import { loadDecoder, type LoadDecoder } from './image/pixels.ts'
import { pdfWords } from './pdf/pdf-facts.ts'

/** Describes bytes by their content. The declared type is only used to report a mismatch. */
export function describer({ load, clock }: DescriberParts): Describe {
  return async (bytes, media_type) => {
    if (bytes.length === 0) return unreadable('empty', 'it is empty')
    const header = imageHeader(bytes)
    if (header !== undefined) return image(bytes, header, { load, clock })
    if (PDF.test(bytes.toString('latin1', 0, PDF_WITHIN))) return pdfWords(bytes)
    const binary = binaryKind(bytes)
    const expected = EXPECTED.find(({ type }) => type.test(media_type))
    if (expected !== undefined)
      return unreadable(
        'type_mismatch',
        `it was declared as ${expected.as} but is ${binary ?? 'text'}`,
      )
    if (binary !== undefined) return unreadable('unsupported_type', `it is ${binary}`)
    return { kind: 'text', ...countText(bytes) }
  }
}

export interface DescriberParts {
  readonly load: LoadDecoder
  readonly clock: Clock
}

/** With the installed libraries. */
export const describe: Describe = describer({ load: once(loadDecoder), clock: systemClock })

const PDF = /^[\s\xef\xbb\xbf]*%PDF-\d/
/** Some programs write whitespace or a byte order mark before it. */
const PDF_WITHIN = 64

const EXPECTED = [
  { type: /^image\//, as: 'an image' },
  { type: /^application\/pdf$/, as: 'a PDF document' },
]

async function image(
  bytes: Buffer,
  { format, size }: ImageHeader,
  { load, clock }: DescriberParts,
): Promise<Description> {
  const name = IMAGE_FORMATS[format]
  const damaged = `it starts as a ${name} image but is damaged or truncated`
  if (size === undefined) return unreadable('corrupt', damaged)
  const { width, height } = size
  const longest = Math.max(width, height)
  if (width * height > LIMITS.image_pixels || longest > LIMITS.image_side_pixels) {
    const most = `${LIMITS.image_pixels / 1_000_000} megapixels and ${LIMITS.image_side_pixels} pixels per side`
    const why = `it is a ${name} image of ${width} by ${height} pixels, which exceeds the limit of ${most}`
    return unreadable('too_many_pixels', why)
  }
  const decode = await load()
  const facts = { kind: 'image', format, width, height } as const
  if (decode === undefined) return { ...facts, colours: [], regions: [], decoded: false }
  const started = clock.monotonicMs()
  const pixels = await decode(bytes)
  if (pixels !== undefined) return { ...facts, ...coloursOf(pixels), decoded: true }
  return clock.monotonicMs() - started < LIMITS.attachment_ms
    ? unreadable('corrupt', damaged)
    : unreadable('timeout', `decoding the ${name} image takes too long`)
}

/** Counts bytes: line and word separators are the same in every encoding that can occur here. */
function countText(bytes: Buffer): { lines: number; words: number } {
  let lines = bytes.at(-1) === NEWLINE ? 0 : 1
  let words = 0
  let inWord = false
  for (const byte of bytes) {
    if (byte === NEWLINE) lines += 1
    const blank = byte === 0x20 || (byte >= 0x09 && byte <= 0x0d)
    if (!blank && !inWord) words += 1
    inWord = !blank
  }
  return { lines, words }
}

const NEWLINE = 0x0a

function unreadable(code: Unreadable['code'], why: string): Unreadable {
  return { kind: 'unreadable', code, why }
}

function once(load: LoadDecoder): LoadDecoder {
  let loading: ReturnType<LoadDecoder> | undefined
  return () => (loading ??= load())
}
