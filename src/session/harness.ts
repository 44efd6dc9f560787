import type { FileScan } from './commands/workspace-files.ts'
import type { RuleStore } from '../host/permission-rules.ts'
import type { WriterOptions } from '../log/open.ts'
import type { SalvageResult } from '../log/lifecycle/salvage.ts'
import { failed, ok, type ErrorKind, type Failed, type Result } from '../model/errors.ts'
import type { BlobKey, InstanceId, SessionId } from '../model/ids.ts'
import type { AttachmentInput } from '../model/attachment.ts'
import type { AttachmentVerdict } from '../resources/resolve-attachments.ts'
import { checkInputs } from './admission/attachments.ts'
import type { ForkAt, ForkResult } from './forks/fork-session.ts'
import { createSession, type NewSession } from './live/create.ts'
import type { changedTexts, ChangedTexts } from './queries/changed-texts.ts'
import { findSession, listSessions, type ListedSession } from './queries/list.ts'
import {
  readLog,
  readLogBackward,
  type LogEnd,
  type ReadOptions,
  type VisitEvent,
} from './reading/read-log.ts'
import type { SkillList } from '../skills/skill.ts'
import type { BadPayload } from './queries/resources.ts'
import type { Match, SearchEnd, SearchOptions } from './queries/search.ts'
import type { AttachOptions } from './admission/attach-options.ts'
import type { Session } from './session.ts'
import { LiveSessions, type SessionActivity } from './live-sessions.ts'
import type { ChosenAnswer, OpenQuestions } from './questions/session-questions.ts'
import type { GcResult } from './queries/sweep.ts'
import type { SessionParts } from './live/session-parts.ts'
import { sessionFold, type SessionState } from './live/state.ts'
import type { UsageTable } from './queries/usage.ts'
import type { Proof } from './queries/verify.ts'

/**
 * All operations on the Sessions of one workspace, for every presenter. Queries outside a Turn
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
    { toAdmit = false, ...client }: AttachOptions & { readonly toAdmit?: boolean } = {},
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
  async open(id: SessionId, client: AttachOptions = {}): Promise<Result<Session>> {
    const session = await this.#live.attach(id, client)
    return session.ok ? session : this.#orElsewhere(id, session)
  }

  /** The most recently written Session. */
  async latest(client: AttachOptions = {}): Promise<Result<Session>> {
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

  /** What a Session does in this process. */
  activityOf(id: SessionId): SessionActivity {
    return this.#live.activityOf(id)
  }

  /** The questions of the open Session that asked this one; `undefined` if none did. */
  questionsWith(request_id: string): OpenQuestions | undefined {
    return this.#live.questionsWith(request_id)
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

  /** Like `read`, but the newest Event first. */
  async readBackward(
    id: SessionId,
    options: Omit<ReadOptions, 'follow' | 'elsewhere'>,
    visit: VisitEvent,
  ): Promise<Result<LogEnd>> {
    const read = await readLogBackward(this.#parts.log, id, options, visit)
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

  /** Adds the Provider Usage of a Session to `table`; not again what it inherits from Sessions that are added, too. */
  async usage(
    id: SessionId,
    table: UsageTable,
    elsewhere?: ReadonlySet<SessionId>,
  ): Promise<Result<LogEnd>> {
    const { addUsage } = await import('./queries/usage.ts')
    return addUsage(this.#parts.log, id, table, elsewhere)
  }

  /** What a call did to its file, for people. */
  async changedTexts(
    result: Parameters<typeof changedTexts>[1],
  ): Promise<ChangedTexts | undefined> {
    const query = await import('./queries/changed-texts.ts')
    return query.changedTexts(this.#parts.log, result)
  }

  /** Stores a text for a client that can take only part of it, and returns the key of its blob. */
  keepText(text: string): Promise<Result<BlobKey>> {
    return this.#parts.log.store.put([Buffer.from(text)], 'text/plain')
  }

  /** Returns whether each attachment would be accepted. Stores, writes and sends nothing. */
  checkAttachments(
    inputs: readonly AttachmentInput[],
  ): Promise<Result<readonly AttachmentVerdict[]>> {
    return checkInputs(this.#parts.log.place.clock, inputs)
  }

  /** Stored bytes of any Session of this workspace that are missing or damaged. */
  async badPayloads(): Promise<Result<readonly BadPayload[]>> {
    const { badPayloads } = await import('./queries/resources.ts')
    return badPayloads(this.#parts.log)
  }

  /** The Skills on disk now. */
  skills(): Promise<SkillList> {
    return this.#parts.tools.skills.list()
  }

  /**
   * Verifies every byte of the Log; with `requests`, also composes every sent request again and compares it. For a damaged
   * Log, it compares only the requests before the damage, and none if a blob that they need cannot be read.
   */
  async verify(
    id: SessionId,
    { requests }: { readonly requests: boolean },
  ): Promise<Result<Proof>> {
    const { verifySession } = await import('./queries/verify.ts')
    const proof = await verifySession(this.#parts, id, requests)
    return proof.ok ? proof : this.#orElsewhere(id, proof)
  }

  /** The files of the workspace, for completion; see `listFiles`. */
  async listFiles(scan: FileScan): Promise<void> {
    const { listFiles } = await import('./commands/workspace-files.ts')
    return listFiles(this.#parts, scan)
  }

  /** Creates a Session that shares this one up to a point. Its cost does not depend on the length of the Log at the end of it. */
  async fork(id: SessionId, at?: ForkAt): Promise<Result<ForkResult>> {
    const { forkSession } = await import('./forks/fork-session.ts')
    const forked = await forkSession(this.#parts.log, id, at)
    return forked.ok ? forked : this.#orElsewhere(id, forked)
  }

  /** Copies the intact Events of a damaged Log into a new Session. */
  async salvage(id: SessionId): Promise<Result<SalvageResult>> {
    const { salvageLog } = await import('../log/lifecycle/salvage.ts')
    const { place, store } = this.#parts.log
    const readField = async (key: BlobKey) => {
      const blob = await store.get(key)
      return blob.ok ? blob.value : undefined
    }
    return salvageLog(place, id, { ...this.#writerOptions(), readField })
  }

  /** Accepts a Session that was created elsewhere. Its permission mode becomes at most `ask`. */
  async adopt(id: SessionId): Promise<Result<void>> {
    const { adoptLog } = await import('../log/lifecycle/adopt.ts')
    return adoptLog(this.#parts.log.place, id, this.#writerOptions())
  }

  async delete(id: SessionId): Promise<Result<void>> {
    const { deleteLog } = await import('../log/lifecycle/delete.ts')
    return deleteLog(this.#parts.log.place, id)
  }

  /** Deletes unreferenced blobs past the grace period, and Logs whose creation was interrupted. */
  async gc(options: { readonly dryRun: boolean }): Promise<Result<GcResult>> {
    const { sweepWorkspace } = await import('./queries/sweep.ts')
    return sweepWorkspace(this.#parts, options)
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
