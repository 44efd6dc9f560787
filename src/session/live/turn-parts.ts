import type { BlobStore } from '../../blobs/store.ts'
import { Redactor } from '../../encoding/redaction.ts'
import { eventsBefore } from '../../history/without-calls.ts'
import { failed, ok, type Result } from '../../model/errors.ts'
import type { WholeEvent } from '../../model/events/event.ts'
import { notice } from '../../model/events/notice.ts'
import type { TurnId } from '../../model/ids.ts'
import { LIMITS, TIER_PERCENT } from '../../model/limits.ts'
import { bufferedFiles } from '../../host/files/buffered-files.ts'
import type { ConfinedRun } from '../../host/sandbox/sandbox.ts'
import type { AppliedRule } from '../../model/rule.ts'
import type { Decision } from '../../policy/decide.ts'
import type { LendingSkill } from '../../policy/lent-rules.ts'
import { fencesNotes } from '../../providers/provider.ts'
import type { SentRequest } from '../../request/sent-request.ts'
import { interruptedCall } from '../../turn/continue.ts'
import type { TurnInput } from '../../turn/open.ts'
import type { Commit } from '../../turn/parts/pending-results.ts'
import type { RunningCall, TurnParts } from '../../turn/parts/turn-parts.ts'
import type { PermissionAnswer } from '../../turn/parts/permission.ts'
import { answerPlaces } from '../../turn/parts/answer-places.ts'
import { askedDraft } from '../../turn/parts/verdict.ts'
import { NOBODY, type SessionQuestions } from '../questions/session-questions.ts'
import { activeSkills } from '../../turn/skills/activations.ts'
import { commandsAhead, confinementOf } from './commands-ahead.ts'
import { commandSnapshots } from '../commands/command-snapshots.ts'
import { inspectSince, keepRedacted } from '../commands/protected-files.ts'
import { cacheKeyOf } from '../surface/cache-family.ts'
import type { ResolvedAttachment } from '../../resources/resolve-attachments.ts'
import { variantMaker } from '../../resources/variants/variant-maker.ts'
import { lastRequestOf } from './last-request.ts'
import type { RecordedSurface } from '../surface/recorded-surface.ts'
import type { SessionParts } from './session-parts.ts'
import type { SessionRules } from './session-rules.ts'
import { modeOfCalls, type SessionState } from './state.ts'

/** The Session of a Turn. Its state may change while the Turn runs. */
interface SessionContext {
  readonly session: { readonly state: SessionState }
  readonly rules: SessionRules
  readonly questions: SessionQuestions
}

/** The parts that belong to this Turn alone. */
interface TurnContext extends Pick<TurnParts['person'], 'signal' | 'steering'> {
  readonly log: TurnParts['log']
  /** Records Events of the Turn without the results that wait: a person decides about them later. */
  readonly record: Commit
  readonly holdsKey: TurnParts['model']['holdsKey']
  /** Requests that this process sent; another process may have sent more since. */
  readonly lastRequests: readonly SentRequest[]
  /** Reads the surface in force; the same object as long as it is in force. */
  readonly recordedSurface: () => Promise<Result<RecordedSurface>>
  readonly purpose: TurnInput['purpose']
  /** It continues after a crash. */
  readonly isContinued: boolean
}

/** Builds the parts of one Turn: the shared parts, bound to its Session and its part of the Log. */
export async function turnParts(
  shared: SessionParts,
  owner: SessionContext,
  own: TurnContext,
): Promise<Result<TurnParts>> {
  const { log } = own
  const model = await modelOf(shared, owner, own)
  if (!model.ok) return model
  const person = personOf(shared, owner, own)
  const { limits = TIER_PERCENT } = shared.model.pressure ?? {}
  const context = { limits, withoutCompaction: own.purpose !== undefined }
  const tools = toolsOf(shared, owner, { log, person, model: model.value })
  return ok({ log, model: model.value, context, tools, person })
}

