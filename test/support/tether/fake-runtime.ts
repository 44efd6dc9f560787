import { failed, ok, type HawserError, type Result } from '../../../src/model/errors.ts'
import type { FrameToGuest, FrameToHost } from '../../../src/model/tether/frame.ts'
import type { MessageFrame } from '../../../src/tether/frames/guest-frames.ts'
import type {
  GuestOrder,
  InstanceRuntime,
  RunningGuest,
} from '../../../src/tether/instances/runtime.ts'
import { envelope } from './host-end.ts'

/** A guest that a test plays. */
export class FakeGuest implements RunningGuest {
  readonly order: GuestOrder
  readonly received: FrameToGuest[] = []
  readonly steps: string[] = []
  readonly ended: Promise<{ readonly reason?: HawserError }>
  pausing: Result<void> = ok(undefined)
  #end: (ending: { readonly reason?: HawserError }) => void = () => {}
  #isOver = false
  #replies = 0

  constructor(order: GuestOrder) {
    this.order = order
    this.ended = new Promise((resolve) => {
      this.#end = resolve
    })
    this.received.push(...order.book.unendedMessages)
  }

  send(frame: FrameToGuest): Result<void> {
    if (this.#isOver) return failed('wake_failed', 'It has ended.')
    if (this.order.book.add(frame)) this.received.push(frame)
    return ok(undefined)
  }

  async pause(): Promise<Result<void>> {
    this.steps.push('pause')
    return this.pausing
  }

  async resume(): Promise<Result<void>> {
    this.steps.push('resume')
    return this.#isOver ? failed('not_found', 'It has ended.') : ok(undefined)
  }

  async stop(graceMs?: number): Promise<void> {
    this.steps.push(`stop ${graceMs ?? ''}`.trim())
    this.#over({})
  }

  /** Ends by itself. */
  crash(kind: HawserError['kind'] = 'wake_failed'): void {
    this.#over({ reason: failed(kind, 'It crashed.').error })
  }

  messages(): string[] {
    return this.received.flatMap((one) => (one.type === 'user.message' ? [one.msg_id] : []))
  }

  cancels(): (string | undefined)[] {
    return this.received.flatMap((one) => (one.type === 'control.cancel' ? [one.in_reply_to] : []))
  }

  /** Says something about a message. */
  async say(type: FrameToHost['type'], payload: object, to: MessageFrame | FrameToGuest) {
    this.#replies += 1
    const { session, msg_id } = to
    const own = `${msg_id}-${this.order.book.unendedMessages.length}-${this.#replies}-${unique++}`
    const frame = { ...envelope(own, ''), session, in_reply_to: msg_id, type, payload }
    await this.order.onFrame(frame as FrameToHost)
  }

  /** Ends a message that it received. */
  async answer(msg_id: string, text = 'Done.', more: object = {}): Promise<void> {
    const to = this.received.find((one) => one.msg_id === msg_id)
    if (to === undefined) throw new Error(`it did not receive ${msg_id}`)
    const { session } = to
    this.order.book.end({
      ...envelope(`end-${msg_id}`, ''),
      session,
      in_reply_to: msg_id,
      type: 'assistant.done',
      payload: { text, status: 'completed' },
    })
    await this.say('assistant.done', { text, status: 'completed', ...more }, to)
  }

  #over(ending: { readonly reason?: HawserError }): void {
    this.#isOver = true
    this.#end(ending)
  }
}

let unique = 0

/** A runtime whose guests a test plays. */
export class FakeRuntime implements InstanceRuntime {
  readonly guests: FakeGuest[] = []
  readonly orders: GuestOrder[] = []
  /** The next starts fail with these. */
  failures: HawserError[] = []
  /** Starts wait for it. */
  gate: Promise<void> = Promise.resolve()

  async start(order: GuestOrder): Promise<Result<RunningGuest>> {
    this.orders.push(order)
    await this.gate
    const error = this.failures.shift()
    if (error !== undefined) return { ok: false, error }
    const guest = new FakeGuest(order)
    this.guests.push(guest)
    return ok(guest)
  }

  /** The latest guest. */
  get guest(): FakeGuest {
    const guest = this.guests.at(-1)
    if (guest === undefined) throw new Error('no guest was started')
    return guest
  }
}
