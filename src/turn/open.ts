import { overBudget } from '../context/over-budget.ts'
import { overLimitResources } from '../context/over-limit.ts'
import { costlyResources } from '../context/replay-cost.ts'
import { openWatches } from '../history/open-watch.ts'
import { pendingCommands } from '../history/person-commands.ts'
import { SessionResources, type SessionResource } from '../history/session-resources.ts'
import { visibleBytes } from '../history/visible-bytes.ts'
import { failed, ok, type Failed, type Result } from '../model/errors.ts'
import type { EventData, EventDraft } from '../model/events/event.ts'
import { LIMITS } from '../model/limits.ts'
import type { ResolvedMentions } from '../resources/mentions.ts'
import type { ResolvedAttachment } from '../resources/resolve-attachments.ts'
import { endTurn } from './end.ts'
import { sourceOf } from './parts/resource-names.ts'
import type { TurnParts } from './parts/turn-parts.ts'
import { lossDrafts } from './resources/unshown.ts'
import { permitUploads } from './resources/uploads.ts'
import type { ActivatedSkill } from './skills/activations.ts'
import { nothingUsable, userMessage } from './user-message.ts'

type LateContext = EventData<'late_context'>

/** Late context that differs from the last, and the texts of project instructions that follow it. */
export interface LateFacts {
  readonly context: LateContext
  readonly texts: readonly EventDraft<'project_instructions' | 'notice'>[]
}

/** The message of a Turn. What is absent does not belong to it. */
export interface TurnInput {
  readonly source: EventData<'turn_started'>['source']
  readonly text: string
  readonly attachments?: readonly ResolvedAttachment[]
  /** What the message mentions. */
  readonly mentions?: ResolvedMentions
  /** Handles in the person's message; each adds a view. */
  readonly views?: readonly string[]
  readonly piped?: string | undefined
  /** Facts that the presenter adds. Never authoritative. */
  readonly presenterContext?: EventData<'user_message'>['presenter_context'] | undefined
  /** Absent for a Turn of a person. */
  readonly purpose?: EventData<'turn_started'>['purpose']
  /** Skills that it activates, in this order. */
  readonly skills?: readonly ActivatedSkill[]
  readonly late?: LateFacts | undefined
}

/**
 * Opens a Turn: when this resolves, the person's message is durable. The opening Events are one write. A message that
 * cannot be sent to a model ends its Turn in the same write as refused.
 */
export async function openTurn(
  log: Pick<TurnParts['log'], 'events' | 'commit' | 'names' | 'resourceNamed'>,
  input: TurnInput,
): Promise<Result<void>> {
  const { source, text, attachments = [], views = [], piped, presenterContext, purpose } = input
  const { mentions = [], errors = [] } = input.mentions ?? {}
  const named = await namedResources(log, views)
  if (!named.ok) return named
  const empty = nothingToAsk(input, named.value)
  if (empty !== undefined) return empty
  const message = userMessage(
    text,
    attachments,
    (...facts) => log.names.name(...facts),
    sourceOf(source.presenter),
  )
  if (!message.ok) return message
  const data = {
    ...message.value,
    ...(piped === undefined ? {} : { piped }),
    ...(mentions.length === 0 ? {} : { mentions }),
    ...(errors.length === 0 ? {} : { mention_errors: errors }),
    ...(purpose === undefined ? pendingCommands(log.events()) : {}),
    ...(presenterContext === undefined ? {} : { presenter_context: presenterContext }),
  }
  const refused = views.length === 0 ? nothingUsable(data, attachments) : undefined
  if (refused !== undefined) {
    const ended = await endTurn(
      log,
      { how: 'refused', error: refused.error },
      openingDrafts(source, data),
    )
    return ended.ok ? refused : ended
  }
  // Views come before late context: with any, `prepareTurn` records it.
  const late = views.length === 0 ? input.late : undefined
  return log.commit(openingDrafts(source, data, late, purpose))
}

/** The opening Events of a Turn, in order. Pure. */
export function openingDrafts(
  source: TurnInput['source'],
  message: EventData<'user_message'>,
  late?: TurnInput['late'],
  purpose?: TurnInput['purpose'],
): EventDraft[] {
  return [
    { type: 'turn_started', data: { source, ...(purpose === undefined ? {} : { purpose }) } },
    { type: 'user_message', data: message },
    ...contextDrafts(late),
  ]
}

function contextDrafts(late: LateFacts | undefined): EventDraft[] {
  return late === undefined ? [] : [...lateDrafts(late.context), ...late.texts]
}

/** Late context, which may be recorded again during the Turn. */
export function lateDrafts(late: LateContext | undefined): EventDraft<'late_context'>[] {
  return late === undefined ? [] : [{ type: 'late_context', data: late }]
}

/**
 * Decides and records what else precedes the first request of a Turn: leftovers of a killed command, which old bytes
 * are retired, whether new ones may be sent, the person's views, late context, and the Skills of the message.
 */
