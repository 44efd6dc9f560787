import type { ModelFacts, ModelRow } from '../../src/model/model-facts.ts'

/** The known models of the vendors. */
export interface VendorModels {
  readonly rows: (provider: string) => readonly Pick<ModelRow, 'id'>[]
  readonly factsOf: (provider: string, model: string) => ModelFacts | undefined
  readonly defaultOf: (provider: string) => string | undefined
}

/** The model's own name. It also answers requests for any other name. */
const OWN_NAME = 'rehearsal'

/** The vendors' creation dates are not known here. */
const LONG_AGO = 0

/** The list of models, in the vendor's format: the known ones. Other names work too. */
export function modelList(models: VendorModels, vendor: 'anthropic' | 'openai'): object {
  const names = new Set([OWN_NAME, ...models.rows(vendor).map(({ id }) => id)])
  const data = [...names].map((id) => modelNamed(id, vendor))
  if (vendor === 'openai') return { object: 'list', data }
  return { data, has_more: false, first_id: OWN_NAME, last_id: [...names].at(-1) ?? OWN_NAME }
}

export function modelNamed(id: string, vendor: 'anthropic' | 'openai'): object {
  if (vendor === 'openai') {
    return { id, object: 'model', created: LONG_AGO, owned_by: OWN_NAME }
  }
  return {
    type: 'model',
    id,
    display_name: id,
    created_at: '1970-01-01T00:00:00Z',
    capabilities: null,
    deprecated_at: null,
    lifecycle: 'active',
    line: null,
    max_input_tokens: null,
    max_tokens: null,
    retires_at: null,
  }
}
