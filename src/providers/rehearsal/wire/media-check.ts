import { sha256 } from '../../../encoding/hash.ts'
import type { ModelFacts } from '../../../model/model-facts.ts'
import type { Describe, Sight } from '../../../model/sight.ts'
import type { Media } from './dialect.ts'
import { wrong, type WireRefusal } from './rules/refusal.ts'

const MOST_SIGHTS = 256

/** The same bytes come with every call of a Turn, and are looked at once. */
export function rememberedSights(describe: Describe): Describe {
  const known = new Map<string, Promise<Sight>>()
  return (bytes, media_type) => {
    const key = `${media_type} ${sha256(bytes)}`
    const sight = known.get(key) ?? describe(bytes, media_type)
    known.delete(key)
    known.set(key, sight)
    for (const oldest of known.keys()) {
      if (known.size <= MOST_SIGHTS) break
      known.delete(oldest)
    }
    return sight
  }
}

/** When more images than usual are sent, none may have a longer side. */
const SIDE_OF_MANY = 2_000

/** Why a vendor would refuse what it is shown: bytes that cannot be decoded, and pictures that are too large. */
export async function refusedMedia(
  media: readonly Media[],
  facts: ModelFacts,
  describe: Describe,
): Promise<WireRefusal | undefined> {
  const images = media.filter(({ media_type }) => media_type.startsWith('image/')).length
  const many = images > (facts.image_count ?? Infinity)
  const longest = many ? SIDE_OF_MANY : (facts.image_side_pixels ?? Infinity)
  for (const { at, media_type, bytes } of media) {
    const sight = await describe(bytes, media_type)
    if (sight.kind === 'unreadable') {
      const [what, code] = media_type.startsWith('image/')
        ? ['image', 'image_parse_error']
        : ['document', 'invalid_file']
      return wrong(at, `the ${what} could not be processed: ${sight.why}`, code)
    }
    if (sight.kind === 'image' && Math.max(sight.width, sight.height) > longest) {
      const size = `${sight.width} by ${sight.height} pixels`
      const message = `the image exceeds ${longest} pixels a side: it has ${size}`
      return wrong(at, message, 'image_too_large')
    }
  }
  return undefined
}
