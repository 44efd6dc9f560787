import type { BlobStore } from '../../blobs/store.ts'
import { Redactor } from '../../encoding/redaction.ts'
import { failed, ok, type Result } from '../../model/errors.ts'
import type { EventDraft, WholeEvent } from '../../model/events/event.ts'
import type { SessionId, TurnId } from '../../model/ids.ts'
import { LIMITS } from '../../model/limits.ts'
import type { KeepAppeared } from '../../host/sandbox/watch/move-aside.ts'
import type { ConfinedRun } from '../../host/sandbox/sandbox.ts'
import type { Decision, PermissionMode } from '../../policy/decide.ts'
import type { SentRequest } from '../../request/compose-request.ts'
import type { Answer, RunningCall, TurnParts, Watched } from '../../turn/turn-parts.ts'
import { cacheKeyOf } from './cache-family.ts'
import type { Resolved } from '../../resources/resolve-attachments.ts'
import { variantMaker } from '../../resources/variants/variant-maker.ts'
import { recordedSurface } from './recorded-surface.ts'
import type { ResourceNames } from './resource-names.ts'
import type { SessionParts } from './session-parts.ts'
import type { SessionRules } from './session-rules.ts'
import type { SessionState } from './state.ts'

/** What the Session itself brings to one Turn. */
export interface TurnWorld {
  readonly session: SessionId
  readonly turn: TurnId
  readonly signal: AbortSignal
  readonly events: () => readonly WholeEvent[]
  readonly state: () => SessionState
  readonly mode: () => PermissionMode
  readonly rules: SessionRules
  readonly lastRequest: SentRequest | undefined
  readonly opening: TurnParts['opening']
  readonly names: ResourceNames
  readonly store: BlobStore
  readonly holdsKey: TurnParts['holdsKey']
  readonly commit: (drafts: readonly EventDraft[]) => Promise<Result<void>>
  readonly publish: (notice: Watched) => void
  readonly takeSteering: () => readonly string[]
  readonly endSteering: () => readonly string[]
}

export async function turnParts(parts: SessionParts, world: TurnWorld): Promise<Result<TurnParts>> {
  const state = world.state()
  const found = await recordedSurface(parts.store, world.events())
  if (!found.ok) return found
  const provider = await parts.providerOf(state.provider)
  if (!provider.ok) return provider
  const { surface } = found.value
  return ok({
    session: world.session,
    turn: world.turn,
    provider: provider.value,
    surface,
    facts: parts.factsOf(state.provider, surface.model),
    larger: largerModels(parts, state.provider, surface.model),
    cacheKey: cacheKeyOf(found.value, state),
    store: world.store,
    tools: parts.tools,
    upload: parts.upload ?? {},
    variants: parts.variants ?? variantMaker,
    opening: world.opening,
    holdsKey: world.holdsKey,
    ingest: (path) => ingest(parts, path, world),
    nameResource: (facts) => world.names.name(facts, 'tool'),
    events: world.events,
    commit: world.commit,
    publish: world.publish,
    posture: async ({ effect }) => {
      const confined = effect === 'run' && (await parts.sandbox.status()).confined
      return { mode: world.mode(), confined, rules: await world.rules.inForce() }
    },
    placeOf: async (path) => {
      const place = await parts.files.realRelative(path)
      return place.ok ? place.value : path
    },
    gitReads: async (path) => {
      const { gitReadsAt } = await import('../../host/sandbox/git/reads.ts')
      return gitReadsAt(parts.workspace, path)
    },
    inspection: {
      since: async (places) => {
        const { inspectSince } = await import('../../host/sandbox/inspect.ts')
        return inspectSince(parts, places)
      },
      moveAside: async (findings) => {
        const { moveAside } = await import('../../host/sandbox/watch/move-aside.ts')
        return moveAside(parts.workspace, findings, keeping(parts))
      },
    },
    contextOf: (call) => contextOf(parts, world, call),
    ask: async (question) => {
      const given = await parts.ask(new Redactor(parts.secrets).value(question), world.signal)
      // Where nothing was offered, no answer lasts.
      const answer: Answer = question.offers.length === 0 ? { ...given, scope: 'once' } : given
      const kept = await world.rules.keep(answer)
      if (kept.ok) return kept.value
      const text = `The rule was not saved, so it ends with this process: ${kept.error.message}`
      await world.commit([{ type: 'notice', data: { code: 'rule_not_saved', text } }])
      return { ...answer, scope: 'session' }
    },
    takeSteering: world.takeSteering,
    endSteering: world.endSteering,
    lastRequest: world.lastRequest,
    limits: { provider_calls: parts.limits.provider_calls },
    retry: { retries: parts.limits.retries, chance: parts.chance },
    signal: world.signal,
    clock: parts.place.clock,
  })
}

