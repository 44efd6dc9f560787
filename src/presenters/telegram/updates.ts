import { elapsedMs, type Clock } from '../../host/clock.ts'
import { readUpdatePlace, writeUpdatePlace } from '../../host/telegram/deliveries.ts'
import type { TelegramHome } from '../../host/telegram/telegram-folder.ts'
import { wait } from '../../host/wait.ts'
import type { BotApi, BotFailure } from './bot-api.ts'
import { pauseMs } from './chat-sender.ts'
import { PLATFORM, Update, UPDATE_KINDS } from './protocol.ts'

/** Why the gateway does not receive messages. */
export type PollState = 'receiving' | 'unreachable' | 'conflict' | 'unauthorized'

export interface UpdateParts {
  readonly api: BotApi
  readonly clock: Clock
  readonly place: TelegramHome
  readonly bot: number
  /** Ends the call that waits for updates. */
  readonly signal: AbortSignal
  /** Resolves when the update needs not be delivered again. Never rejects. */
  readonly handle: (update: Update) => Promise<void>
  readonly onState: (state: PollState, failure?: BotFailure) => void
  readonly note: (entry: Readonly<Record<string, unknown>>) => void
}

const POLL_SECONDS = 30
/** While updates are being handled, new ones are still fetched. */
const BUSY_MS = 250
/** After a week without updates, Telegram begins to count elsewhere. */
const IDLE_MS = 5 * 24 * 60 * 60 * 1000
/** Updates that were handled but not acknowledged before a kill are among the last that were fetched. */
const REPEATED = PLATFORM.updates

/**
 * Receives updates until the signal is aborted, or another program receives them. An update is acknowledged when it and all
 * before it are handled: until then, Telegram keeps it, and delivers it again after a kill.
 */
export async function receiveUpdates(parts: UpdateParts): Promise<void> {
  const { api, clock, signal, onState } = parts
  const known = await readUpdatePlace(parts.place, parts.bot)
  const inbox = new UpdateInbox(parts, known.ok ? known.value : undefined)
  let offset: number | undefined
  let lastMs = clock.monotonicMs()
  for (let failures = 0; !signal.aborted;) {
    const timeout = inbox.isBusy ? 0 : POLL_SECONDS
    const args = {
      timeout,
      limit: PLATFORM.updates,
      allowed_updates: UPDATE_KINDS,
      ...(offset === undefined ? {} : { offset }),
    }
    const polled = await api.call('getUpdates', args, {
      signal,
      timeoutMs: (timeout + POLL_SECONDS) * 1000,
    })
    if (signal.aborted) break
    if (!polled.ok) {
      const { failure } = polled
      const state = stateOf(failure)
      onState(state, failure)
      if (state !== 'unreachable') break
      await wait(clock, pauseMs(failures, failure.retrySeconds), signal)
      failures += 1
      continue
    }
    onState('receiving')
    failures = 0
    const list = Array.isArray(polled.value) ? polled.value : []
    const updates = list.flatMap((one: unknown) => Update.safeParse(one).data ?? [])
    if (updates.length > 0) lastMs = clock.monotonicMs()
    inbox.take(updates)
    if (inbox.isBusy) await Promise.race([inbox.idle(), wait(clock, BUSY_MS, signal)])
    const next = (await inbox.advance()) ?? offset
    // The same updates would be sent again at once.
    if (list.length > 0 && next === offset && !inbox.isBusy) await wait(clock, BUSY_MS, signal)
    offset = next
    if (elapsedMs(clock, lastMs) > IDLE_MS) offset = undefined
  }
  await inbox.idle()
  await inbox.advance()
}

function stateOf({ code }: BotFailure): PollState {
  if (code === 409) return 'conflict'
  return code === 401 || code === 403 || code === 404 ? 'unauthorized' : 'unreachable'
}

class UpdateInbox {
  readonly #parts: UpdateParts
  /** The number after the last update that was handled before this process began. */
  readonly #before: number | undefined
  /** Updates that were delivered and are not acknowledged, in order, and whether they are handled. */
  readonly #open = new Map<number, boolean>()
  #idle = Promise.resolve()
  #running = 0
  #settle: (() => void) | undefined
  #next: number | undefined
  #recordedNext: number | undefined

  constructor(parts: UpdateParts, before: number | undefined) {
    this.#parts = parts
    this.#before = before
  }

  get isBusy(): boolean {
    return this.#running > 0
  }

  idle(): Promise<void> {
    return this.#idle
  }

  /** Telegram repeats what is not acknowledged. */
  take(updates: readonly Update[]): void {
    for (const update of updates.toSorted((a, b) => a.update_id - b.update_id)) {
      const { update_id: id } = update
      if (this.#open.has(id)) continue
      if (this.#isHandled(id)) {
        this.#open.set(id, true)
        continue
      }
      this.#open.set(id, false)
      this.#begin()
      void this.#parts.handle(update).then(() => {
        // What was given up when the server stops is delivered again.
        if (!this.#parts.signal.aborted) this.#open.set(id, true)
        this.#end()
      })
    }
  }

  /** The number to acknowledge, recorded; `undefined` if there is no new one. */
  async advance(): Promise<number | undefined> {
    for (const [id, isHandled] of this.#open) {
      if (!isHandled) break
      this.#open.delete(id)
      this.#next = id + 1
    }
    if (this.#next === this.#recordedNext || this.#next === undefined) return this.#next
    const { place, bot, note } = this.#parts
    const written = await writeUpdatePlace(place, bot, this.#next)
    if (written.ok) this.#recordedNext = this.#next
    else note({ error: written.error.message })
    return this.#next
  }

  /** Numbers may begin elsewhere after a week, so only those just before the last one are known. */
  #isHandled(id: number): boolean {
    if (this.#next !== undefined) return id < this.#next && id >= this.#next - REPEATED
    return this.#before !== undefined && id < this.#before && id >= this.#before - REPEATED
  }

  #begin(): void {
    if (this.#running === 0)
      this.#idle = new Promise((resolve) => {
        this.#settle = resolve
      })
    this.#running += 1
  }

  #end(): void {
    this.#running -= 1
    if (this.#running === 0) this.#settle?.()
  }
}
