import type { SessionResource } from '../history/session-resources.ts'
import { failed, ok, type Result } from '../model/errors.ts'
import type { EventData, WholeEvent } from '../model/events/event.ts'
import type { SessionId, TurnId } from '../model/ids.ts'
import type { PermissionMode } from '../model/modes.ts'
import type { ComposedRequest } from '../request/compose-request.ts'
import type { Variant } from '../resources/variants/variant.ts'
import type { AdmitOptions, AdmittedTurn, TurnResult } from './admission/admit-options.ts'
import type { AttachOptions } from './admission/attach-options.ts'
import type { SettingsChange } from './admission/settings-change.ts'
import type { ForkAt, ForkResult } from './forks/fork-session.ts'
import type { SessionChanges } from './changes/load-changes.ts'
import type { RewindOptions, RewindResult } from './forks/rewind.ts'
import type { UndoneCompaction } from './live/compaction.ts'
import type { LiveSession } from './live/live-session.ts'
import type { CompactionOutcome, CompactOptions } from './live/locked-compaction.ts'
import type { LockedSession } from './live/locked-session.ts'
import type { Registration } from './live/registration.ts'
import type { SessionParts } from './live/session-parts.ts'
import type { SessionRules } from './live/session-rules.ts'
import { modeOfCalls, type SessionState } from './live/state.ts'
import type { CompactionPreview } from './queries/compaction-preview.ts'
import type { SessionContext } from './queries/context.ts'
import type { DiffOptions, SessionDiff } from './changes/diff.ts'
import type { PreviewOptions } from './queries/preview.ts'
import type { ListedResource } from './queries/resources.ts'
import type { UndoOptions, UndoResult } from './changes/undo.ts'
import type { Proof } from './queries/verify.ts'
import type { ChosenAnswer, OpenQuestions, Question } from './questions/session-questions.ts'
import type { SessionUpdate, StreamOptions } from './watch/session-stream.ts'
import type { Subscription, WatcherUpdate } from './watch/subscribe.ts'

/**
 * One client of a Session. Several clients of one process share its Turns, their queue and its questions, and see the same;
 * other processes may write to it between Turns. Close or detach each client. What is rarely used is loaded on first use.
 */
export class Session {
  readonly id: SessionId
  readonly #parts: SessionParts
  readonly #live: LiveSession
  readonly #checks: AttachOptions['checks']
  readonly #registration: Registration
  readonly #cannotAnswer: () => void
  /** Ends what this client watches. */
  readonly #streams = new Set<() => void>()
  #leaving: Promise<void> | undefined

  constructor(
    parts: SessionParts,
    live: LiveSession,
    { answers = false, checks }: AttachOptions,
    registration: Registration,
  ) {
    this.id = live.id
    this.#parts = parts
    this.#live = live
    this.#checks = checks
    this.#registration = registration
    this.#cannotAnswer = answers ? live.questions.attach() : () => {}
  }

  /** Settings, title and counters, as far as this process has read the Log. */
  get state(): SessionState {
    return this.#live.state
  }

  get events(): readonly WholeEvent[] {
    return this.#live.events
  }

  /** A Turn is running in this process, from whichever client. */
  get busy(): boolean {
    return this.#live.busy
  }

  /** The number of the next Event. */
  get nextSeq(): number {
    return this.#live.nextSeq
  }

  /** The number of the last Event, for `stream`. */
  get lastSeq(): number {
    return this.nextSeq - 1
  }

  /** The permission mode that applies to calls: the recorded one, limited to read-only in plan mode. */
  get permissionMode(): PermissionMode {
    return modeOfCalls(this.state)
  }

  /** The person's permission rules. Rules of this Session end with the process. */
  get rules(): SessionRules {
    return this.#live.rules
  }

  /** The permission questions that wait for an answer, the oldest first. */
  get questions(): readonly Question[] {
    return this.#live.questions.open
  }

  /** The same object for all clients. */
  get openQuestions(): OpenQuestions {
    return this.#live.questions
  }

  /** Reads the Events after those already known. */
  catchUp(): Promise<Result<void>> {
    return this.#live.catchUp()
  }

  /** The Resource with that handle, also from before a checkpoint. */
  resourceNamed(handle: string): Promise<Result<SessionResource | undefined>> {
    return this.#live.resourceNamed(handle)
  }

  /** Whether its provider can be used. Nothing is sent. */
  async checkProvider(): Promise<Result<void>> {
    const provider = await this.#parts.model.providerOf(this.state.provider)
    return provider.ok ? ok(undefined) : provider
  }

  /**
   * Starts a Turn. Resolves when the message is durable, or with the reason why it was refused. While a Turn runs:
   * `turn_in_progress`, unless `whenBusy` says otherwise.
   */
  async admit(text: string, options: AdmitOptions = {}): Promise<Result<AdmittedTurn>> {
    const refused = this.#checks?.message(text, options)
    return refused ?? this.#asClient((live) => live.admit(text, options))
  }