async function modelOf(
  shared: SessionParts,
  { session: { state } }: SessionContext,
  { log, holdsKey, lastRequests, recordedSurface, isContinued }: TurnContext,
): Promise<Result<TurnParts['model']>> {
  const { model } = shared
  const found = await recordedSurface()
  if (!found.ok) return found
  const provider = await model.providerOf(state.provider)
  if (!provider.ok) return provider
  const { surface, event } = found.value
  const { dialect } = provider.value
  const keeper = { provider: state.provider, dialect, model: surface.model }
  const known = { knownRequests: lastRequests, current: found.value }
  const last = await lastRequestOf(shared, log.events(), keeper, known)
  if (!last.ok) return last
  const call = isContinued ? interruptedCall(log.events(), log.turn) : undefined
  const before =
    call === undefined
      ? ok(undefined)
      : await lastRequestOf(shared, eventsBefore(log.events(), call.first), keeper, known)
  if (!before.ok) return before
  const { provider_calls, retries } = model.limits
  return ok({
    provider: provider.value,
    providerName: state.provider,
    surface,
    words: event.words_sha256,
    facts: model.factsOf(state.provider, surface.model),
    larger: largerModels(model, state.provider, surface.model),
    cacheKey: cacheKeyOf(found.value, state),
    variants: model.variants ?? variantMaker,
    holdsKey,
    lastRequest: last.value,
    ...(call === undefined ? {} : { interruptedCall: { ...call, before: before.value } }),
    limits: { provider_calls },
    retry: { retries, chance: model.chance },
  })
}

/** A model with an unknown window is not considered larger. */
function largerModels(
  { modelsOf = () => [], factsOf }: SessionParts['model'],
  provider: string,
  model: string,
): TurnParts['model']['larger'] {
  const own = factsOf(provider, model)?.window_tokens ?? Infinity
  return modelsOf(provider).flatMap(({ id, facts: { window_tokens = 0 } }) =>
    window_tokens > own ? [{ model: id, window_tokens }] : [],
  )
}

function personOf(
  { log: { secrets }, person }: SessionParts,
  { rules, questions }: SessionContext,
  { log, record, signal, steering }: TurnContext,
): TurnParts['person'] {
  return {
    signal,
    steering,
    upload: person.upload ?? {},
    ask: async (question) => {
      if (!questions.canAsk) return ok(NOBODY)
      const asked = await record([askedDraft(question.about)])
      if (!asked.ok) return asked
      const shown = new Redactor(secrets).value(question)
      const given = await questions.ask(log.turn, shown, signal)
      // Without offers, the answer applies only once.
      const answer: PermissionAnswer =
        question.offers.length === 0 ? { ...given, scope: 'once' } : given
      const kept = await rules.keep(answer)
      if (kept.ok) return kept
      const text = `The rule was not saved and applies only until this process ends: ${kept.error.message}`
      const noted = await record([notice('rule_not_saved', text)])
      return noted.ok ? ok({ ...answer, scope: 'session' }) : noted
    },
  }
}

function toolsOf(
  shared: SessionParts,
  owner: SessionContext,
  turn: Pick<TurnParts, 'log' | 'person' | 'model'>,
): TurnParts['tools'] {
  const { workspace, tools, log } = shared
  const redactor = new Redactor(log.secrets)
  const named = { redactor, folder: workspace.folder ?? '' }
  return {
    toolset: tools.toolset,
    instructions: tools.instructions && { ...tools.instructions, ...named },
    posture: async (claim) => {
      const isConfined = claim.effect === 'run' && (await tools.sandbox.confines())
      const own = await owner.rules.inForce()
      // A Skill lends nothing to its own hydrations.
      const active = activeSkills(turn.log.events(), turn.log.turn)
      const lending = claim.hydration === undefined ? active.map(({ data }) => data) : []
      const lent = lending.length === 0 ? [] : await lentBy(lending)
      const { state } = owner.session
      const instance = state.tether !== undefined
      return { mode: modeOfCalls(state), isConfined, rules: own && [...own, ...lent], instance }
    },
    realPathOf: async (path) => {
      const real = await tools.files.realRelative(path)
      return real.ok ? real.value : path
    },
    gitReads: async (path) => {
      const { gitReadsAt } = await import('../../host/sandbox/git/reads.ts')
      return gitReadsAt(workspace.path, path)
    },
    contextOf: (call) => ({
      ...contextOf(shared, turn, call),
      ...historyOf(shared, turn, owner.session.state.turns),
    }),
    inspection: {
      since: inspectSince(shared),
      moveAside: async (findings) => {
        const { moveFound } = await import('../../host/sandbox/inspect.ts')
        const { path, identity } = workspace
        return moveFound({ workspace: path, identity }, findings, keepRedacted(shared.log))
      },
    },
    ahead: commandsAhead(shared, owner),
    ...commandSnapshots(shared, {
      publish: (one) => turn.log.publish(one),
      events: () => turn.log.events(),
      signal: turn.person.signal,
      record: (drafts) => turn.log.commit(drafts),
    }),
    skills: tools.skills,
    ingest: (path) => ingest(shared, path, turn),
    attachable: answerPlaces(shared.person.answers),
  }
}

