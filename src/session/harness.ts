import type { FileScan } from './commands/workspace-files.ts'
import type { RuleStore } from '../host/permission-rules.ts'
import type { WriterOptions } from '../log/open.ts'
import type { SalvageResult } from '../log/salvage.ts'
import type { LogVerdict } from '../log/verify.ts'
import { failed, ok, type ErrorKind, type Failed, type Result } from '../model/errors.ts'
import type { BlobKey, InstanceId, SessionId, TurnId } from '../model/ids.ts'
import type { ComposedRequest } from '../request/compose-request.ts'
import type { AttachmentInput } from '../model/attachment.ts'
import type { Variant } from '../resources/variants/variant.ts'
import type { AttachmentVerdict } from '../resources/resolve-attachments.ts'
import { checkInputs } from './admission/attachments.ts'
import type { UndoneCompaction } from './live/compaction.ts'
import type { CompactionOutcome, CompactOptions } from './live/locked-compaction.ts'
import { createSession, type NewSession } from './live/create.ts'
import type { changedTexts, ChangedTexts } from './queries/changed-texts.ts'
import type { CompactionPreview } from './queries/compaction-preview.ts'
import type { SessionContext } from './queries/context.ts'
import type { SessionDiff } from './queries/diff.ts'
import { findSession, listSessions, type ListedSession } from './queries/list.ts'
import type { PreviewOptions } from './queries/preview.ts'
import { readLog, type LogEnd, type ReadOptions, type VisitEvent } from './reading/read-log.ts'
import type { SkillList } from '../skills/skill.ts'
import type { BadPayload, ListedResource } from './queries/resources.ts'
import type { Match, SearchEnd, SearchOptions } from './queries/search.ts'
import type { ClientOptions, Session } from './live/session.ts'
import { LiveSessions } from './live/live-sessions.ts'
import type { ChosenAnswer, OpenQuestions } from './questions/session-questions.ts'
import type { GcResult } from './queries/sweep.ts'
import type { SessionParts } from './live/session-parts.ts'
import { sessionFold, type SessionState } from './live/state.ts'
import type { UndoResult } from './queries/undo.ts'
import type { CheckpointMismatch } from './queries/verify-checkpoints.ts'
import type { UsageTable } from './queries/usage.ts'
import type { RequestsVerdict } from './queries/verify-requests.ts'

/**
 * The only interface that presenters receive: all operations on the Sessions of one workspace. Queries outside a Turn
 * are loaded on first use, so that they do not slow down the start of a chat.
 */
export class Harness {
  readonly #parts: SessionParts
  readonly #live: LiveSessions

  constructor(parts: SessionParts) {
    this.#parts = parts
    this.#live = new LiveSessions(parts)
  }

  get workspace(): string {
    return this.#parts.workspace.path
  }

  /** The permission rules of this workspace. */
  get rules(): RuleStore {
    return this.#parts.person.rules ?? NO_RULES
  }