  /** Admits a message, passes every Event and notice to `show` until the Turn ends, and returns the result of the Turn. */
  async run(
    text: string,
    options: AdmitOptions,
    show: (update: WatcherUpdate) => void | Promise<void>,
  ): Promise<Result<TurnResult>> {
    const watching = this.subscribe()
    const admitted = await this.admit(text, options)
    if (!admitted.ok) {
      watching.close()
      return admitted
    }
    const { turn, done } = admitted.value
    const showing = (async () => {
      for await (const update of watching) {
        await show(update)
        if (isEnd(update, turn)) break
      }
    })()
    const result = await done
    // The last Event is delivered before `done` resolves. A Turn that ends without an Event ends the subscription here.
    if (!result.ok) watching.close()
    await showing
    return result
  }

  /** Runs `work` under the lock, between Turns. Fails with `turn_in_progress` while a Turn runs. */
  between<T>(work: (locked: LockedSession) => Promise<Result<T>>): Promise<Result<T>> {
    return this.#asClient((live) => live.between(work))
  }

  /** See `LiveSession.runCommand`. */
  runCommand(typed: string): Promise<Result<EventData<'shell_result'>>> {
    return this.#asClient((live) => live.runCommand(typed))
  }

  /** Ends the running Turn at its next step. Its unfinished calls get results that report the interruption. */
  interrupt(limit?: number): void {
    if (this.#leaving === undefined) this.#live.interrupt(limit)
  }

  /**
   * Adds text to the running Turn, before its next request to the model; it is always recorded. Returns false if no
   * Turn accepts text any more; nothing is recorded then.
   */
  steer(typed: string): boolean {
    return this.#leaving === undefined && this.#live.steer(typed)
  }

  /** Withdraws text of `steer`, for example to edit it. Returns false if the Turn has already recorded it. */
  unsteer(typed: string): boolean {
    return this.#leaving === undefined && this.#live.unsteer(typed)
  }

  /**
   * Answers a question by the number of a choice. The first answer counts: later ones are `question_closed`. Resolves when
   * the decision is durable.
   */
  async answer(request_id: string, answer: ChosenAnswer): Promise<Result<void>> {
    return this.#checks?.answer(answer) ?? this.#live.questions.answer(request_id, answer)
  }

  /** See `LiveSession.change`. */
  async change(change: SettingsChange): Promise<Result<void>> {
    return this.#checks?.settings(change) ?? this.#asClient((live) => live.change(change))
  }

  /** Takes over the Skills and tools on disk. Returns what changed; `undefined` if nothing did. */
  reload(): Promise<Result<string | undefined>> {
    return this.#asClient(async (live) => {
      const { reloadSurface } = await import('./live/reload.ts')
      return reloadSurface(this.#parts, live)
    })
  }

  /** Restores the files that a Turn changed; see `undoChanges`. */
  undo(turn?: TurnId, options: UndoOptions = {}): Promise<Result<UndoResult>> {
    return this.#asClient(async (live) =>
      (await import('./changes/undo.ts')).undoChanges(this.#parts, live, { ...options, turn }),
    )
  }

  redo(options: Pick<UndoOptions, 'force'> = {}): Promise<Result<UndoResult>> {
    return this.#asClient(async (live) =>
      (await import('./changes/undo.ts')).redoChanges(this.#parts, live, options),
    )
  }

