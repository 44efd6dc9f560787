import { LOSSES } from '../../../src/model/events/loss.ts'
import { lossReason } from '../../../src/prompt/words/resources.ts'
import type { WholeEvent } from '../api/shapes.ts'

type Losses = ReadonlyMap<string, string>

/** What a model did not get, with the words that people read. A refusal of the provider says more than what follows from it. */
export function lossIn(event: WholeEvent, before: Losses): Losses {
  if (event.type === 'resource_quarantined') {
    const { resource_id, provider_error } = event.data
    const words = `Quarantined: the provider refused it (${provider_error.message})`
    return new Map([...before, [resource_id, words]])
  }
  if (event.type !== 'resource_retired') return before
  const { resource_id, why, estimate } = event.data
  const loss = LOSSES.find((one) => one === why)
  if (loss === undefined || (loss === 'refused' && before.has(resource_id))) return before
  const words = MISSING.get(loss) ?? `Withheld: ${lossReason({ why: loss, figures: estimate })}`
  return new Map([...before, [resource_id, words]])
}

const MISSING: ReadonlyMap<string, string> = new Map([
  ['payload_missing', 'Missing: its stored bytes are gone'],
  ['payload_damaged', 'Missing: its stored bytes are damaged'],
])
