import type { EventData } from '../../model/events/event.ts'
import type { Claim } from '../../policy/claim.ts'
import type { Decision } from '../../policy/decide.ts'
import type { TurnParts } from '../parts/turn-parts.ts'

/** What acts on Skills may access. Whatever was decided about them, they change nothing. */
export function readingContext(
  { tools, log }: TurnParts,
  claim: Claim,
  call_id: string,
): ReturnType<TurnParts['tools']['contextOf']> {
  const watching = (paths: EventData<'command_watched'>['paths']) =>
    log.commit([{ type: 'command_watched', data: { call_id, paths } }])
  return tools.contextOf({ call_id, decision: READ_ONLY, claim, watching })
}

const READ_ONLY: Decision = { answer: 'allow', reason: '', writable: 'nothing', offers: [] }

/** For an act that accesses nothing but the store. */
export const TOUCHES_NOTHING: Claim = {
  tool: 'skill_view',
  effect: 'none',
  paths: [],
  network: false,
}
