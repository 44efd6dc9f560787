import type { Swept } from '../blobs/sweep.ts'
import { asResult } from '../host/files/files.ts'
import type { RuleStore } from '../host/permission-rules.ts'
import { sessionsBeingWritten } from '../log/lease.ts'
import type { Writing } from '../log/open.ts'
import type { Salvaged } from '../log/salvage.ts'
import { removeUnbegun } from '../log/unbegun.ts'
import type { LogVerdict } from '../log/verify.ts'
import { failed, ok, type ErrorKind, type Result } from '../model/errors.ts'
import type { SessionId, TurnId } from '../model/ids.ts'
import type { ComposedRequest } from '../request/compose-request.ts'
import type { AttachmentInput } from '../model/attachment.ts'
import type { AttachmentVerdict } from '../resources/resolve-attachments.ts'
import { checkInputs } from './live/attachments.ts'
import { createSession, type NewSession } from './live/create.ts'
import type { FileDiff } from './queries/diff.ts'
import { findSession, listSessions, type ListedSession } from './queries/list.ts'
import type { PreviewOptions } from './queries/preview.ts'
import { readLog, type LogEnd, type ReadOptions, type VisitEvent } from './queries/read-log.ts'
import type { BadPayload, ListedResource } from './queries/resources.ts'
import type { Match, SearchEnd, SearchOptions } from './queries/search.ts'
import { Session } from './live/session.ts'
import type { SessionParts } from './live/session-parts.ts'
import { sessionFold, type SessionState } from './live/state.ts'
import type { Restored } from './queries/undo.ts'
import type { UsageTable } from './queries/usage.ts'
import type { RequestsVerdict } from './queries/verify-requests.ts'

/**
 * The one interface that presenters receive: everything a person can do with the Sessions of one workspace. What does not
 * belong to a Turn is loaded when it is asked for, so that nobody who only talks waits for it.
 */
export class Harness {
  readonly #parts: SessionParts

  constructor(parts: SessionParts) {
    this.#parts = parts
  }

  get workspace(): string {
    return this.#parts.workspace.path
  }

  /** What is allowed and denied in advance in this workspace. */
  get rules(): RuleStore {
    return this.#parts.person.rules ?? NO_RULES
  }

