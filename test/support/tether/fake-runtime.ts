import { failed, ok, type HawserError, type Result } from '../../../src/model/errors.ts'
import type { FrameToGuest, FrameToHost } from '../../../src/model/tether/frame.ts'
import type { FrameOf } from '../../../src/tether/frames/guest-frames.ts'
import type {
  AgentOrder,
  InstanceRuntime,
  RunningAgent,
} from '../../../src/tether/instances/runtime.ts'
import { envelope } from './host-end.ts'

type Message = FrameOf<'user.message'>

/** An agent that a test plays. */
export class FakeAgent implements RunningAgent {
  readonly order: AgentOrder
  readonly received: FrameToGuest[] = []
  readonly steps: string[] = []
  readonly ended: Promise<{ readonly reason?: HawserError }>
  pausing: Result<void> = ok(undefined)
  #end: (ending: { readonly reason?: HawserError }) => void = () => {}
  #isOver = false
  #replies = 0

  constructor(order: AgentOrder) {
    this.order = order
    this.ended = new Promise((resolve) => {
      this.#end = resolve
    })
    this.received.push(...order.book.unended)
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
  async say(type: FrameToHost['type'], payload: object, to: Message | FrameToGuest) {
    this.#replies += 1
    const { session, msg_id } = to
    const own = `${msg_id}-${this.order.book.unended.length}-${this.#replies}-${unique++}`
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

/** A runtime whose agents a test plays. */
export class FakeRuntime implements InstanceRuntime {
  readonly agents: FakeAgent[] = []
  readonly orders: AgentOrder[] = []
  /** The next starts fail with these. */
  failures: HawserError[] = []
  /** Starts wait for it. */
  gate: Promise<void> = Promise.resolve()

  async start(order: AgentOrder): Promise<Result<RunningAgent>> {
    this.orders.push(order)
    await this.gate
    const error = this.failures.shift()
    if (error !== undefined) return { ok: false, error }
    const agent = new FakeAgent(order)
    this.agents.push(agent)
    return ok(agent)
  }

  /** The latest agent. */
  get agent(): FakeAgent {
    const agent = this.agents.at(-1)
    if (agent === undefined) throw new Error('no agent was started')
    return agent
  }
}
