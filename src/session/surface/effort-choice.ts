import { quote } from '../../encoding/quote.ts'
import { failed, type Failed } from '../../model/errors.ts'
import type { Effort } from '../../model/settings.ts'
import type { SurfaceParts } from './surface-parts.ts'

interface ChosenEffort {
  readonly provider: string
  readonly model: string
  readonly effort?: string | undefined
}

type Catalogue = Pick<SurfaceParts['model'], 'factsOf' | 'dialectNameOf'>

/**
 * The reasoning efforts that a model can have, as far as the catalogue and the dialect say. A model may still refuse one of
 * them. Pure.
 */
function effortsOf(
  { factsOf, dialectNameOf }: Catalogue,
  { provider, model }: Pick<ChosenEffort, 'provider' | 'model'>,
): readonly Effort[] {
  if (factsOf(provider, model)?.reasoning === false) return ['none']
  // The vendor's own type of `output_config.effort`.
  if (dialectNameOf(provider) === 'messages') return ['low', 'medium', 'high', 'xhigh', 'max']
  return EFFORTS
}

const EFFORTS = [
  'none',
  'minimal',
  'low',
  'medium',
  'high',
  'xhigh',
  'max',
] as const satisfies readonly Effort[]

/** Why an effort cannot be chosen for a model; `undefined` if it can. Pure. */
export function unfitEffort(catalogue: Catalogue, chosen: ChosenEffort): Failed | undefined {
  const { provider, model, effort } = chosen
  const efforts = effortsOf(catalogue, chosen)
  if (effort === undefined || efforts.some((one) => one === effort)) return undefined
  const text = `Model ${quote(model)} of provider ${quote(provider).slice(1, -1)} has no effort ${effort}. Its efforts: ${efforts.join(', ')}.`
  return failed('invalid_args', text, { provider, model, effort, efforts }, [
    { action: 'Choose one of them, or another model.', command: 'hawser models' },
  ])
}
