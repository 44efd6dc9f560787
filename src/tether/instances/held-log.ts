import { inOrder } from '../../host/in-order.ts'
import { failed, ok, type Result } from '../../model/errors.ts'
import { FrameLog, type FrameLogParts } from '../frames/frame-log.ts'
import type { PollPlaces } from '../frames/frame-waiters.ts'

export interface HeldLogParts extends Pick<FrameLogParts, 'store' | 'instance' | 'clock'> {
  readonly places: PollPlaces
  /** The log has to stay open although it is not in use. */
  readonly isNeeded: () => boolean
  /** Called with a log that was just opened, before another holder can use it. */
  readonly onOpen: (log: FrameLog) => Promise<void>
  /** Called before a log is closed that is no longer needed. */
  readonly closing: () => Promise<void>
  /** Called with what is thrown where no caller waits for it. */
  readonly onDefect: (error: unknown) => void
}

interface OpenLog {
  readonly log: FrameLog
  users: number
}

/** How long a log stays open after its last use. */
const IDLE_MS = 60_000

/** The frame log of an Instance, open while a holder uses or needs it. */
export class HeldLog {
  readonly #parts: HeldLogParts
  readonly #inOrder = inOrder()
  #openLog: OpenLog | undefined
  #cancel: (() => void) | undefined
  #isClosed = false

  constructor(parts: HeldLogParts) {
    this.#parts = parts
  }

  /** The log, if it is open. */
  get current(): FrameLog | undefined {
    return this.#openLog?.log
  }

  /** Opens the log if necessary. It stays open until `release`, unless it fails. */
  async hold(): Promise<Result<{ readonly log: FrameLog; readonly release: () => void }>> {
    const opened = this.#openLog ?? (await this.#inOrder(() => this.#open()))
    if ('ok' in opened) return opened
    opened.users += 1
    let isReleased = false
    const release = () => {
      if (isReleased) return
      isReleased = true
      opened.users -= 1
      this.#rest()
    }
    return ok({ log: opened.log, release })
  }

  async use<T>(work: (log: FrameLog) => Promise<Result<T>>): Promise<Result<T>> {
    const held = await this.hold()
    if (!held.ok) return held
    try {
      return await work(held.value.log)
    } finally {
      held.value.release()
    }
  }

  /** Closes it now, even if it is in use. The next use opens it again: a log that failed to sync accepts nothing until then. */
  reopen(): Promise<void> {
    return this.#inOrder(() => this.#close())
  }

  /** Permanently. */
  close(): Promise<void> {
    this.#isClosed = true
    return this.reopen()
  }

  async #open(): Promise<OpenLog | Extract<Result<never>, { ok: false }>> {
    if (this.#openLog !== undefined) return this.#openLog
    if (this.#isClosed) return failed('not_found', 'The frames of this Instance are closed.')
    const { store, instance, clock, places, onOpen } = this.#parts
    const log = await FrameLog.open({ store, instance, clock, places })
    if (!log.ok) return log
    await onOpen(log.value)
    this.#openLog = { log: log.value, users: 0 }
    return this.#openLog
  }

  async #close(): Promise<void> {
    this.#cancel?.()
    this.#cancel = undefined
    const opened = this.#openLog
    if (opened === undefined) return
    this.#openLog = undefined
    await opened.log.close()
  }

  #rest(): void {
    if (this.#openLog === undefined || this.#openLog.users > 0) return
    this.#cancel?.()
    this.#cancel = this.#parts.clock.after(IDLE_MS, () => {
      this.#cancel = undefined
      this.#inOrder(async () => {
        if (this.#openLog === undefined || this.#openLog.users > 0) return
        if (this.#parts.isNeeded()) return this.#rest()
        await this.#parts.closing()
        if (this.#openLog.users === 0) await this.#close()
      }).catch(this.#parts.onDefect)
    })
  }
}
