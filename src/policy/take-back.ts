import type { EventData, EventDraft, KnownEvent, LoggedEvent } from '../model/events/event.ts'
import { notice } from '../model/events/notice.ts'
import type { PermissionMode, SessionMode } from '../model/modes.ts'

/** What is in force. */
interface Settings {
  mode: SessionMode
  permission_mode: PermissionMode
  provider: string
  model: string
}
interface InForce extends Readonly<Settings> {
  readonly surface?: EventData<'prompt_surface'> | undefined
}

/**
 * The Events that undo what `lines` claim to widen, although no head covers them: a writer was killed before it
 * acknowledged them, or another program wrote them. `state` is what is in force instead. Empty if it differs from no claim.
 * Pure.
 */
export function takeBack(state: InForce, lines: readonly LoggedEvent[]): readonly EventDraft[] {
  const events = lines.flatMap(({ isKnown, event }) => (isKnown ? [event] : []))
  const parts = [
    settingsBack(state, events),
    consentsBack(state, events),
    checkpointsBack(events),
    surfaceBack(state, events),
  ]
  const drafts = parts.flatMap((part) => part.drafts)
  if (drafts.length === 0) return []
  const claimed = parts.flatMap((part) => part.claims)
  // The notice is first: a crash that tears the write may lose the Events after it, which the next holder of the lock repeats
  // with another notice. A notice after them would be lost permanently.
  return [notVouched(state, claimed), ...drafts]
}

/** Events, and the words for what they undo. */
interface TakenBack {
  readonly drafts: readonly EventDraft[]
  readonly claims: readonly string[]
}

const NOTHING: TakenBack = { drafts: [], claims: [] }

const NAMES = {
  permission_mode: 'permission mode',
  mode: 'mode',
  provider: 'provider',
  model: 'model',
} as const satisfies Record<keyof Settings, string>

/** The modes and the model that the lines leave. */
function settingsBack(state: InForce, events: readonly KnownEvent[]): TakenBack {
  const claims: Partial<Settings> = {}
  for (const { type, data } of events) {
    if (type !== 'session_started' && type !== 'session_settings') continue
    const { mode, permission_mode, provider, model } = data
    if (mode !== undefined) claims.mode = mode
    if (permission_mode !== undefined) claims.permission_mode = permission_mode
    if (provider !== undefined) claims.provider = provider
    if (model !== undefined) claims.model = model
  }
  const { mode, permission_mode, provider, model } = state
  const differs = (name: keyof Settings) =>
    claims[name] !== undefined && claims[name] !== state[name]
  const isModel = differs('provider') || differs('model')
  const data = {
    ...(isModel ? { provider, model } : {}),
    ...(differs('mode') ? { mode } : {}),
    ...(differs('permission_mode') ? { permission_mode } : {}),
  }
  if (Object.keys(data).length === 0) return NOTHING
  const names = (['permission_mode', 'mode', 'provider', 'model'] as const).filter(differs)
  return {
    drafts: [{ type: 'session_settings', data }],
    claims: names.map((name) => `${NAMES[name]} ${claims[name]}`),
  }
}

/** As if the question had not been answered: nothing is withheld, and the person is asked again. */
function consentsBack({ provider }: InForce, events: readonly KnownEvent[]): TakenBack {
  const given = events.flatMap((event) =>
    event.type === 'permission_decision' ? [event.data] : [],
  )
  const drafts = given.map(({ call_id, subject, args_sha256, mode }): EventDraft => {
    // Naming the provider, even the same one, ends every consent.
    if (subject === undefined || args_sha256 === undefined)
      return { type: 'session_settings', data: { provider } }
    const about = { ...(call_id === undefined ? {} : { call_id }), subject, args_sha256, mode }
    const unanswered = { decision: 'denied', scope: 'once', by: 'interrupt' } as const
    return { type: 'permission_decision', data: { ...about, ...unanswered } }
  })
  return {
    drafts,
    claims: given.map(({ subject = 'a subject in a blob' }) => `a yes to ${subject}`),
  }
}

function checkpointsBack(events: readonly KnownEvent[]): TakenBack {
  const drafts = events.flatMap((event): EventDraft[] =>
    event.type === 'history_compaction'
      ? [
          {
            type: 'compaction_undone',
            data: { compaction_event_id: event.id, reason: 'not_vouched' },
          },
        ]
      : [],
  )
  return { drafts, claims: drafts.map(() => 'a checkpoint') }
}

/** The surface of before, if the lines name another one. New prompt texts alone are recorded again by the next Turn. */
function surfaceBack({ surface }: InForce, events: readonly KnownEvent[]): TakenBack {
  const last = events.findLast((event) => event.type === 'prompt_surface')
  if (last === undefined || surface === undefined || last.data.blob === surface.blob) return NOTHING
  return {
    drafts: [{ type: 'prompt_surface', data: { ...surface, reason: 'reload' } }],
    claims: ['another prompt surface'],
  }
}

function notVouched(state: InForce, claimed: readonly string[]): EventDraft {
  const { permission_mode, mode, provider, model } = state
  const text =
    `Not in force: ${claimed.join(', ')}. The Log has it only after its head, the last line that Hawser vouches for: ` +
    `Hawser was killed before it confirmed the change, or another program wrote it. In force: permission mode ` +
    `${permission_mode}, mode ${mode}, model ${model} of ${provider}. If you want the change, make it again.`
  return notice('not_vouched', text)
}
