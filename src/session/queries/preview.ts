import { cacheKeyOf } from '../live/cache-family.ts'
import { lastRequestOf } from '../live/last-request.ts'
import { wordsHash } from '../../contract/surface.ts'
import { Redactor } from '../../encoding/redaction.ts'
import { timestamp } from '../../host/clock.ts'
import { ok, type Result } from '../../model/errors.ts'
import type { EventData, WholeEvent } from '../../model/events/event.ts'
import { RequestComposer, type ComposedRequest } from '../../request/compose-request.ts'
import { openingDrafts } from '../../turn/open.ts'
import type { Session } from '../live/session.ts'
import type { SessionParts } from '../live/session-parts.ts'
import { lateContext } from '../live/late-context.ts'
import { recordedSurface } from '../live/recorded-surface.ts'

export interface PreviewOptions {
  /** Encode in this dialect instead of that of the Session. */
  readonly dialect?: string | undefined
}

/** What the next request of a Session depends on. */
export type PreviewedSession = Pick<Session, 'id' | 'events' | 'state' | 'permissionMode'>

/**
 * Composes the exact request for `text`. Sends and writes nothing: the opening Events of the Turn exist in memory only.
 */
export async function previewRequest(
  parts: SessionParts,
  session: PreviewedSession,
  text: string,
  { dialect }: PreviewOptions = {},
): Promise<Result<ComposedRequest>> {
  const found = await recordedSurface(parts.log.store, session.events)
  if (!found.ok) return found
  const { surface } = found.value
  const { provider: providerName } = session.state
  const name = dialect ?? parts.model.dialectNameOf(providerName) ?? providerName
  const provider = await parts.model.dialectOf(name)
  if (!provider.ok) return provider
  const late = await lateContext(parts, session)
  // Redacted as they would be recorded; Events of earlier versions are redacted here, too.
  const redactor = new Redactor(parts.log.secrets)
  const events = redactor.value([...session.events, ...opening(parts, session, text, late)])
  const turn = events.at(-1)?.turn_id
  const cacheKey = cacheKeyOf(found.value, session.state)
  // The Turn would record these words first.
  const words = wordsHash(parts.model.contract)
  const { store } = parts.log
  const request = { provider: provider.value, providerName, surface, words, store, cacheKey }
  const keeper = { provider: providerName, dialect: provider.value.dialect, model: surface.model }
  const last = await lastRequestOf(parts, session.events, keeper, {
    known: [],
    current: found.value,
  })
  if (!last.ok) return last
  const before = last.value
  const composed = await new RequestComposer(request, turn).compose(events, { before })
  return composed.failure === undefined ? ok(composed) : { ok: false, error: composed.failure }
}

function opening(
  { log: { place }, person: { presenter } }: SessionParts,
  session: PreviewedSession,
  text: string,
  late: EventData<'late_context'> | undefined,
): WholeEvent[] {
  const seq = (session.events.at(-1)?.seq ?? -1) + 1
  const made = {
    v: 1 as const,
    session_id: session.id,
    turn_id: place.ids.turn(),
    ts: timestamp(place.clock),
    prev: null,
    crc: '00000000',
  }
  const at = (n: number) => ({ ...made, seq: seq + n, id: place.ids.event() })
  const drafts = openingDrafts({ presenter }, { text, prompt_mode: 'string' }, late)
  return drafts.map((draft, n) => ({ ...draft, ...at(n) }))
}