/** A window that nobody published is not larger than any. */
function largerModels(
  { modelsOf = () => [], factsOf }: SessionParts,
  provider: string,
  model: string,
): TurnParts['larger'] {
  const own = factsOf(provider, model)?.window_tokens ?? Infinity
  return modelsOf(provider).flatMap(({ id, facts: { window_tokens = 0 } }) =>
    window_tokens > own ? [{ model: id, window_tokens }] : [],
  )
}

/** For the agent: from this workspace only, and by no link. */
async function ingest(
  { place: { clock }, files, store, secrets }: SessionParts,
  path: string,
  { signal, events, turn }: TurnWorld,
): Promise<Result<Resolved>> {
  const { resolveAttachments } = await import('../../resources/resolve-attachments.ts')
  const keep: BlobStore['put'] = (bytes, type) => store.put(bytes, type)
  const input = { from: 'path', path } as const
  const resolved = await resolveAttachments([input], {
    clock,
    keep,
    confined: files,
    redactor: new Redactor(secrets),
    signal,
    taken: attachedBytes(events(), turn),
  })
  if (!resolved.ok) return resolved
  const [only] = resolved.value
  return only === undefined ? failed('internal', 'Nothing was judged.') : ok(only)
}

/** What the agent attached before in its Turn: one budget holds for all. */
function attachedBytes(events: readonly WholeEvent[], turn: TurnId): number {
  return events.reduce((sum, { type, turn_id, data }) => {
    if (type !== 'resource_ingested' || turn_id !== turn) return sum
    return sum + (data.descriptor.kind === 'link' ? 0 : data.descriptor.size_bytes)
  }, 0)
}

/** What a program put at a protected path is moved aside, and kept. */
function keeping({ store, secrets }: SessionParts): KeepAppeared {
  const redactor = new Redactor(secrets)
  return (_path, content) => store.put(redactor.chunks(content), 'application/octet-stream')
}

/** A program runs as was decided; where nothing confines it, a person was asked about that first. */
function contextOf(
  parts: SessionParts,
  world: TurnWorld,
  { decision, call_id, claim, watching }: RunningCall,
): ReturnType<TurnParts['contextOf']> {
  const { workspace, home, protectedPaths, readable = [], sandbox } = parts
  const redactor = new Redactor(parts.secrets)
  const base = { workspace, home, protectedPaths, readable, keep: keeping(parts), watching }
  const runner =
    (writable: Decision['writable']): ConfinedRun =>
    async (command) => {
      const { confined } = await sandbox.status()
      const run = confined
        ? sandbox.confined({ ...base, writable })
        : sandbox.unconfined({ ...base, writable })
      return run(command)
    }
  return {
    signal: world.signal,
    files: parts.files,
    decided: new Set(claim.paths),
    folder: parts.folder === '' ? undefined : parts.folder,
    run: runner(decision.writable),
    runReadOnly: runner('nothing'),
    redactor,
    keep: (bytes, type) => parts.store.put(redactor.chunks(bytes), type),
    progress: (text, { notice } = { notice: false }) =>
      world.publish({
        type: 'tool_progress',
        data: { call_id, text, ...(notice ? { notice } : {}) },
      }),
    limits: { output_bytes: LIMITS.tool_output_bytes, command_ms: parts.limits.command_ms },
  }
}
