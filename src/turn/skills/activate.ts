import { failed, ok, type Result } from '../../model/errors.ts'
import type { EventDraft, WholeEvent } from '../../model/events/event.ts'
import type { TurnParts } from '../parts/turn-parts.ts'
import { RequestRoom } from '../resources/request-room.ts'
import { activationDraft, activeSkill, type ActivatedSkill } from './activations.ts'
import { hydrate } from './hydrate.ts'
import type { HydrationRequest } from './hydration-request.ts'
import { readingContext, TOUCHES_NOTHING } from './reading-context.ts'

/**
 * Activates the Skills of a message: first all activations, then what the message asks to hydrate, then what is hydrated with
 * every activation.
 */
export async function activateSkills(
  parts: TurnParts,
  skills: readonly ActivatedSkill[],
): Promise<Result<void>> {
  const { log, person } = parts
  const drafts: EventDraft[] = []
  for (const { skill, request } of skills) {
    const { name, args = '' } = request
    const context = readingContext(parts, TOUCHES_NOTHING, name)
    const draft = await activationDraft({ skill, args, by: 'user' }, context)
    if (!draft.ok) return draft
    drafts.push(draft.value)
  }
  const recorded = await log.commit(drafts)
  if (!recorded.ok) return recorded
  const requests = [
    ...skills.flatMap((one) => requestedHydrations(parts, one)),
    ...skills.flatMap((one) => automatic(parts, one)),
  ]
  for (const request of requests) {
    if (person.signal.aborted) break
    const hydrated = await new RequestRoom(parts).forCall((room) => hydrate(parts, request, room))
    const kept = hydrated.ok ? await log.commit(hydrated.value.record) : hydrated
    if (!kept.ok) return kept
  }
  return person.signal.aborted ? failed('interrupted', 'The Turn was interrupted.') : ok(undefined)
}

function requestedHydrations(
  { log }: TurnParts,
  { request, by }: ActivatedSkill,
): HydrationRequest[] {
  const skill = activeSkill(log.events(), log.turn, request.name)
  return (request.with ?? []).flatMap(({ id, args }) => {
    const source = skill?.data.context_sources?.find((one) => one.id === id)
    if (skill === undefined || source === undefined) return []
    return [{ skill, source, args, invokedBy: by }]
  })
}

function automatic({ log }: TurnParts, { request }: ActivatedSkill): HydrationRequest[] {
  const skill = activeSkill(log.events(), log.turn, request.name)
  const asked = new Set((request.with ?? []).map(({ id }) => id))
  return automaticRequests(skill).filter(({ source }) => !asked.has(source.id))
}

/** What is hydrated with an activation, without a request. */
export function automaticRequests(
  skill: WholeEvent<'skill_activation'> | undefined,
): HydrationRequest[] {
  if (skill === undefined) return []
  return (skill.data.context_sources ?? []).flatMap((source) =>
    source.auto === true ? [{ skill, source, args: undefined, invokedBy: 'auto' as const }] : [],
  )
}
