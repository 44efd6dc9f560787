import { pendingCommands } from '../../history/person-commands.ts'
import { cacheKeyOf } from '../surface/cache-family.ts'
import { lastRequestOf } from '../live/last-request.ts'
import { wordsHash } from '../../prompt/surface.ts'
import type { BlobStore } from '../../blobs/store.ts'
import { Redactor } from '../../encoding/redaction.ts'
import { timestamp } from '../../host/clock.ts'
import { ok, type Result } from '../../model/errors.ts'
import type { EventDraft, WholeEvent } from '../../model/events/event.ts'
import type { SkillRequest } from '../../model/events/context-source.ts'
import { RequestComposer, type ComposedRequest } from '../../request/compose-request.ts'
import { openingDrafts } from '../../turn/open.ts'
import { activationDraft, judgeSkills } from '../../turn/skills/activations.ts'
import type { LiveSession } from '../live/live-session.ts'
import type { SessionParts } from '../live/session-parts.ts'
import { lateContext } from '../live/late-context.ts'
import { keptIn } from './applying-instructions.ts'
import { recordedSurface } from '../surface/recorded-surface.ts'

export interface PreviewOptions {
  /** Skills that the text activates. Nothing is hydrated. */
  readonly skills?: readonly SkillRequest[] | undefined
  /** Encode in this dialect instead of that of the Session. */
  readonly dialect?: string | undefined
}

/** What the next request of a Session depends on. */
export type PreviewedSession = Pick<LiveSession, 'id' | 'events' | 'state'>

/**
 * Composes the exact request for `text`. Sends and writes nothing: the opening Events of the Turn exist in memory only.
 */
export async function previewRequest(
  parts: SessionParts,
  session: PreviewedSession,
  text: string,
  { dialect, skills = [] }: PreviewOptions = {},
): Promise<Result<ComposedRequest>> {
  const bodies = new Map<string, Buffer>()
  const activations = await activationsOf(parts, skills, bodies)
  if (!activations.ok) return activations
  const found = await recordedSurface(parts.log.store, session.events)
  if (!found.ok) return found
  const { surface } = found.value
  const { provider: providerName } = session.state
  const name = dialect ?? parts.model.dialectNameOf(providerName) ?? providerName
  const provider = await parts.model.dialectOf(name)
  if (!provider.ok) return provider
  const late = await lateContext(parts, session, keptIn(bodies))
  if (!late.ok) return late
  // Redacted as they would be recorded; Events of earlier versions are redacted here, too.
  const redactor = new Redactor(parts.log.secrets)
  const message = { text, prompt_mode: 'string', ...pendingCommands(session.events) } as const
  const drafts = [
    ...openingDrafts({ presenter: parts.person.presenter }, message, late.value),
    ...activations.value,
  ]
  const events = redactor.value([...session.events, ...asEvents(parts, session, drafts)])
  const turn = events.at(-1)?.turn_id
  const cacheKey = cacheKeyOf(found.value, session.state)
  // The Turn would record these words first.
  const words = wordsHash(parts.model.contract)
  const store = withBodies(parts.log.store, bodies)
  const request = { provider: provider.value, providerName, surface, words, store, cacheKey }
  const keeper = { provider: providerName, dialect: provider.value.dialect, model: surface.model }
  const last = await lastRequestOf(parts, session.events, keeper, {
    knownRequests: [],
    current: found.value,
  })
  if (!last.ok) return last
  const before = last.value
  const composed = await new RequestComposer(request, turn).compose(events, { before })
  return composed.failure === undefined ? ok(composed) : { ok: false, error: composed.failure }
}

/** The activations as the Turn would record them; their bodies stay in memory. */
async function activationsOf(
  { tools, log: { secrets } }: SessionParts,
  requests: readonly SkillRequest[],
  bodies: Map<string, Buffer>,
): Promise<Result<readonly EventDraft[]>> {
  const judged = await judgeSkills(tools.skills, requests, 'person')
  if (!judged.ok) return judged
  const keep = keptIn(bodies)
  const redactor = new Redactor(secrets)
  const drafts: EventDraft[] = []
  for (const { skill, request } of judged.value) {
    const args = request.args ?? ''
    const draft = await activationDraft({ skill, args, by: 'user' }, { keep, redactor })
    if (!draft.ok) return draft
    drafts.push(draft.value)
  }
  return ok(drafts)
}

function withBodies(store: BlobStore, bodies: ReadonlyMap<string, Buffer>): BlobStore {
  const get: BlobStore['get'] = async (key) => {
    const body = bodies.get(key)
    return body === undefined ? store.get(key) : ok(body)
  }
  return { ...store, get }
}

function asEvents(
  { log: { place } }: SessionParts,
  session: PreviewedSession,
  drafts: readonly EventDraft[],
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
  return drafts.map((draft, n) => ({ ...draft, ...at(n) }))
}