  /**
   * Begins a Session. With `toAdmit` its lock is kept for the Turn that is admitted next, and given back by that Turn's end
   * or by `close`: for whoever asks at once.
   */
  async create(
    options: NewSession,
    { toAdmit = false }: { readonly toAdmit?: boolean } = {},
  ): Promise<Result<Session>> {
    const writer = await createSession(this.#parts, options)
    if (!writer.ok) return writer
    if (!toAdmit) await writer.value.release()
    const session = new Session(
      this.#parts,
      writer.value.session,
      toAdmit ? writer.value : undefined,
    )
    const known = await session.catchUp()
    if (known.ok) return ok(session)
    await session.close()
    return known
  }

  /** Opens a Session that exists, also to continue it: its mode, its surface and its words are as they were left. */
  async open(id: SessionId): Promise<Result<Session>> {
    const session = new Session(this.#parts, id)
    const known = await session.catchUp()
    return known.ok ? ok(session) : known
  }

  /** The Session that was written last. */
  async latest(): Promise<Result<Session>> {
    const [latest] = await this.list()
    if (latest !== undefined) return this.open(latest.id)
    return failed('not_found', 'No Sessions in this folder yet.')
  }

  /** Every Session of this workspace, the latest first, by way of their indexes. What cannot be read says why. */
  list(): Promise<readonly ListedSession[]> {
    return listSessions(this.#parts.log.place)
  }

  /** One Session as `list` shows it, also when it cannot be opened. */
  find(id: SessionId): Promise<Result<ListedSession>> {
    return findSession(this.#parts.log.place, id)
  }

  /** Why Turns of the Sessions that were written last failed, the latest first. */
  async lastErrors(): Promise<readonly ErrorKind[]> {
    const { lastErrors } = await import('./queries/last-errors.ts')
    const latest = (await this.list()).slice(0, LATEST_SESSIONS)
    return lastErrors(
      this.#parts.log.place,
      latest.map(({ id }) => id),
    )
  }

  /** Hands the Events of a Session to `visit`, a page of the Log in memory at a time. */
  read(id: SessionId, options: ReadOptions, visit: VisitEvent): Promise<Result<LogEnd>> {
    return readLog(this.#parts.log, id, options, visit)
  }

  /** Hands the lines of what was said and done that a pattern is found in to `visit`. */
  async search(
    id: SessionId,
    options: SearchOptions,
    visit: (match: Match) => void | Promise<void>,
  ): Promise<Result<SearchEnd>> {
    const { searchLog } = await import('./queries/search.ts')
    return searchLog(this.#parts.log, id, options, visit)
  }

  /** Adds what a Session used of its providers to `table`. */
  async usage(id: SessionId, table: UsageTable): Promise<Result<LogEnd>> {
    const { addUsage } = await import('./queries/usage.ts')
    return addUsage(this.#parts.log, id, table)
  }

  async undo(session: Session, turn?: TurnId): Promise<Result<Restored>> {
    const { undoTurn } = await import('./queries/undo.ts')
    return undoTurn(this.#parts, session, turn)
  }

  async diff(session: Session, turn?: TurnId): Promise<Result<readonly FileDiff[]>> {
    const { diffTurns } = await import('./queries/diff.ts')
    return diffTurns(this.#parts.log, session, turn)
  }

  /** The exact request that `text` would become; nothing is sent and nothing is written. */
  async preview(
    session: Session,
    text: string,
    options: PreviewOptions = {},
  ): Promise<Result<ComposedRequest>> {
    const { previewRequest } = await import('./queries/preview.ts')
    return previewRequest(this.#parts, session, text, options)
  }

  /** What would become of attachments; nothing is stored, written or sent. */
  checkAttachments(
    inputs: readonly AttachmentInput[],
  ): Promise<Result<readonly AttachmentVerdict[]>> {
    return checkInputs(this.#parts.log.place.clock, inputs)
  }

  /** The Resources of a Session, in the order they came in. */
  async resources(session: Session): Promise<Result<readonly ListedResource[]>> {
    const { listResources } = await import('./queries/resources.ts')
    return listResources(this.#parts.log, session)
  }

  /** From now on nothing shows its bytes to a model. */
  async dropResource(session: Session, handle: string): Promise<Result<void>> {
    const { dropResource } = await import('./queries/resources.ts')
    return dropResource(session, handle)
  }

  async resourceBytes(session: Session, handle: string): Promise<Result<Buffer>> {
    const { resourceBytes } = await import('./queries/resources.ts')
    return resourceBytes(this.#parts.log, session, handle)
  }

  /** Stored bytes of any Session here that are missing or damaged. */
  async badPayloads(): Promise<Result<readonly BadPayload[]>> {
    const { badPayloads } = await import('./queries/resources.ts')
    return badPayloads(this.#parts.log)
  }

  /** Text that every checkpoint keeps as it is. */
  async pin(session: Session, text: string): Promise<Result<void>> {
    if (text.trim() === '') return failed('invalid_args', 'The text to pin is empty.')
    return session.between((record) =>
      record([{ type: 'text_pinned', data: { text, by: 'person' } }]),
    )
  }

  /** Proves the Log byte for byte; with `requests`, also that every request ever sent follows from it. */
  async verify(
    id: SessionId,
    { requests }: { readonly requests: boolean },
  ): Promise<Result<Proof>> {
    const { verifyLog } = await import('../log/verify.ts')
    const log = await verifyLog(this.#parts.log.place, id)
    if (!log.ok || !requests || log.value.damage !== undefined) {
      return log.ok ? ok({ log: log.value }) : log
    }
    const session = await this.open(id)
    if (!session.ok) return session
    const { verifyRequests } = await import('./queries/verify-requests.ts')
    const verdict = await verifyRequests(this.#parts, session.value.events)
    return verdict.ok ? ok({ log: log.value, requests: verdict.value }) : verdict
  }

  /** Writes what is whole of a damaged Log into a new Session. */
  async salvage(id: SessionId): Promise<Result<Salvaged>> {
    const { salvageLog } = await import('../log/salvage.ts')
    return salvageLog(this.#parts.log.place, id, this.#writing())
  }

  /** A person vouches for a Session that came from elsewhere. Its permission mode is `ask` at most from then on. */
  async adopt(id: SessionId): Promise<Result<void>> {
    const { adoptLog } = await import('../log/adopt.ts')
    return adoptLog(this.#parts.log.place, id, this.#writing())
  }

  async delete(id: SessionId): Promise<Result<void>> {
    const { deleteLog } = await import('../log/delete.ts')
    return deleteLog(this.#parts.log.place, id)
  }

  /** Deletes blobs that nothing mentions and that are old enough, and Logs whose creation was cut short. */
  async gc({ dryRun }: { readonly dryRun: boolean }): Promise<Result<Collected>> {
    const { sweepBlobs } = await import('../blobs/sweep.ts')
    const { store, place } = this.#parts.log
    const unbegun = await asResult('remove Logs that never began', async () =>
      ok(await removeUnbegun(place, { dryRun })),
    )
    if (!unbegun.ok) return unbegun
    const olderThan = place.clock.now() - GRACE_MS
    const swept = await sweepBlobs(store, {
      mentions: [place.sessions],
      writing: () => sessionsBeingWritten(place),
      olderThan,
      tidy: [place.sessions],
      dryRun,
    })
    return swept.ok ? ok({ ...swept.value, unbegun: unbegun.value }) : swept
  }

  #writing(): Writing<SessionState> {
    const { store } = this.#parts.log
    return { fold: sessionFold, keep: (bytes, type) => store.put([bytes], type) }
  }
}

const NO_RULES: RuleStore = {
  read: async () => ok([]),
  add: async () => failed('storage_failed', 'Permission rules cannot be stored here.'),
  remove: async () => ok(false),
}

/** What a collection did, or with `dryRun` would do. */
export interface Collected extends Swept {
  /** Logs that were created and never written. */
  readonly unbegun: number
}

/**
 * What was stored before its Session was locked may be on its way into an Event for this long. By the wall clock, because a file
 * keeps no other time; where that jumps, blobs stay longer or have to be attached again, and no Event names one that is gone.
 */
const GRACE_MS = 60 * 60 * 1000

/** As many as tell how things went lately. */
const LATEST_SESSIONS = 20

/** What a Log proves of itself. */
export interface Proof {
  readonly log: LogVerdict
  readonly requests?: RequestsVerdict
}
