import { SessionResources } from '../../history/session-resources.ts'
import { failed, ok, type Failed, type Result } from '../../model/errors.ts'
import type { EventData, EventDraft, WholeEvent } from '../../model/events/event.ts'
import type { Resolved } from '../../resources/resolve-attachments.ts'
import { NO_USAGE } from '../../turn/usage.ts'
import type { TurnParts } from '../../turn/turn-parts.ts'
import { nothingUsable, userMessage } from './attachments.ts'
import { sourceOf, type ResourceNames } from './resource-names.ts'
import type { SessionParts } from './session-parts.ts'

/** What a person asked, as far as it is known when their Turn begins. */
interface Asked {
  readonly text: string
  readonly resolved: readonly Resolved[]
  readonly views: readonly string[]
  readonly late: EventData<'late_context'> | undefined
  readonly names: ResourceNames
  readonly channel: string | undefined
  readonly piped: string | undefined
}

/** The Events that a Turn begins with. */
export interface Opening {
  readonly drafts: readonly EventDraft[]
  /** The Turn ends with them: nothing of it can be put to a model. */
  readonly refused?: Failed
  /** What the Turn records itself, before its first request: it has to be decided first, and the order is fixed. */
  readonly left: TurnParts['opening']
}

export function openingOf(
  { presenter }: SessionParts,
  events: readonly WholeEvent[],
  { text, resolved, views, late, names, channel, piped }: Asked,
): Result<Opening> {
  const unknown = unknownHandles(events, views)
  if (unknown !== undefined) return unknown
  if (text.trim() === '' && resolved.length === 0 && !anyShown(events, views)) return nothingToSee()
  const source = { presenter, ...(channel === undefined ? {} : { channel }) }
  const message = userMessage(
    text,
    resolved,
    (...facts) => names.name(...facts),
    sourceOf(presenter),
  )
  if (!message.ok) return message
  const data = { ...message.value, ...(piped === undefined ? {} : { piped }) }
  const asked: EventDraft[] = [
    { type: 'turn_started', data: { source } },
    { type: 'user_message', data },
  ]
  const refused = views.length === 0 ? nothingUsable(data, resolved) : undefined
  if (refused !== undefined) return ok({ drafts: [...asked, ended(refused)], refused, left: NONE })
  // What a person wants to see again stands before late context.
  if (views.length > 0) return ok({ drafts: asked, left: { views, late } })
  const told: EventDraft[] = late === undefined ? [] : [{ type: 'late_context', data: late }]
  return ok({ drafts: [...asked, ...told], left: NONE })
}

const NONE: TurnParts['opening'] = { views: [] }

/** Paths are the client's own: the Log has names in the message, and no more. */
function ended({ error: { kind, message } }: Failed): EventDraft {
  const error = { kind, message }
  return { type: 'turn_ended', data: { status: 'refused', error, usage_total: NO_USAGE } }
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

function nothingToSee(): Failed {
  const text =
    'There is nothing to ask: the message is blank, and what is to be seen cannot be shown.'
  return failed('invalid_args', text, {}, [{ action: 'Say what you want.' }])
}