async function lentBy(skills: readonly LendingSkill[]): Promise<readonly AppliedRule[]> {
  const { lentRules } = await import('../../policy/lent-rules.ts')
  return lentRules(skills)
}

/** For the agent: only from this workspace, without following links. */
async function ingest(
  { log: { place, store, secrets }, tools: { files } }: SessionParts,
  path: string,
  { log: { events, turn }, person: { signal } }: Pick<TurnParts, 'log' | 'person'>,
): Promise<Result<ResolvedAttachment>> {
  const { resolveAttachments } = await import('../../resources/resolve-attachments.ts')
  const keep: BlobStore['put'] = (bytes, type) => store.put(bytes, type)
  const input = { from: 'path', path } as const
  const resolved = await resolveAttachments([input], {
    clock: place.clock,
    keep,
    workspaceFiles: files,
    redactor: new Redactor(secrets),
    signal,
    takenBytes: attachedBytes(events(), turn),
  })
  if (!resolved.ok) return resolved
  const [only] = resolved.value
  return only === undefined ? failed('internal', 'Nothing was judged.') : ok(only)
}

/** Bytes that the agent attached earlier in this Turn; they share one budget. */
function attachedBytes(events: readonly WholeEvent[], turn: TurnId): number {
  return events.reduce((sum, { type, turn_id, data }) => {
    if (type !== 'resource_ingested' || turn_id !== turn || data.origin === 'hydration') return sum
    return sum + (data.descriptor.kind === 'link' ? 0 : data.descriptor.size_bytes)
  }, 0)
}

/** The Log for a search by the model. */
function historyOf(
  { log: shared, tools }: SessionParts,
  { log, person }: Pick<TurnParts, 'log' | 'person'>,
  turns: number,
): Pick<ToolParts, 'searchHistory' | 'readEvent'> {
  const parts = { log: shared, session: log.session, turns, signal: person.signal }
  return {
    searchHistory: async (search) => (await tools.history()).searchHistory(parts, search),
    readEvent: async (seq, range) => (await tools.history()).readEvent(parts, seq, range),
  }
}

type ToolParts = ReturnType<TurnParts['tools']['contextOf']>

/** Runs a program as decided. A person was asked before anything runs without a sandbox. */
function contextOf(
  { workspace, log: { store, secrets }, tools }: SessionParts,
  { log, person, model }: Pick<TurnParts, 'log' | 'person' | 'model'>,
  { decision, call_id, claim, watching }: RunningCall,
): Omit<ToolParts, 'searchHistory' | 'readEvent'> {
  const { instructions, sandbox } = tools
  const { folder } = workspace
  const files = bufferedFiles(tools.files, tools.buffers?.(log.session))
  const redactor = new Redactor(secrets)
  const keep = keepRedacted({ store, secrets })
  const runner =
    (writable: Decision['writable']): ConfinedRun =>
    async (command) => {
      const confined = await sandbox.confines()
      const confinement = { ...confinementOf({ workspace, tools }, writable), keep, watching }
      const run = confined ? sandbox.runConfined(confinement) : sandbox.runUnconfined(confinement)
      return run(command)
    }
  return {
    signal: person.signal,
    files,
    ownInstructions: instructions && ((limit) => instructions.files.own(limit)),
    decidedPaths: new Set(claim.paths),
    folder: folder === '' ? undefined : folder,
    run: runner(decision.writable),
    runReadOnly: runner('nothing'),
    redactor,
    escapesNotes: fencesNotes(model.provider.dialect, model.surface.params),
    keep: (bytes, type) => store.put(redactor.chunks(bytes), type),
    progress: (text, options = { notice: false }) =>
      log.publish({
        type: 'tool_progress',
        data: { call_id, text, ...(options.notice ? { notice: true } : {}) },
      }),
    limits: { output_bytes: LIMITS.tool_output_bytes, command_ms: tools.limits.command_ms },
  }
}
