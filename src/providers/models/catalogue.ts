import type { ModelFacts, ModelRow } from '../../model/model-facts.ts'
import { TABLE, type ListedModel } from './table.ts'

/** What people say of models in their settings, by the id of a model. */
type Overrides = Readonly<Record<string, ModelFacts>>

/** What is known of models. Of one that nobody tells of, nothing is guessed. */
export interface Catalogue {
  /** The providers of the table. */
  readonly providers: readonly string[]
  /** The models of a provider, or all: those of the table, then those that only the settings tell of. */
  readonly rows: (provider?: string) => readonly ModelRow[]
  readonly factsOf: (provider: string, model: string) => ModelFacts | undefined
  /** The model of a provider for whoever names none. */
  readonly defaultOf: (provider: string) => string | undefined
}

/** The provider of rows that hold of whichever server knows such a model. */
const ANY_PROVIDER = 'any'

/**
 * The table, and over it what the user says. That counts fact by fact, the prices being one fact, for a model of that id at
 * every provider, and makes an id known that the table does not have. Pure.
 */
export function catalogue(overrides: Overrides): Catalogue {
  const said = new Map(Object.entries(overrides))
  const listed = TABLE.map(rowOf).map((row) => withFacts(row, said.get(row.id) ?? {}, 'settings'))
  const ids = new Set(listed.map(({ id }) => id))
  const added = [...said]
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
      return row?.facts ?? said.get(model)
    },
    defaultOf: (provider) => listed.find((row) => row.provider === provider && row.default)?.id,
  }
}

function rowOf({ provider, id, default: chosen, given }: ListedModel): ModelRow {
  let row: ModelRow = { ...bare(provider, id), default: chosen === true }
  for (const { source, facts } of given) row = withFacts(row, facts, source)
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
