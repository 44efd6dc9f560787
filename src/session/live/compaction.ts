import { pinnedTexts } from '../../context/carried-facts.ts'
import { compactionsInForce } from '../../history/history.ts'
import { surfaceAfter } from '../../history/surface-record.ts'
import { failed, ok, type Failed, type Result } from '../../model/errors.ts'
import type { EventData, WholeEvent } from '../../model/events/event.ts'
import { LIMITS } from '../../model/limits.ts'
import { utf8Bytes } from '../../model/shape.ts'
import { eventsOf } from '../reading/whole-session.ts'
import { compactLocked, type CompactionOutcome, type CompactOptions } from './locked-compaction.ts'
import type { LiveSession } from './live-session.ts'
import type { SessionParts } from './session-parts.ts'

/** Compacts a Session between Turns. See `compactLocked`. */
export async function compactSession(
  parts: SessionParts,
  session: LiveSession,
  { trigger = 'manual', ...options }: CompactOptions,
): Promise<Result<CompactionOutcome>> {
  return session.between((locked) => compactLocked(parts, session, { trigger, ...options }, locked))
}

/** What `undoCompaction` undid. */
export interface UndoneCompaction {
  readonly compaction_event_id: string
  /** The surface before the compaction is in force again. */
  readonly surface_restored: boolean
}

/** Undoes the last compaction in force, and the surface that it took over. */
export async function undoCompaction(session: LiveSession): Promise<Result<UndoneCompaction>> {
  return session.between(async ({ record }) => {
    const last = compactionsInForce(session.events).at(-1)
    if (last === undefined)
      return failed('not_found', 'Nothing to undo: no compaction is in force in this Session.')
    const { id: compaction_event_id } = last
    const surface = surfaceBefore(session.events, last)
    const recorded = await record([
      { type: 'compaction_undone', data: { compaction_event_id, reason: 'manual' } },
      ...(surface === undefined ? [] : [{ type: 'prompt_surface', data: surface } as const]),
    ])
    if (!recorded.ok) return recorded
    return ok({ compaction_event_id, surface_restored: surface !== undefined })
  })
}

/** The surface that a compaction replaced, if what it took over is still in force: a person may have changed the model. */
function surfaceBefore(
  events: readonly WholeEvent[],
  { seq, data: { tail, state } }: WholeEvent<'history_compaction'>,
): EventData<'prompt_surface'> | undefined {
  const taken = events.find((event) => event.seq === seq + 1)
  if (taken?.type !== 'prompt_surface' || taken.data.reason !== 'checkpoint') return undefined
  if (surfaceAfter(events)?.blob !== taken.data.blob) return undefined
  const between = events.filter((event) => event.seq >= tail.from_seq && event.seq < seq)
  const before = between.findLast((event) => event.type === 'prompt_surface')?.data
  const surface = before ?? state?.surface
  return surface === undefined ? undefined : { ...surface, reason: 'reload' }
}

/** Records text that every request and every checkpoint shows verbatim. */
export async function pinText(session: LiveSession, text: string): Promise<Result<void>> {
  if (text.trim() === '') return failed('invalid_args', 'The text to pin is empty.')
  return session.between(async ({ record }) => {
    const all = pinnedTexts(session.events)
    if (all.includes(text)) return ok(undefined)
    const pinned = all.reduce((sum, one) => sum + utf8Bytes(one), 0)
    const actual = utf8Bytes(text)
    const limit = LIMITS.pinned_text_bytes
    if (pinned + actual > limit) {
      const message = `The text has ${actual} bytes, and other pinned texts have ${pinned}; the limit is ${limit} in all.`
      return failed('too_large', message, { limit, actual, pinned })
    }
    return record([{ type: 'text_pinned', data: { text, by: 'person' } }])
  })
}

/** Removes a pin by its number in `pinnedTexts`, counted from 1. Returns its text. */
export async function unpinText(
  log: SessionParts['log'],
  session: LiveSession,
  number: number,
): Promise<Result<string>> {
  return session.between(async ({ record }) => {
    const pinned = pinnedTexts(session.events)
    const text = pinned[number - 1]
    if (text === undefined) return noSuchPin(session, number, pinned.length)
    const pins = await eventsOf(log, session, ['text_pinned'])
    if (!pins.ok) return pins
    const pin = pins.value.findLast(
      (event) => event.type === 'text_pinned' && event.data.text === text,
    )
    if (pin === undefined)
      return failed('log_damaged', 'The Event that pinned this text is not in the Log.')
    const data = { event_id: pin.id, text, by: 'person' } as const
    const recorded = await record([{ type: 'text_unpinned', data }])
    return recorded.ok ? ok(text) : recorded
  })
}

function noSuchPin({ id }: LiveSession, number: number, pinned: number): Failed {
  const has = pinned === 1 ? '1 pinned text' : `${pinned} pinned texts`
  return failed('not_found', `No pinned text ${number}: this Session has ${has}.`, { pinned }, [
    { action: 'List the pinned texts.', command: `hawser pin ${id}` },
  ])
}
