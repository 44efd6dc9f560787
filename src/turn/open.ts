import type { BlobStore } from '../blobs/store.ts'
import { overLimitResources } from '../context/over-limit.ts'
import { costlyResources } from '../context/replay-cost.ts'
import { openWatches } from '../history/open-watch.ts'
import { SessionResources, type SessionResource } from '../history/session-resources.ts'
import { failed, ok, type Failed, type Result } from '../model/errors.ts'
import type { EventData, EventDraft, WholeEvent } from '../model/events/event.ts'
import type { Resolved } from '../resources/resolve-attachments.ts'
import { notViewable, viewOf } from '../tools/resource-view.ts'
import { endTurn } from './end.ts'
import { sourceOf } from './resource-names.ts'
import { toolResources } from './tool-resources.ts'
import type { TurnParts } from './turn-parts.ts'
import { permitUploads } from './uploads.ts'
import { nothingUsable, userMessage } from './user-message.ts'

/** What a person asks, as far as it is known when their Turn opens. */
export interface TurnInput {
  readonly source: EventData<'turn_started'>['source']
  readonly text: string
  readonly resolved: readonly Resolved[]
  /** Handles that the person wrote: each is a view. */
  readonly views: readonly string[]
  readonly late: EventData<'late_context'> | undefined
  readonly piped: string | undefined
}

/** What is still to be recorded before the first request, in this order: it has to be decided first. */
export interface Unrecorded extends Pick<TurnInput, 'views' | 'late'> {}

/**
 * Opens a Turn: when this answers, the person's request is durable. The Events that open it are one write. A request of which
 * nothing can be put to a model ends its Turn in that same write, and is refused.
 */
export async function openTurn(
  log: Pick<TurnParts['log'], 'events' | 'commit' | 'names'>,
  input: TurnInput,
): Promise<Result<Unrecorded>> {
  const { source, text, resolved, views, late, piped } = input
  const empty = unknownHandles(log.events(), views) ?? nothingToAsk(log.events(), input)
  if (empty !== undefined) return empty
  const message = userMessage(
    text,
    resolved,
    (...facts) => log.names.name(...facts),
    sourceOf(source.presenter),
  )
  if (!message.ok) return message
  const data = { ...message.value, ...(piped === undefined ? {} : { piped }) }
  const refused = views.length === 0 ? nothingUsable(data, resolved) : undefined
  if (refused !== undefined) {
    const ended = await endTurn(
      log,
      { how: 'refused', error: refused.error },
      openingDrafts(source, data),
    )
    return ended.ok ? refused : ended
  }
  // What a person wants to see again stands before late context.
  const now = views.length === 0 ? late : undefined
  const recorded = await log.commit(openingDrafts(source, data, now))
  if (!recorded.ok) return recorded
  return ok({ views, late: views.length === 0 ? undefined : late })
}

/** The Events that open a Turn, in order. Pure. */
export function openingDrafts(
  source: TurnInput['source'],
  message: EventData<'user_message'>,
  late?: TurnInput['late'],
): EventDraft<'turn_started' | 'user_message' | 'late_context'>[] {
  return [
    { type: 'turn_started', data: { source } },
    { type: 'user_message', data: message },
    ...lateDrafts(late),
  ]
}

function lateDrafts(late: TurnInput['late']): EventDraft<'late_context'>[] {
  return late === undefined ? [] : [{ type: 'late_context', data: late }]
}

/**
 * Everything else that is decided and recorded before a Turn's first request: what a killed command left, which old bytes are
 * shown no longer, whether new ones may be, and what the person wants to be seen again.
 */
export async function prepareTurn(
  parts: TurnParts,
  { views, late }: Unrecorded,
): Promise<Result<void>> {
  const steps = [
    () => settleKilled(parts),
    () => permitUploads(parts),
    () => retireOld(parts),
    () => showAgain(parts, views),
    () => (late === undefined ? ok(undefined) : parts.log.commit(lateDrafts(late))),
  ]
  for (const step of steps) {
    const done = await step()
    if (!done.ok) return done
  }
  return ok(undefined)
}

/** Loaded where a command was killed, which is rare. */
async function settleKilled(parts: TurnParts): Promise<Result<void>> {
  if (openWatches(parts.log.events()).length === 0) return ok(undefined)
  return (await import('./inspection.ts')).settleKilled(parts)
}

/** What stays for longer than its Turn goes when that is cheaper, and when the model takes no more. */
async function retireOld({ log, model }: Pick<TurnParts, 'log' | 'model'>): Promise<Result<void>> {
  const { events, turn, commit } = log
  const { replay, limits } = model.surface.params
  if (replay === 'attach-turn') return ok(undefined)
  const costly = replay === 'cost-aware' ? costlyResources(events(), turn) : []
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

/** In the order of handles, behind the person's message. */
async function showAgain(parts: TurnParts, views: readonly string[]): Promise<Result<void>> {
  if (views.length === 0) return ok(undefined)
  const { log } = parts
  const known = new SessionResources(log.events())
  for (const resource of known.all) {
    if (!views.includes(resource.descriptor.handle)) continue
    const drafts = await viewDrafts(parts, resource)
    const recorded = drafts.ok ? await log.commit(drafts.value) : drafts
    if (!recorded.ok) return recorded
  }
  return ok(undefined)
}

async function viewDrafts(
  parts: TurnParts,
  resource: SessionResource,
): Promise<Result<readonly EventDraft[]>> {
  const why = notViewable(resource)
  if (why === undefined) {
    const { store } = parts.log
    const context = {
      resources: toolResources(parts),
      keep: (bytes: Parameters<BlobStore['put']>[0], type: string) => store.put(bytes, type),
    }
    const viewed = await viewOf(resource, {}, context)
    return viewed.ok
      ? ok([{ type: 'resource_view', data: { ...viewed.value, by: 'person' } }])
      : viewed
  }
  const { resource_id, handle } = resource.descriptor
  const view = { resource_id, handle, by: 'person', outcome: 'denied' } as const
  const notice = notShown(why.message)
  return ok(
    resource.gone === undefined ? [notice] : [{ type: 'resource_view', data: view }, notice],
  )
}

function notShown(text: string): EventDraft {
  return { type: 'notice', data: { code: 'resource_not_shown', text } }
}

function unknownHandles(
  events: readonly WholeEvent[],
  views: readonly string[],
): Failed | undefined {
  if (views.length === 0) return undefined
  const known = new SessionResources(events)
  const unknown = views.filter((handle) => known.byHandle(handle) === undefined)
  if (unknown.length === 0) return undefined
  const handles = known.all.map(({ descriptor }) => descriptor.handle)
  const details = { unknown, handles }
  return failed('not_found', 'This Session has no Resource of that handle.', details, [
    { action: 'See what it has.', command: 'hawser resources latest' },
  ])
}

/** A link, and what is gone, are never shown: alone they are nothing to ask about. */
function anyShown(events: readonly WholeEvent[], views: readonly string[]): boolean {
  const known = new SessionResources(events)
  return views.some((handle) => {
    const { descriptor, gone } = known.byHandle(handle) ?? {}
    return gone === undefined && descriptor?.kind !== 'link' && descriptor?.kind !== 'file'
  })
}

function nothingToAsk(
  events: readonly WholeEvent[],
  { text, resolved, views }: TurnInput,
): Failed | undefined {
  if (text.trim() !== '' || resolved.length > 0 || anyShown(events, views)) return undefined
  const message =
    'There is nothing to ask: the message is blank, and what is to be seen cannot be shown.'
  return failed('invalid_args', message, {}, [{ action: 'Say what you want.' }])
}
