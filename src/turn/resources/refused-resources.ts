import { parseJson } from '../../encoding/json.ts'
import type { RefusedMedia } from '../../model/error-cause.ts'
import type { ResourceId } from '../../model/ids.ts'
import type { Segment } from '../../model/segment.ts'
import type { ComposedRequest } from '../../request/compose-request.ts'

/**
 * The Resources of a request that its provider refused: the named one, or all of them if none can be identified. Empty
 * if the refusal had another reason.
 */
export function refusedResources(
  refused: RefusedMedia | undefined,
  request: ComposedRequest,
): readonly ResourceId[] {
  if (refused === undefined) return []
  const projected = new Set(request.projections.map(({ resource_id }) => resource_id))
  const shown = request.segments.filter(isMedia).filter(({ resource }) => projected.has(resource))
  const payload = refused.at === undefined ? undefined : payloadAt(request.body, refused.at)
  const named = payload === undefined ? [] : shown.filter(({ bytes }) => bytes.includes(payload))
  return [...new Set((named.length > 0 ? named : shown).map(({ resource }) => resource))]
}

/** Segments that can contain the bytes of a Resource. */
function isMedia(segment: Segment): segment is Segment & { readonly resource: ResourceId } {
  return segment.resource !== undefined && segment.lifetime !== 'stable'
}

/** Shorter texts are not unique. */
const LEAST_UNIQUE = 64

/** The longest text at a path in the vendor's notation, such as `messages.3.content.1` or `input[3].content[1]`. */
function payloadAt(body: Buffer, path: string): string | undefined {
  let value = parseJson(body.toString('utf8'))
  for (const step of path.split(/[.[\]]+/).filter((name) => name !== '')) {
    if (typeof value !== 'object' || value === null) break
    const next: unknown = Reflect.get(value, step)
    if (next === undefined) break
    value = next
  }
  const longest = longestText(value)
  return longest.length < LEAST_UNIQUE ? undefined : longest
}

function longestText(value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value !== 'object' || value === null) return ''
  return Object.values(value)
    .map(longestText)
    .reduce((longest, text) => (text.length > longest.length ? text : longest), '')
}
