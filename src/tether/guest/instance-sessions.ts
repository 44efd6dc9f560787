import { ok, type Result } from '../../model/errors.ts'
import type { SessionId } from '../../model/ids.ts'
import type { GuestStart } from '../../model/tether/guest-line.ts'
import { conversationName } from '../frames/message-name.ts'
import type { TetherAddress } from '../../model/tether/tether-address.ts'
import type { Harness } from '../../session/harness.ts'
import type { Session } from '../../session/session.ts'

/** More are closed when they are idle, the longest unused first. */
const MOST_OPEN = 32

interface OpenSession {
  readonly address: TetherAddress
  readonly opening: Promise<Result<Session>>
}

type Start = Pick<GuestStart, 'instance' | 'provider' | 'model' | 'permission_mode'>

/** The Sessions of an Instance, one for each conversation. A Session belongs to the conversation that its first Event names. */
export class InstanceSessions {
  readonly #harness: Harness
  readonly #start: Start
  readonly #open = new Map<string, OpenSession>()
  #sessionIds: Promise<Map<string, SessionId>> | undefined

  constructor(harness: Harness, start: Start) {
    this.#harness = harness
    this.#start = start
  }

  /** The Session of a conversation, which stays open. Concurrent calls get the same one. */
  async session(address: TetherAddress): Promise<Result<Session>> {
    const key = conversationName(address)
    const open = this.#open.get(key) ?? { address, opening: this.#begin(address) }
    // The latest is the last one.
    this.#open.delete(key)
    this.#open.set(key, open)
    const session = await open.opening
    if (!session.ok && this.#open.get(key) === open) this.#open.delete(key)
    return session
  }

  /** Closes Sessions that are idle, if many are open. One that `isUsed` is not idle, even if it is not busy (yet). */
  async tidy(isUsed: (address: TetherAddress) => boolean): Promise<void> {
    for (const [key, open] of this.#open) {
      if (this.#open.size <= MOST_OPEN) return
      const session = await open.opening
      const isBusy = !session.ok || session.value.busy || isUsed(open.address)
      if (isBusy || this.#open.get(key) !== open) continue
      this.#open.delete(key)
      await session.value.detach()
    }
  }

  async #begin(address: TetherAddress): Promise<Result<Session>> {
    const known = await (this.#sessionIds ??= this.#list())
    const id = known.get(conversationName(address))
    if (id !== undefined) return this.#harness.open(id)
    const { instance, provider, model, permission_mode: permissionMode } = this.#start
    const { channel, id: name } = address
    const tether = { instance, channel, id: name }
    const created = await this.#harness.create(
      { provider, model, permissionMode, tether },
      { toAdmit: true },
    )
    if (!created.ok) return created
    known.set(conversationName(address), created.value.id)
    return ok(created.value)
  }

  /** Read once: this process creates all later ones. If two belong to one conversation, the latest counts. */
  async #list(): Promise<Map<string, SessionId>> {
    const all = await this.#harness.list()
    const own = all.flatMap(({ id, state: { tether } }): [string, SessionId][] =>
      tether?.instance === this.#start.instance ? [[conversationName(tether), id]] : [],
    )
    return new Map(own.toReversed())
  }
}
