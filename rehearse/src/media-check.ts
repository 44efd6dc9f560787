import { sha256 } from '../../src/encoding/hash.ts'
import type { ModelFacts } from '../../src/model/model-facts.ts'
import type { Describe, Description } from '../../src/model/description.ts'
import type { Media } from './dialect.ts'
import { wrong, type WireRefusal } from './rules/refusal.ts'

const MOST_DESCRIPTIONS = 256

/** Caches descriptions, because every call of a Turn repeats the same bytes. */
export function rememberedDescriptions(describe: Describe): Describe {
  const known = new Map<string, Promise<Description>>()
  return (bytes, media_type) => {
    const key = `${media_type} ${sha256(bytes)}`
    const description = known.get(key) ?? describe(bytes, media_type)
    known.delete(key)
    known.set(key, description)
    for (const oldest of known.keys()) {
      if (known.size <= MOST_DESCRIPTIONS) break
      known.delete(oldest)
    }
    return description
  }
}

/** The longest side allowed for an image when a request exceeds the usual number of images. */
const SIDE_OF_MANY = 2_000

/** The refusal that a vendor would send for bytes that cannot be decoded or for a picture that is too large. */
export async function refusedMedia(
  media: readonly Media[],
  facts: ModelFacts,
  describe: Describe,
): Promise<WireRefusal | undefined> {
  const images = media.filter(({ media_type }) => media_type.startsWith('image/')).length
  const many = images > (facts.image_count ?? Infinity)
  const longest = many ? SIDE_OF_MANY : (facts.image_side_pixels ?? Infinity)
  for (const { at, media_type, bytes } of media) {
    const description = await describe(bytes, media_type)
    if (description.kind === 'unreadable') {
      const [what, code] = media_type.startsWith('image/')
        ? ['image', 'image_parse_error']
        : ['document', 'invalid_file']
      return wrong(at, `the ${what} could not be processed: ${description.why}`, code)
    }
    if (description.kind === 'image' && Math.max(description.width, description.height) > longest) {
      const size = `${description.width} by ${description.height} pixels`
      const message = `the image exceeds ${longest} pixels per side: it is ${size}`
      return wrong(at, message, 'image_too_large')
    }
  }
  return undefined
}
