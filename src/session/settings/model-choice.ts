import { quote } from '../../encoding/quote.ts'
import { failed, ok, type Result } from '../../model/errors.ts'
import type { ModelRow } from '../../model/model-facts.ts'
import { OFFLINE_PROVIDER, REMOTE_PROVIDERS } from '../../model/remote-providers.ts'
import { nearest } from './nearest.ts'

export interface NamedModel {
  readonly provider: string
  readonly model: string
}

/**
 * Checks the model that a person named: nothing if it is known, a warning if it is not, and an error if it belongs only
 * to another provider. A provider for any server accepts any model. Pure.
 */
export function judgeModel(
  { provider, model }: NamedModel,
  rows: readonly ModelRow[],
): Result<string | undefined> {
  const owners = rows.filter(({ id }) => id === model).map((row) => row.provider)
  const known = owners.includes(provider) || owners.includes(ANY)
  if (known) return ok(undefined)
  const [owner] = owners
  if (owner !== undefined && !isAnyServer(provider)) return ofAnother(owner, { provider, model })
  // The offline model answers to any name.
  if (provider === OFFLINE_PROVIDER) return ok(undefined)
  const own = rows.filter((row) => row.provider === provider || row.provider === ANY)
  const hint = suggestion(model, [...new Set(own.map(({ id }) => id))])
  const text = `Model ${quote(model)} is not in the catalogue of provider ${visibleName(provider)}.`
  return ok(`${text}${hint} It is used as named. (hawser models)`)
}

/** A warning about a model that is stored without a provider and is in no catalogue. Pure. */
export function unknownModel(model: string, rows: readonly ModelRow[]): string | undefined {
  const ids = [...new Set(rows.map(({ id }) => id))]
  if (ids.includes(model) || model === OFFLINE_PROVIDER) return undefined
  return `Model ${quote(model)} is not in the catalogue.${suggestion(model, ids)} It is stored as named. (hawser models)`
}

/** The provider of catalogue rows that apply to every provider. */
const ANY = 'any'
const MOST_NEAR = 3

/** On one line, without quotes. */
function visibleName(provider: string): string {
  return quote(provider).slice(1, -1)
}

function isAnyServer(provider: string): boolean {
  const remote = Object.entries(REMOTE_PROVIDERS).find(([name]) => name === provider)?.[1]
  return remote?.any_server === true
}

function ofAnother(owner: string, { provider, model }: NamedModel): Result<never> {
  const text = `Model ${quote(model)} belongs to provider ${owner}, not to ${visibleName(provider)}.`
  return failed('model_not_found', text, { provider, model, known_provider: owner }, [
    { action: 'Use it with its own provider:', command: `--provider ${owner} --model ${model}` },
    { action: 'In a chat:', command: `/model ${owner} ${model}` },
  ])
}

function suggestion(typed: string, ids: readonly string[]): string {
  const near = closest(typed, ids)
  return near.length === 0 ? '' : ` Did you mean ${near.join(' or ')}?`
}

/** Names that contain the typed text, or else the nearest one. */
function closest(typed: string, ids: readonly string[]): readonly string[] {
  const part = typed.toLowerCase()
  const holding = part.length < 3 ? [] : ids.filter((id) => id.toLowerCase().includes(part))
  if (holding.length > 0) return holding.slice(0, MOST_NEAR)
  const near = nearest(typed, ids)
  return near === undefined ? [] : [near]
}
