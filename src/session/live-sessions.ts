import type { LogWriter } from '../log/append.ts'
import { failed, ok, type Result } from '../model/errors.ts'
import type { SessionId } from '../model/ids.ts'
import type { Rule } from '../model/rule.ts'
import type { OpenQuestions } from './questions/session-questions.ts'
import { LiveSession } from './live/live-session.ts'
import type { AttachOptions } from './admission/attach-options.ts'
import { Session } from './session.ts'
import type { SessionGrants, SessionParts } from './live/session-parts.ts'
import type { SessionState } from './live/state.ts'

/** What a Session does in this process. */
export interface SessionActivity {
  /** A Turn runs or a change is being made. */
  readonly runsHere: boolean
  /** How many permission questions wait for an answer. */
  readonly questions: number
}

/**
 * The Sessions that clients of this process use, each once. A Session is closed when its last client has left and no Turn
 * runs or waits in it.
 */
export class LiveSessions {
  readonly #parts: SessionParts
  readonly #live = new Map<SessionId, Entry>()
  readonly #grants: SessionGrants
  #closed = false

  constructor(parts: SessionParts) {
    this.#parts = parts
    this.#grants = parts.person.grants ?? new Map<SessionId, Rule[]>()
  }

  /** The number of Sessions that are held open. */
  get size(): number {
    return this.#live.size
  }

  /** A client uses the Session, or a Turn runs in it. */
  has(id: SessionId): boolean {
    return this.#live.has(id)
  }

  activityOf(id: SessionId): SessionActivity {
    const session = this.#live.get(id)?.session
    return { runsHere: session?.busy ?? false, questions: session?.questions.open.length ?? 0 }
  }

  /** Attaches a client. `held` is the writer from the creation of the Session, kept for its first Turn. */
  async attach(
    id: SessionId,
    options: AttachOptions,
    held?: LogWriter<SessionState>,
  ): Promise<Result<Session>> {
    const entry = await this.#entry(id, held)
    if (entry === undefined) {
      await held?.release()
      return failed('interrupted', 'The workspace is closed; open it again.')
    }
    const session = new Session(this.#parts, entry.session, options, {
      isLast: () => entry.clients === 0,
      leave: () => this.#leave(id, entry),
      open: (other) => this.attach(other, {}),
    })
    const known = await session.catchUp()
    if (known.ok) return ok(session)
    // Not `close`: a Turn may be running that another client left to continue.
    await session.detach()
    return known
  }

  /** The questions of the Session that asked this one; `undefined` if none did. */
  questionsWith(request_id: string): OpenQuestions | undefined {
    const live = [...this.#live.values()].map(({ session }) => session.questions)
    return live.find((questions) => questions.knows(request_id))
  }

  /**
   * Ends all Turns, and resolves when every Session is closed. From now on, no client attaches and no Turn starts. For `leaves`
   * see `LiveSession.end`.
   */
  async close({ leaves = false } = {}): Promise<void> {
    this.#closed = true
    await Promise.all(
      [...this.#live].map(async ([id, entry]) => {
        entry.clients = 0
        entry.session.end({ forever: true, leaves })
        await this.#closeIdle(id, entry)
      }),
    )
  }

  /** Counts the client at once, so that the Session is not closed in between. `undefined` once all are being closed. */
  async #entry(id: SessionId, held?: LogWriter<SessionState>): Promise<Entry | undefined> {
    for (;;) {
      if (this.#closed) return undefined
      const known = this.#live.get(id)
      if (known?.closing !== undefined) {
        await known.closing
        continue
      }
      const entry = known ?? { session: this.#openSession(id, held), clients: 0 }
      entry.clients += 1
      this.#live.set(id, entry)
      return entry
    }
  }

  /** What a person granted for a Session lasts as long as the process, also while no client has it open. */
  #openSession(id: SessionId, held?: LogWriter<SessionState>): LiveSession {
    const granted = this.#grants.get(id) ?? []
    this.#grants.set(id, granted)
    return new LiveSession(this.#parts, id, granted, held)
  }

  async #leave(id: SessionId, entry: Entry): Promise<void> {
    entry.clients -= 1
    await this.#closeIdle(id, entry)
  }

  async #closeIdle(id: SessionId, entry: Entry): Promise<void> {
    if (entry.clients > 0) return
    await entry.session.idle()
    if (entry.clients > 0) return
    entry.closing ??= entry.session.close().finally(() => this.#forget(id))
    await entry.closing
  }

  #forget(id: SessionId): void {
    this.#live.delete(id)
    if (this.#grants.get(id)?.length === 0) this.#grants.delete(id)
  }
}

interface Entry {
  readonly session: LiveSession
  clients: number
  /** Set when it can no longer be attached to. */
  closing?: Promise<void>
}
