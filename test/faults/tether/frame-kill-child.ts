import * as z from 'zod'
import { systemClock } from '../../../src/host/clock.ts'
import { diskFolder } from '../../../src/host/files/disk.ts'
import type { FrameToGuest, FrameToHost } from '../../../src/model/tether/frame.ts'
import type { FrameLog } from '../../../src/tether/frames/frame-log.ts'
import { emit } from '../../support/host/child-report.ts'
import { openFrames } from '../../support/tether/frame-log-place.ts'
import { delta, done, presence, userMessage } from '../../support/tether/frames.ts'
import { random, type Random } from '../../support/host/random.ts'
import { value } from '../../support/log/story.ts'
import { KILLED } from './frame-kill-settings.ts'

/** A child process that appends frames and polls for them endlessly, until it is killed. */

const Order = z.object({ root: z.string(), seed: z.int(), name: z.string() })

/** Reads all frames by long polls, and notices any that it was not given. */
class Poller {
  readonly #log: FrameLog
  readonly #seen = new Set<number>()
  readonly #start: number
  #cursor: number

  constructor(log: FrameLog) {
    this.#log = log
    this.#start = log.newest
    this.#cursor = log.newest
  }

  async run(): Promise<never> {
    for (;;) {
      const page = await this.#log.poll({ after_seq: this.#cursor, limit: 20 }, { waitMs: 1_000 })
      if (!page.ok) throw new Error(page.error.message)
      for (const { seq, type, msg_id } of page.value.frames) {
        if (seq <= this.#cursor) offence(`a poll returned ${seq} after ${this.#cursor}`)
        this.#cursor = seq
        this.#seen.add(seq)
        emit({ what: 'frame', how: 'read', seq, type, name: msg_id })
      }
    }
  }

  /** A frame was acknowledged. If its number is behind the cursor, it must have been returned. */
  check(seq: number): void {
    if (seq > this.#start && seq <= this.#cursor && !this.#seen.has(seq))
      offence(`a poll skipped ${seq}`)
  }
}

class Sender {
  readonly #log: FrameLog
  readonly #chance: Random
  readonly #name: string
  readonly #pollers: readonly Poller[]
  #count = 0

  constructor(log: FrameLog, chance: Random, name: string, pollers: readonly Poller[]) {
    this.#log = log
    this.#chance = chance
    this.#name = name
    this.#pollers = pollers
  }

  /** Ends what killed processes left open. */
  async finish(message: string): Promise<void> {
    await this.#append(done(this.#unique(), message))
  }

  /** A message and its answer, of some pieces. */
  async converse(): Promise<void> {
    const message = this.#unique()
    const text = 'x'.repeat(1 + this.#chance.below(2_000))
    if (!(await this.#append(userMessage(message, {}, text)))) return
    for (let pieces = this.#chance.below(30); pieces > 0; pieces--) {
      const isDelta = this.#chance.next() < 0.8
      await this.#append((isDelta ? delta : presence)(this.#unique(), message))
    }
    // Some stay open.
    if (this.#chance.next() < 0.95) await this.#append(done(this.#unique(), message, {}, text))
  }

  /** False if too many messages have not ended. */
  async #append(frame: FrameToGuest | FrameToHost): Promise<boolean> {
    const { type, msg_id, in_reply_to } = frame
    const named = { type, name: msg_id, ...(in_reply_to && { replyTo: in_reply_to }) }
    emit({ what: 'frame', how: 'submitted', seq: 0, ...named })
    const appended = await this.#log.append(frame)
    if (!appended.ok && appended.error.kind === 'backpressure') return false
    const { seq } = value(appended)
    emit({ what: 'frame', how: 'issued', seq, ...named })
    if (!type.endsWith('.delta')) for (const poller of this.#pollers) poller.check(seq)
    return true
  }

  #unique(): string {
    return `${this.#name}-${this.#count++}`
  }
}

function offence(text: string): void {
  emit({ what: 'offence', about: 'events', text })
}

const order = Order.parse(JSON.parse(process.argv[2] ?? ''))
emit({ what: 'ready' })
const folder = await diskFolder(order.root)
const log = value(await openFrames(folder, { settings: KILLED, clock: systemClock }))
const pollers = Array.from({ length: 4 }, () => new Poller(log))
for (const poller of pollers) void poller.run()
const left = log.pending()
const lanes = Array.from({ length: 3 }, async (_, lane) => {
  const chance = random(order.seed + lane)
  const sender = new Sender(log, chance, `${order.name}.${lane}`, pollers)
  if (lane === 0) for (const { msg_id } of left) await sender.finish(msg_id)
  for (;;) await sender.converse()
})
await Promise.all(lanes)