export async function prepareTurn(
  parts: TurnParts,
  { views = [], skills = [], late, purpose }: Partial<TurnInput>,
): Promise<Result<void>> {
  const isLate = late !== undefined && views.length > 0
  const steps = [
    // Without tools, no command has to wait for a person to decide about the leftovers.
    () => (purpose === undefined ? settleKilled(parts) : ok(undefined)),
    () => permitUploads(parts),
    () => retireOld(parts, purpose),
    () => retireOverBudget(parts),
    () => showAgain(parts, views),
    () => (isLate ? parts.log.commit(contextDrafts(late)) : ok(undefined)),
    () => activateSkills(parts, skills),
  ]
  for (const step of steps) {
    const done = await step()
    if (!done.ok) return done
  }
  return ok(undefined)
}

/** Loaded only after a command was killed, which is rare. */
async function settleKilled(parts: TurnParts): Promise<Result<void>> {
  if (openWatches(parts.log.events()).length === 0) return ok(undefined)
  return (await import('./inspection.ts')).settleKilled(parts)
}

/**
 * Retires bytes that outlive their Turn when that is cheaper, and when the model accepts no more. For a summary nothing is
 * cheaper than the prefix as it is.
 */
async function retireOld(
  { log, model }: Pick<TurnParts, 'log' | 'model'>,
  purpose: TurnInput['purpose'],
): Promise<Result<void>> {
  const { events, turn, commit } = log
  const { replay, limits } = model.surface.params
  if (replay === 'attach-turn') return ok(undefined)
  const decides = replay === 'cost-aware' && purpose === undefined
  const costly = decides ? costlyResources(events(), turn) : []
  const drafts = costly.map(({ resource_id, estimate }): EventDraft => {
    return { type: 'resource_retired', data: { resource_id, why: 'cost', estimate } }
  })
  const retired = drafts.length === 0 ? ok(undefined) : await commit(drafts)
  if (!retired.ok) return retired
  const over = overLimitResources(events(), turn, limits).map((one): EventDraft => {
    return { type: 'resource_retired', data: { ...one, why: 'model_limit' } }
  })
  return over.length === 0 ? ok(undefined) : commit(over)
}

/** Retires bytes that do not fit into a request; bytes of this Turn have priority. */
async function retireOverBudget({
  log,
  model,
}: Pick<TurnParts, 'log' | 'model'>): Promise<Result<void>> {
  const { replay, limits } = model.surface.params
  const visible = visibleBytes(log.events(), { turn: log.turn, replay, limits })
  const figures = { limit: LIMITS.request_resource_bytes }
  const losses = overBudget(visible).map(({ resource, handle }) => {
    return { resource, handle, why: 'over_budget', figures } as const
  })
  return losses.length === 0
    ? ok(undefined)
    : log.commit(lossDrafts({ losses, variantFailures: [] }))
}

/** Loaded only if the message names a Resource. */
async function showAgain(parts: TurnParts, views: readonly string[]): Promise<Result<void>> {
  if (views.length === 0) return ok(undefined)
  return (await import('./resources/show-again.ts')).showAgain(parts, views)
}

/** Loaded only if the message activates a Skill. */
async function activateSkills(
  parts: TurnParts,
  skills: readonly ActivatedSkill[],
): Promise<Result<void>> {
  if (skills.length === 0) return ok(undefined)
  return (await import('./skills/activate.ts')).activateSkills(parts, skills)
}

/** The Resources that the message names; fails if one does not exist. */
async function namedResources(
  log: Pick<TurnParts['log'], 'events' | 'resourceNamed'>,
  views: readonly string[],
): Promise<Result<readonly SessionResource[]>> {
  const found: SessionResource[] = []
  const unknown: string[] = []
  for (const handle of views) {
    const resource = await log.resourceNamed(handle)
    if (!resource.ok) return resource
    if (resource.value === undefined) unknown.push(handle)
    else found.push(resource.value)
  }
  if (unknown.length === 0) return ok(found)
  const handles = new SessionResources(log.events()).all.map(({ descriptor }) => descriptor.handle)
  const details = { unknown, handles }
  return failed('not_found', 'No Resource with that handle in this Session.', details, [
    { action: 'List the Resources of the Session.', command: 'hawser resources latest' },
  ])
}

/** Links and dropped Resources are never shown: alone they are not a message. */
function isShown({ descriptor, goneBy }: SessionResource): boolean {
  return goneBy === undefined && descriptor.kind !== 'link' && descriptor.kind !== 'file'
}

function nothingToAsk(
  { text, attachments = [] }: TurnInput,
  named: readonly SessionResource[],
): Failed | undefined {
  if (text.trim() !== '' || attachments.length > 0 || named.some(isShown)) return undefined
  const message = 'The message is empty, and none of the named Resources can be shown.'
  return failed('invalid_args', message, {}, [{ action: 'Add text to the message.' }])
}
