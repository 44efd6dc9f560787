import type { Clock } from '../../host/clock.ts'
import type { MessageFrame } from '../frames/guest-frames.ts'
import { conversationName, messageName } from '../frames/message-name.ts'

export interface MessageTimesParts {
  readonly clock: Clock
  readonly limitMs: () => number
  /** The message has run for too long. Called once for each. */
  readonly overdue: (message: MessageFrame) => void
  /** It was not ended by that either. Called once for each. */
  readonly onExpired: (message: MessageFrame) => void
}

/** How long a message may take to end after it was cancelled. */
const GRACE_MS = 30_000

interface Run {
  readonly message: MessageFrame
  ms: number
  stage: 'running' | 'overdue' | 'expired'
}

/**
 * How long messages have run: the first of each conversation, while the guest runs. The time that a guest is paused or stopped
 * does not count, nor does the time in the queue.
 */
export class MessageTimes {
  readonly #parts: MessageTimesParts
  #runs = new Map<string, Run>()
  /** When the time of the runs was last added up; `undefined` while the guest does not run. */
  #since: number | undefined
  #cancel: (() => void) | undefined

  constructor(parts: MessageTimesParts) {
    this.#parts = parts
  }

  /** Call it when messages arrive or end, and when the guest starts or stops to run. */
  update(waiting: readonly MessageFrame[], isRunning: boolean): void {
    this.#cancel?.()
    this.#cancel = undefined
    const now = this.#parts.clock.monotonicMs()
    this.#count(now)
    this.#since = isRunning ? now : undefined
    this.#runs = new Map(firstOfEach(waiting).map((message) => this.#entry(message)))
    if (isRunning) this.#wait()
  }

  #count(now: number): void {
    if (this.#since === undefined) return
    for (const run of this.#runs.values()) run.ms += now - this.#since
    this.#since = now
  }

  #entry(message: MessageFrame): [string, Run] {
    const name = messageName(message)
    return [name, this.#runs.get(name) ?? { message, ms: 0, stage: 'running' }]
  }

  #wait(): void {
    const left = [...this.#runs.values()].flatMap((run) =>
      run.stage === 'expired' ? [] : [this.#limitOf(run) - run.ms],
    )
    if (left.length === 0) return
    this.#cancel = this.#parts.clock.after(Math.max(0, Math.min(...left)), () => this.#look())
  }

  #limitOf({ stage }: Run): number {
    return this.#parts.limitMs() + (stage === 'overdue' ? GRACE_MS : 0)
  }

  #look(): void {
    this.#cancel = undefined
    this.#count(this.#parts.clock.monotonicMs())
    const due = [...this.#runs.values()].filter(
      (run) => run.stage !== 'expired' && run.ms >= this.#limitOf(run),
    )
    for (const run of due) run.stage = run.stage === 'running' ? 'overdue' : 'expired'
    this.#wait()
    for (const { message, stage } of due)
      if (stage === 'overdue') this.#parts.overdue(message)
      else this.#parts.onExpired(message)
  }
}

function firstOfEach(waiting: readonly MessageFrame[]): readonly MessageFrame[] {
  const first = new Map<string, MessageFrame>()
  for (const message of waiting) {
    const conversation = conversationName(message.session)
    if (!first.has(conversation)) first.set(conversation, message)
  }
  return [...first.values()]
}
