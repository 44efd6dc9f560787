import type { AgentContext } from '@agentclientprotocol/sdk'
import type { Clock } from '../../host/clock.ts'
import type { OpenBuffers } from '../../host/files/buffered-files.ts'
import { failed, ok, type Result } from '../../model/errors.ts'
import { SessionId } from '../../model/ids.ts'
import { beginSession } from '../../session/workspace/begin.ts'
import {
  inHeld,
  noSuchSession,
  type HeldWorkspace,
  type Workspaces,
} from '../../session/workspace/open-workspaces.ts'
import type { Session } from '../../session/session.ts'
import type { ClientOffers } from './protocol.ts'
import type { ServedParts } from './served-parts.ts'
import { ServedSession } from './served-session.ts'

interface Serving {
  readonly workspaces: Workspaces
  readonly env: Readonly<Record<string, string | undefined>>
  readonly clock: Pick<Clock, 'after'>
  readonly offers: () => ClientOffers
}

interface CreatedSession {
  readonly session: ServedSession
  /** No model was chosen, so the offline one is used. */
  readonly offline: boolean
  /** Recorded with the start of the Session. */
  readonly notices: readonly string[]
}

/** The Sessions that the client has open. */
export class ServedSessions {
  readonly #serving: Serving
  readonly #open = new Map<SessionId, ServedSession>()
  #isClosed = false

  constructor(serving: Serving) {
    this.#serving = serving
  }

  /** Creates a Session in a folder, which becomes its workspace. */
  async create(client: AgentContext, cwd: string): Promise<Result<CreatedSession>> {
    const { workspaces, env, offers } = this.#serving
    const held = await workspaces.hold(cwd, { make: true })
    if (!held.ok) return held
    const { answers } = offers()
    const begun = await beginSession(held.value.workspace, {}, { env, answers })
    if (!begun.ok) {
      await held.value.release()
      return begun
    }
    const place = { holding: held.value, root: cwd, replay: false }
    const { session, byDefault: offline } = begun.value
    const notices = session.events.flatMap((event) =>
      event.type === 'notice' ? [event.data.text] : [],
    )
    const served = await this.#serve(client, place, session)
    return served.ok ? ok({ session: served.value, offline, notices }) : served
  }

  /**
   * Opens a Session of a folder. Its past is sent with `replay`. If it is open already, that one is replaced, but only when the
   * new one is there: a refused request changes nothing.
   */
  async open(
    client: AgentContext,
    { id: named, cwd, replay }: { id: string; cwd: string; replay: boolean },
  ): Promise<Result<ServedSession>> {
    const id = SessionId.safeParse(named)
    if (!id.success) return noSuchSession()
    if (this.#isBusy(id.data)) return promptRuns()
    const { workspaces, offers } = this.#serving
    const held = await workspaces.hold(cwd)
    if (!held.ok) return held
    const { answers } = offers()
    const session = await held.value.workspace.harness.open(id.data, { answers })
    if (!session.ok) {
      await held.value.release()
      return session
    }
    await endCrashed(held.value, session.value)
    if (this.#isBusy(id.data)) {
      await session.value.detach()
      await held.value.release()
      return promptRuns()
    }
    const place = { holding: held.value, root: cwd, replay }
    return this.#serve(client, place, session.value)
  }

  /** Creates a Session that shares another one of the folder up to its end, and opens it. Its past is not sent. */
  async fork(
    client: AgentContext,
    { id: named, cwd }: { id: string; cwd: string },
  ): Promise<Result<ServedSession>> {
    const id = SessionId.safeParse(named)
    if (!id.success) return noSuchSession()
    const forked = await inHeld(this.#serving.workspaces.hold(cwd), ({ workspace }) =>
      workspace.harness.fork(id.data),
    )
    if (!forked.ok) return forked
    return this.open(client, { id: forked.value.session_id, cwd, replay: false })
  }

  /** One that is open here. */
  get(named: string): Result<ServedSession> {
    const id = SessionId.safeParse(named)
    const found = id.success ? this.#open.get(id.data) : undefined
    return found === undefined ? notOpen() : ok(found)
  }

  /** The files that the client has open; `undefined` if it does not have this Session open. */
  buffersOf(id: SessionId): OpenBuffers | undefined {
    return this.#open.get(id)?.buffers(this.#serving.clock)
  }

  /** Nothing happens if it is not open. */
  async close(id: SessionId): Promise<void> {
    const served = this.#open.get(id)
    this.#open.delete(id)
    await served?.close()
  }

  async delete(named: string): Promise<Result<void>> {
    const id = SessionId.safeParse(named)
    if (!id.success) return noSuchSession()
    await this.close(id.data)
    const held = this.#serving.workspaces.holdFor(id.data)
    return inHeld(held, ({ workspace }) => workspace.harness.delete(id.data))
  }

  /** Also those that are being opened now. */
  async closeAll(): Promise<void> {
    this.#isClosed = true
    await Promise.all([...this.#open.keys()].map((id) => this.close(id)))
  }

  async #serve(
    client: AgentContext,
    place: Pick<ServedParts, 'holding' | 'root' | 'replay'>,
    session: Session,
  ): Promise<Result<ServedSession>> {
    const { env, offers } = this.#serving
    const served = new ServedSession({ ...place, session, client, offers: offers(), env })
    const before = this.#open.get(session.id)
    this.#open.set(session.id, served)
    const following = this.#isClosed ? closing() : await served.follow()
    if (following.ok) {
      await before?.close()
      return ok(served)
    }
    if (this.#open.get(session.id) === served) {
      if (before === undefined || this.#isClosed) this.#open.delete(session.id)
      else this.#open.set(session.id, before)
    }
    await served.close()
    if (this.#isClosed) await before?.close()
    return following
  }

  #isBusy(id: SessionId): boolean {
    return this.#open.get(id)?.busy === true
  }
}

/** A Turn that a crash left open is ended by the next writer: here, so that the client sees its end. */
async function endCrashed({ workspace }: HeldWorkspace, session: Session): Promise<void> {
  if (!session.state.turn_open) return
  const found = await workspace.harness.find(session.id)
  // Another process that writes it will end it. A Session that cannot be written is shown as it is.
  if (found.ok && !found.value.busy && !found.value.foreign)
    await session.between(async () => ok(1))
}

function promptRuns(): Result<never> {
  return failed('turn_in_progress', 'A prompt runs in this Session.')
}

function closing(): Result<void> {
  return failed('interrupted', 'The connection is closing.')
}

function notOpen(): Result<never> {
  return failed('not_found', 'No such Session is open on this connection.', {}, [
    { action: 'Open it with session/load or session/resume.' },
  ])
}