  async diff(turn?: TurnId, options: DiffOptions = {}): Promise<Result<SessionDiff>> {
    const { diffChanges } = await import('./changes/diff.ts')
    return diffChanges(this.#parts, this.#live, { ...options, turn })
  }

  async changes(): Promise<Result<SessionChanges>> {
    const { loadChanges } = await import('./changes/load-changes.ts')
    return loadChanges(this.#parts.log, this.#parts.tools.snapshots, this.#live)
  }

  /** Creates a Session that shares this one up to a point, by default up to its end. Open it by its id. */
  async fork(at?: ForkAt): Promise<Result<ForkResult>> {
    const { forkSession } = await import('./forks/fork-session.ts')
    return this.#checks?.fork(at) ?? forkSession(this.#parts.log, this.id, at)
  }

  /** Forks this Session before the message of a Turn, and returns the message; can also restore files. See `rewindSession`. */
  async rewind(options: RewindOptions): Promise<Result<RewindResult>> {
    return (
      this.#checks?.rewind(options) ??
      this.#asClient(async (live) => {
        const { rewindSession } = await import('./forks/rewind.ts')
        return rewindSession({ ...this.#parts, open: this.#registration.open }, live, options)
      })
    )
  }

  /** Returns the exact request for `text`. Sends and writes nothing. */
  async preview(text: string, options: PreviewOptions = {}): Promise<Result<ComposedRequest>> {
    const { previewRequest } = await import('./queries/preview.ts')
    return previewRequest(this.#parts, this.#live, text, options)
  }

  /** How full the window of the model is, and with what. Sends and writes nothing. */
  async context(): Promise<Result<SessionContext>> {
    const { sessionContext } = await import('./queries/context.ts')
    return sessionContext(this.#parts, this.#live)
  }

  /** The Resources of the Session in the order in which they were attached. */
  async resources(): Promise<Result<readonly ListedResource[]>> {
    const { listResources } = await import('./queries/resources.ts')
    return listResources(this.#parts.log, this.#live)
  }

  async resourceBytes(handle: string): Promise<Result<Buffer>> {
    const { resourceBytes } = await import('./queries/resources.ts')
    return resourceBytes(this.#parts.log, this.#live, handle)
  }

  /** A smaller form of an image, with no side longer than `max_side` pixels. `unsupported_type` for anything else. */
  async thumbnail(handle: string, max_side: number): Promise<Result<Variant>> {
    const { thumbnail } = await import('./queries/resources.ts')
    return thumbnail(this.#parts, this.#live, handle, max_side)
  }

  /** Permanently excludes the bytes of a Resource from requests. */
  dropResource(handle: string): Promise<Result<void>> {
    return this.#asClient(async (live) => {
      const { dropResource } = await import('./queries/resources.ts')
      return dropResource(live, handle)
    })
  }

  /** The pinned texts, the oldest first. */
  async pinnedTexts(): Promise<readonly string[]> {
    const { pinnedTexts } = await import('../context/carried-facts.ts')
    return pinnedTexts(this.events)
  }

  /** Pins text that every request shows verbatim, also after a checkpoint. */
  pin(text: string): Promise<Result<void>> {
    return this.#asClient(async (live) =>
      (await import('./live/compaction.ts')).pinText(live, text),
    )
  }

  /** Removes a pin by its number, counted from 1. Returns its text. */
  unpin(number: number): Promise<Result<string>> {
    return this.#asClient(async (live) => {
      const { unpinText } = await import('./live/compaction.ts')
      return unpinText(this.#parts.log, live, number)
    })
  }

  /** Records a checkpoint, or returns why there is none. May call the model, if its summary is chosen. */
  compact(options: CompactOptions = {}): Promise<Result<CompactionOutcome>> {
    return this.#asClient(async (live) => {
      const { compactSession } = await import('./live/compaction.ts')
      return compactSession(this.#parts, live, options)
    })
  }

  /** Returns what `compact` would record, and the size of the next request without and with it. Writes nothing. */
  async previewCompaction(
    options: Pick<CompactOptions, 'summary'> = {},
  ): Promise<Result<CompactionPreview>> {
    const { previewCompaction } = await import('./queries/compaction-preview.ts')
    return previewCompaction(this.#parts, this.#live, options)
  }

  /** Undoes the last compaction in force. */
  undoCompaction(): Promise<Result<UndoneCompaction>> {
    return this.#asClient(async (live) =>
      (await import('./live/compaction.ts')).undoCompaction(live),
    )
  }

  /** Verifies every byte of the Log; with `requests`, also composes every sent request again and compares it. */
  async verify({ requests = false }: { readonly requests?: boolean } = {}): Promise<Result<Proof>> {
    const { verifySession } = await import('./queries/verify.ts')
    return verifySession(this.#parts, this.id, requests)
  }

  /**
   * Every Event after number `after_seq`, then everything that happens, until `signal` aborts or this client leaves. Uses
   * little memory, however slowly it is read. Every reader receives the open questions, also one that comes later.
   */
  async *stream({ after_seq, signal }: StreamOptions): AsyncGenerator<SessionUpdate, void> {
    if (this.#leaving !== undefined) return
    const stop = new AbortController()
    const end = () => stop.abort()
    if (signal?.aborted === true) end()
    signal?.addEventListener('abort', end)
    this.#streams.add(end)
    try {
      yield* this.#live.stream({ after_seq, signal: stop.signal })
    } finally {
      signal?.removeEventListener('abort', end)
      this.#streams.delete(end)
    }
  }

  subscribe(): Subscription {
    const close = () => subscription.close()
    const subscription = this.#live.subscribe(() => this.#streams.delete(close))
    this.#streams.add(close)
    if (this.#leaving !== undefined) close()
    return subscription
  }

  /** Leaves. A running Turn continues, and its Session is closed after it, unless other clients stay. */
  async detach(): Promise<void> {
    this.#leaving ??= this.#leave()
    // A client that detaches does not wait for a Turn.
    if (!this.#live.hasWork) await this.#leaving
    this.#endStreams()
  }

  /** Leaves. If no other client stays, a running Turn is interrupted, and its end is in the Log when this resolves. */
  async close(): Promise<void> {
    this.#leaving ??= this.#leave(() => {
      if (this.#registration.isLast()) this.#live.end()
    })
    await this.#leaving
    this.#endStreams()
  }

  async #leave(then: () => void = () => {}): Promise<void> {
    const left = this.#registration.leave()
    then()
    this.#cannotAnswer()
    await left
  }

  #endStreams(): void {
    for (const end of this.#streams) end()
  }

  /** What a client can do until it leaves. */
  async #asClient<T>(work: (live: LiveSession) => Promise<Result<T>>): Promise<Result<T>> {
    if (this.#leaving === undefined) return work(this.#live)
    return failed('invalid_args', 'This client has left the Session; open it again.')
  }
}

function isEnd(update: WatcherUpdate, turn: TurnId): boolean {
  if (update.kind !== 'line') return false
  const { event } = update.line.content
  return event.type === 'turn_ended' && event.turn_id === turn
}