  /**
   * Creates a Session. With `toAdmit`, the Session keeps its lock for the first admitted Turn; the end of that Turn or
   * `close` releases it.
   */
  async create(
    options: NewSession,
    { toAdmit = false, ...client }: ClientOptions & { readonly toAdmit?: boolean } = {},
  ): Promise<Result<Session>> {
    const writer = await createSession(this.#parts, options)
    if (!writer.ok) return writer
    const { session } = writer.value
    if (!toAdmit) await writer.value.release()
    return this.#live.attach(session, client, toAdmit ? writer.value : undefined)
  }

  /**
   * Opens an existing Session for reading or to continue it, with its recorded mode and surface. Clients in one process
   * share it.
   */
  async open(id: SessionId, client: ClientOptions = {}): Promise<Result<Session>> {
    const session = await this.#live.attach(id, client)
    return session.ok ? session : this.#orElsewhere(id, session)
  }

  /** The most recently written Session. */
  async latest(client: ClientOptions = {}): Promise<Result<Session>> {
    const [latest] = await this.list()
    if (latest !== undefined) return this.open(latest.id, client)
    return failed('not_found', 'No Sessions in this folder yet.')
  }

  /** The number of Sessions that are open in this process. */
  get openSessions(): number {
    return this.#live.size
  }

  /** The Session is open in this process. */
  isOpen(id: SessionId): boolean {
    return this.#live.has(id)
  }

  /** The questions of the open Session that asked this one; `undefined` if none did. */
  questionsWith(request_id: string): OpenQuestions | undefined {
    return this.#live.questionsWith(request_id)
  }

  /** Whether the provider of a Session can be used. Nothing is sent. */
  async checkProvider({ state }: Session): Promise<Result<void>> {
    const provider = await this.#parts.model.providerOf(state.provider)
    return provider.ok ? ok(undefined) : provider
  }

  /** Answers a permission question of any open Session. See `OpenQuestions.answer`. */
  async answer(request_id: string, answer: ChosenAnswer): Promise<Result<void>> {
    const questions = this.questionsWith(request_id)
    if (questions === undefined) return failed('not_found', 'No open Session asks this question.')
    return questions.answer(request_id, answer)
  }

  /**
   * Ends all running Turns and closes every Session. With `leaves`, a Turn of a message with a key that has no answer yet has no
   * end: the process that accepted the message durably has the next one continue it.
   */
  close(options: { readonly leaves?: boolean } = {}): Promise<void> {
    return this.#live.close(options)
  }

  /**
   * All Sessions of this workspace, the latest first, read from their indexes. An unreadable Session is listed with the
   * reason.
   */
  list(): Promise<readonly ListedSession[]> {
    return listSessions(this.#parts.log.place)
  }

  /** One Session as `list` returns it, even if it cannot be opened. */
  async find(id: SessionId): Promise<Result<ListedSession>> {
    const found = await findSession(this.#parts.log.place, id)
    return found.ok ? found : this.#orElsewhere(id, found)
  }

  /** The errors that ended Turns of the latest Sessions, the latest first. */
  async lastErrors(): Promise<readonly ErrorKind[]> {
    const { lastErrors } = await import('./queries/last-errors.ts')
    const latest = (await this.list()).slice(0, LATEST_SESSIONS)
    return lastErrors(
      this.#parts.log.place,
      latest.map(({ id }) => id),
    )
  }

  /** Passes the Events of a Session to `visit`. Keeps one page of the Log in memory at a time. */
  async read(id: SessionId, options: ReadOptions, visit: VisitEvent): Promise<Result<LogEnd>> {
    const read = await readLog(this.#parts.log, id, options, visit)
    return read.ok ? read : this.#orElsewhere(id, read)
  }

  /** Passes each matching line of messages, answers and tool calls to `visit`. */
  async search(
    id: SessionId,
    options: SearchOptions,
    visit: (match: Match) => void | Promise<void>,
  ): Promise<Result<SearchEnd>> {
    const { searchLog } = await import('./queries/search.ts')
    return searchLog(this.#parts.log, id, options, visit)
  }

  /** Adds the Provider Usage of a Session to `table`. */
  async usage(id: SessionId, table: UsageTable): Promise<Result<LogEnd>> {
    const { addUsage } = await import('./queries/usage.ts')
    return addUsage(this.#parts.log, id, table)
  }

  async undo(session: Session, turn?: TurnId): Promise<Result<UndoResult>> {
    const { undoTurn } = await import('./queries/undo.ts')
    return undoTurn(this.#parts, session, turn)
  }

  async diff(session: Session, turn?: TurnId): Promise<Result<SessionDiff>> {
    const { diffTurns } = await import('./queries/diff.ts')
    return diffTurns(this.#parts.log, session, turn)
  }

  /** What a call did to its file, for people. */
  async changedTexts(
    result: Parameters<typeof changedTexts>[1],
  ): Promise<ChangedTexts | undefined> {
    const query = await import('./queries/changed-texts.ts')
    return query.changedTexts(this.#parts.log, result)
  }

  /** Returns the exact request for `text`. Sends and writes nothing. */
  async preview(
    session: Session,
    text: string,
    options: PreviewOptions = {},
  ): Promise<Result<ComposedRequest>> {
    const { previewRequest } = await import('./queries/preview.ts')
    return previewRequest(this.#parts, session, text, options)
  }

  /** Stores a text for a client that can take only part of it, and returns the key of its blob. */
  keepText(text: string): Promise<Result<BlobKey>> {
    return this.#parts.log.store.put([Buffer.from(text)], 'text/plain')
  }

  /** How full the window of the model is, and with what. Sends and writes nothing. */
  async context(session: Session): Promise<Result<SessionContext>> {
    const { sessionContext } = await import('./queries/context.ts')
    return sessionContext(this.#parts, session)
  }

  /** Returns whether each attachment would be accepted. Stores, writes and sends nothing. */
  checkAttachments(
    inputs: readonly AttachmentInput[],
  ): Promise<Result<readonly AttachmentVerdict[]>> {
    return checkInputs(this.#parts.log.place.clock, inputs)
  }

  /** The Resources of a Session in the order in which they were attached. */
  async resources(session: Session): Promise<Result<readonly ListedResource[]>> {
    const { listResources } = await import('./queries/resources.ts')
    return listResources(this.#parts.log, session)
  }

  /** Permanently excludes the bytes of a Resource from requests. */
  async dropResource(session: Session, handle: string): Promise<Result<void>> {
    const { dropResource } = await import('./queries/resources.ts')
    return dropResource(session, handle)
  }

  async resourceBytes(session: Session, handle: string): Promise<Result<Buffer>> {
    const { resourceBytes } = await import('./queries/resources.ts')
    return resourceBytes(this.#parts.log, session, handle)
  }

  /** A smaller form of an image, with no side longer than `max_side` pixels. `unsupported_type` for anything else. */
  async thumbnail(session: Session, handle: string, max_side: number): Promise<Result<Variant>> {
    const { thumbnail } = await import('./queries/resources.ts')
    return thumbnail(this.#parts, session, handle, max_side)
  }

  /** Stored bytes of any Session of this workspace that are missing or damaged. */
  async badPayloads(): Promise<Result<readonly BadPayload[]>> {
    const { badPayloads } = await import('./queries/resources.ts')
    return badPayloads(this.#parts.log)
  }

  /** Pins text that every request shows verbatim, also after a checkpoint. */
  async pin(session: Session, text: string): Promise<Result<void>> {
    const { pinText } = await import('./live/compaction.ts')
    return pinText(session, text)
  }

  /** Removes a pin by its number, counted from 1. Returns its text. */
  async unpin(session: Session, number: number): Promise<Result<string>> {
    const { unpinText } = await import('./live/compaction.ts')
    return unpinText(this.#parts.log, session, number)
  }

  /** The pinned texts of a Session, the oldest first. */
  async pinned({ events }: Session): Promise<readonly string[]> {
    const { pinnedTexts } = await import('../context/carried-facts.ts')
    return pinnedTexts(events)
  }

  /** Records a checkpoint, or returns why there is none. May call the model, if its summary is chosen. */
  async compact(
    session: Session,
    options: CompactOptions = {},
  ): Promise<Result<CompactionOutcome>> {
    const { compactSession } = await import('./live/compaction.ts')
    return compactSession(this.#parts, session, options)
  }

  /** Returns what `compact` would record, and the size of the next request without and with it. Writes nothing. */
  async previewCompaction(
    session: Session,
    options: Pick<CompactOptions, 'summary'> = {},
  ): Promise<Result<CompactionPreview>> {
    const { previewCompaction } = await import('./queries/compaction-preview.ts')
    return previewCompaction(this.#parts, session, options)
  }

  /** The Skills on disk now. */
  skills(): Promise<SkillList> {
    return this.#parts.tools.skills.list()
  }

  /** Takes over the Skills and tools on disk. Returns what changed; `undefined` if nothing did. */
  async reload(session: Session): Promise<Result<string | undefined>> {
    const { reloadSurface } = await import('./live/reload.ts')
    return reloadSurface(this.#parts, session)
  }

  /** Takes the last compaction back. */
  async undoCompaction(session: Session): Promise<Result<UndoneCompaction>> {
    const { undoCompaction } = await import('./live/compaction.ts')
    return undoCompaction(session)
  }

  /**
   * Verifies every byte of the Log; with `requests`, also composes every sent request again and compares it. For a damaged
   * Log, it compares only the requests before the damage, and none if a blob that they need cannot be read.
   */
  async verify(
    id: SessionId,
    { requests }: { readonly requests: boolean },
  ): Promise<Result<Proof>> {
    const { verifyLog } = await import('../log/verify.ts')
    const log = await verifyLog(this.#parts.log.place, id)
    if (!log.ok) return this.#orElsewhere(id, log)
    const { compactions } = log.value
    if (!requests && compactions === 0) return ok({ log: log.value })
    const { eventsWithin, verifyRequests } = await import('./queries/verify-requests.ts')
    const { verifyCheckpoints } = await import('./queries/verify-checkpoints.ts')
    const read = await eventsWithin(this.#parts.log, id, log.value.bytes)
    if (!read.ok) return read
    const { events, offsets } = read.value
    const proof = { log: log.value, checkpoints: verifyCheckpoints(events, offsets) }
    if (!requests) return ok(proof)
    const verdict = await verifyRequests(this.#parts, events)
    if (verdict.ok) return ok({ ...proof, requests: verdict.value })
    return log.value.damage === undefined ? verdict : ok(proof)
  }

  /** The files of the workspace, for completion; see `listFiles`. */
  async listFiles(scan: FileScan): Promise<void> {
    const { listFiles } = await import('./commands/workspace-files.ts')
    return listFiles(this.#parts, scan)
  }

  /** Copies the intact Events of a damaged Log into a new Session. */
  async salvage(id: SessionId): Promise<Result<SalvageResult>> {
    const { salvageLog } = await import('../log/salvage.ts')
    return salvageLog(this.#parts.log.place, id, this.#writerOptions())
  }

  /** Accepts a Session that was created elsewhere. Its permission mode becomes at most `ask`. */
  async adopt(id: SessionId): Promise<Result<void>> {
    const { adoptLog } = await import('../log/adopt.ts')
    return adoptLog(this.#parts.log.place, id, this.#writerOptions())
  }

  async delete(id: SessionId): Promise<Result<void>> {
    const { deleteLog } = await import('../log/delete.ts')
    return deleteLog(this.#parts.log.place, id)
  }

  /** Deletes unreferenced blobs past the grace period, and Logs whose creation was interrupted. */
  async gc(options: { readonly dryRun: boolean }): Promise<Result<GcResult>> {
    const { sweepWorkspace } = await import('./queries/sweep.ts')
    return sweepWorkspace(this.#parts.log, options)
  }

  /** Names the workspace of a Session that is not in this one. */
  async #orElsewhere(id: SessionId, refused: Failed): Promise<Failed> {
    if (refused.error.kind !== 'not_found') return refused
    const instance = await this.#parts.workspace.instanceOf?.(id)
    if (instance !== undefined) return ofInstance(id, instance)
    const workspace = await this.#parts.workspace.whereIs?.(id)
    if (workspace === undefined || workspace === this.workspace) return refused
    const message = `Session ${id} belongs to another workspace: ${workspace}`
    return failed('not_found', message, { session_id: id, workspace }, [
      { action: 'Run the command in that folder, or name the folder with --workspace.' },
    ])
  }

  #writerOptions(): WriterOptions<SessionState> {
    const { store } = this.#parts.log
    return { fold: sessionFold, keep: (bytes, type) => store.put([bytes], type) }
  }
}

function ofInstance(id: SessionId, instance: InstanceId): Failed {
  const message = `Session ${id} belongs to the Instance ${instance}.`
  return failed('not_found', message, { session_id: id, instance_id: instance }, [
    { action: 'Read it.', command: `hawser log show ${id} --instance ${instance}` },
  ])
}

const NO_RULES: RuleStore = {
  read: async () => ok([]),
  add: async () => failed('storage_failed', 'Permission rules cannot be stored here.'),
  remove: async () => ok(false),
}

/** How many of the latest Sessions `lastErrors` reads. */
const LATEST_SESSIONS = 20

/** The result of `verify`. */
export interface Proof {
  readonly log: LogVerdict
  /** Checkpoints that differ from what their Events give. */
  readonly checkpoints?: readonly CheckpointMismatch[]
  readonly requests?: RequestsVerdict
}
