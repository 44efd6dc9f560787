import type { ModelFacts, ModelRow } from '../../model/model-facts.ts'
import { TABLE, type ListedModel } from './table.ts'

/** Model facts from the user's settings, by model id. */
type Overrides = Readonly<Record<string, ModelFacts>>

/** The known models. Nothing is guessed about a model that is not listed. */
export interface Catalogue {
  /** The providers of the table. */
  readonly providers: readonly string[]
  /** The models of a provider, or all: those of the table, then those only in the settings. */
  readonly rows: (provider?: string) => readonly ModelRow[]
  readonly factsOf: (provider: string, model: string) => ModelFacts | undefined
  /** The default model of a provider. */
  readonly defaultOf: (provider: string) => string | undefined
}

/** The provider of models that only the settings describe; they apply to every provider. */
const ANY_PROVIDER = 'any'

/**
 * The table with the user's settings on top. A setting replaces single facts (all prices together are one fact) of a model with
 * that id at every provider, and adds models that the table does not have. Pure.
 */
export function catalogue(overrides: Overrides): Catalogue {
  const settings = new Map(Object.entries(overrides))
  const listed = TABLE.map(rowOf).map((row) =>
    withFacts(row, settings.get(row.id) ?? {}, 'settings'),
  )
  const ids = new Set(listed.map(({ id }) => id))
  const added = [...settings]
    .filter(([id]) => !ids.has(id))
    .map(([id, facts]) => withFacts(bare(ANY_PROVIDER, id), facts, 'settings'))
  return {
    providers: [...new Set(listed.map(({ provider }) => provider))],
    rows: (provider) => [
      ...listed.filter((row) => provider === undefined || row.provider === provider),
      ...added,
    ],
    factsOf: (provider, model) => {
      const row = listed.find((one) => one.provider === provider && one.id === model)
      return row?.facts ?? settings.get(model)
    },
    defaultOf: (provider) => listed.find((row) => row.provider === provider && row.default)?.id,
  }
}

function rowOf({ provider, id, default: chosen, sources: sourced }: ListedModel): ModelRow {
  let row: ModelRow = { ...bare(provider, id), default: chosen === true }
  for (const { source, facts } of sourced) row = withFacts(row, facts, source)
  return row
}

function bare(provider: string, id: string): ModelRow {
  return { provider, id, default: false, facts: {}, sources: {} }
}

function withFacts(row: ModelRow, facts: ModelFacts, source: string): ModelRow {
  const sources: Record<string, string> = { ...row.sources }
  for (const name of Object.keys(facts)) sources[name] = source
  return { ...row, facts: { ...row.facts, ...facts }, sources }
}
