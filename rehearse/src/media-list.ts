import { isBase64 } from '../../src/encoding/base64.ts'
import { binaryKind } from '../../src/encoding/magic-bytes.ts'
import type { ModelFacts } from '../../src/model/model-facts.ts'
import type { Media } from './dialect.ts'
import { notRehearsed, wrong, type WireRefusal } from './rules/refusal.ts'
import type { ValuePath } from './rules/schema-problems.ts'

const IMAGES: ReadonlyMap<string, string> = new Map([
  ['image/png', 'a PNG image'],
  ['image/jpeg', 'a JPEG image'],
  ['image/gif', 'a GIF image'],
  ['image/webp', 'a WebP image'],
])
const PDF = 'application/pdf'

/** Collects the pictures and documents of a request, and the first refusal. */
export class MediaList {
  readonly #limits: ModelFacts
  readonly media: Media[] = []
  #refusal: WireRefusal | undefined

  constructor(limits: ModelFacts) {
    this.#limits = limits
  }

  get refusal(): WireRefusal | undefined {
    return this.#refusal
  }

  /** The bytes of a picture; `undefined` if it is refused. */
  image(at: ValuePath, media_type: string, base64: string): Buffer | undefined {
    const most = this.#limits.image_base64_bytes ?? Infinity
    if (!IMAGES.has(media_type)) {
      const types = [...IMAGES.keys()].join(', ')
      const message = `the image has an unsupported media type; it must be one of ${types}`
      return this.refuse(wrong(at, message, 'unsupported_image_media_type'))
    }
    if (base64.length > most) {
      const message = `the image exceeds ${most} bytes of base64: it has ${base64.length}`
      return this.refuse(wrong(at, message, 'image_too_large'))
    }
    return this.#take(at, media_type, base64, IMAGES.get(media_type))
  }

  /** The bytes of a document; `undefined` if it is refused. */
  file(at: ValuePath, media_type: string, base64: string): Buffer | undefined {
    return this.#take(at, media_type, base64, media_type === PDF ? 'a PDF document' : undefined)
  }

  /** The picture in a data URL. Other URLs are refused, because nothing is ever fetched. */
  imageUrl(at: ValuePath, url: string): { media_type: string; bytes: Buffer } | undefined {
    const data = dataUrl(url)
    if (data === undefined) {
      const message =
        'the image could not be downloaded: the rehearsal model accepts data URLs only'
      return this.refuse(wrong(at, message, 'failed_to_download_image'))
    }
    const bytes = this.image(at, data.media_type, data.base64)
    return bytes === undefined ? undefined : { media_type: data.media_type, bytes }
  }

  /** The document in a data URL. */
  fileUrl(at: ValuePath, url: string): { media_type: string; bytes: Buffer } | undefined {
    const data = dataUrl(url)
    if (data === undefined) {
      return this.refuse(wrong(at, 'the file data is not a valid data URL', 'invalid_file'))
    }
    const bytes = this.file(at, data.media_type, data.base64)
    return bytes === undefined ? undefined : { media_type: data.media_type, bytes }
  }

  /** Refuses files by id and documents by URL, which only the vendor can load. */
  elsewhere(at: ValuePath): undefined {
    return this.refuse(notRehearsed(at, 'does not fetch URLs or store files'))
  }

  refuse(refusal: WireRefusal): undefined {
    this.#refusal ??= refusal
  }

  #take(
    at: ValuePath,
    media_type: string,
    base64: string,
    wanted: string | undefined,
  ): Buffer | undefined {
    const what = wanted === undefined ? 'file' : (wanted.split(' ').at(-1) ?? 'file')
    if (base64 === '' || !isBase64(base64)) {
      const code = what === 'image' ? 'invalid_base64_image' : 'invalid_file'
      return this.refuse(wrong(at, `the ${what} is not valid base64`, code))
    }
    const bytes = Buffer.from(base64, 'base64')
    const found = binaryKind(bytes) ?? 'text'
    if (wanted !== undefined && found !== wanted) {
      const message = `the ${what} does not match the media type ${media_type}: it is ${found}`
      const code = what === 'image' ? 'invalid_image_format' : 'invalid_file'
      return this.refuse(wrong(at, message, code))
    }
    this.media.push({ at, media_type, bytes })
    return bytes
  }
}

function dataUrl(url: string): { media_type: string; base64: string } | undefined {
  const comma = url.indexOf(',')
  const [, media_type] = /^data:([\w.+-]+\/[\w.+-]+);base64$/.exec(url.slice(0, comma)) ?? []
  return media_type === undefined ? undefined : { media_type, base64: url.slice(comma + 1) }
}
