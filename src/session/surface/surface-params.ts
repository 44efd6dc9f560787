import type { ModelFacts } from '../../model/model-facts.ts'
import type { SurfaceParams } from '../../model/surface.ts'
import { definedFields } from '../../model/fields/defined-fields.ts'
import type { DialectName } from '../../providers/provider.ts'
import type { ModelChoice, SurfaceParts } from './surface-parts.ts'

/**
 * The parameters besides the text that requests to a model depend on, from the current catalogue. They are frozen: later
 * catalogue changes apply only to later surfaces.
 */
export function surfaceParams(
  { factsOf, dialectNameOf, limits, effort: usual, replay = 'attach-turn' }: SurfaceParts['model'],
  { provider, model, effort = usual }: ModelChoice,
): SurfaceParams {
  const facts = factsOf(provider, model) ?? {}
  const { late_role, reasoning, cache_key, images, files } = facts
  const dialect = dialectNameOf(provider)
  return {
    replay,
    late_role: late_role ?? (dialect === undefined ? 'developer' : LATE_ROLES[dialect]),
    ...definedFields({ effort }),
    tool_choice: 'auto',
    ...definedFields({ reasoning, cache_key, images }),
    // An unknown compatible server may not accept PDF files.
    ...(files === undefined ? (dialect === 'chat' ? { files: false } : {}) : { files }),
    limits: { provider_calls: limits.provider_calls, ...modelLimits(facts) },
  }
}

/** The roles that every server of a dialect accepts, for models that are not in the catalogue. */
const LATE_ROLES: Readonly<Record<DialectName, string>> = {
  responses: 'developer',
  messages: 'user',
  chat: 'system',
  rehearsal: 'developer',
}

const LIMITING = [
  'output_tokens',
  'image_base64_bytes',
  'image_side_pixels',
  'image_count',
  'request_bytes',
] as const

function modelLimits(facts: ModelFacts): Record<string, number> {
  return Object.fromEntries(
    LIMITING.flatMap((name) => {
      const limit = facts[name]
      return limit === undefined ? [] : [[name, limit]]
    }),
  )
}
