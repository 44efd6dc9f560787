import * as z from 'zod'
import type { Result } from '../../../src/model/errors.ts'
import type { EventDraft } from '../../../src/model/events/event.ts'
import { SessionId, type BlobKey, type TurnId } from '../../../src/model/ids.ts'
import type { LogWriter } from '../../../src/log/append.ts'
import { acquireLog, createLog } from '../../../src/log/open.ts'
import { PLANTED_BUGS } from '../../support/host/planted-bugs.ts'
import { random, type Random } from '../../support/host/random.ts'
import { sessionStarted, turnEnded } from '../../support/log/story.ts'
import { textFold, type TextState } from '../../support/log/text-fold.ts'
import { openPlace, type FaultPlace } from '../support/place.ts'
import { emit, emitEvents, emitRefusal } from '../../support/host/child-report.ts'

/** A child process that writes endlessly and reports what was acknowledged, until it is killed. */

const Order = z.object({
  root: z.string(),
  seed: z.int(),
  /** A unique prefix of this writer's texts. */
  name: z.string(),
  /** The Session to continue; without one, a new Session is created. */
  session: SessionId.optional(),
  /** Writes of megabytes, which a kill can tear, instead of mixed operations. */
  large: z.boolean(),
  bug: z.enum(PLANTED_BUGS).optional(),
})

/** After this many refusals, the disk is gone and there is nothing left to try. */
const REFUSALS_TAKEN = 8

class RandomWriter {
  readonly #storage: FaultPlace
  readonly #chance: Random
  readonly #name: string
  readonly #large: boolean
  #writer: LogWriter<TextState> | undefined
  #turn: TurnId
  #count = 0
  #refusals = 0
  #last: Buffer = Buffer.from('nothing yet')

  constructor(storage: FaultPlace, { seed, name, large }: z.infer<typeof Order>) {
    this.#storage = storage
    this.#chance = random(seed)
    this.#name = name
    this.#large = large
    this.#turn = storage.place.ids.turn()
  }

  get stopped(): boolean {
    return this.#refusals >= REFUSALS_TAKEN || this.#writer === undefined
  }

  async open(session: SessionId): Promise<void> {
    const { place, keep } = this.#storage
    const opened = await acquireLog(place, session, { fold: textFold, keep })
    if (!opened.ok) return this.#refused('open', opened)
    emit({ what: 'opened', session })
    this.#writer = opened.value
  }

  async begin(): Promise<void> {
    const { place, keep } = this.#storage
    const session = place.ids.session()
    emit({ what: 'begins', session })
    const created = await createLog(place, session, [sessionStarted], { fold: textFold, keep })
    if (!created.ok) return this.#refused('open', created)
    const { seq, prev } = created.value.cursor
    emit({ what: 'events', session, lines: [[seq - 1, prev ?? '']] })
    this.#writer = created.value
  }

  /** A random operation of a Session. */
  async act(): Promise<void> {
    const die = this.#chance.below(100)
    if (this.#large && die < 95) return this.#together(60)
    if (die < 30) return this.#append(this.#drafts(1 + this.#chance.below(3)))
    if (die < 55) return this.#together(2 + this.#chance.below(8))
    if (die < 59) return this.#together(30 + this.#chance.below(40))
    if (die < 80) return this.#keepThenName(this.#bytes())
    if (die < 85) return this.#keepThenName(this.#last)
    if (die < 90) return this.#append([this.#message(70_000)])
    if (die < 96) return this.#endTurn()
    return this.#another(die === 99)
  }

  async #together(count: number): Promise<void> {
    const puts = this.#chance.below(3)
    await Promise.all([
      ...Array.from({ length: count }, () => this.#append(this.#drafts(1))),
      ...Array.from({ length: puts }, () => this.#put(this.#bytes())),
    ])
  }

  async #keepThenName(bytes: Buffer): Promise<void> {
    this.#last = bytes
    const key = await this.#put(bytes)
    if (key !== undefined) await this.#append([this.#result(key)])
  }

  async #endTurn(): Promise<void> {
    await this.#append([turnEnded(this.#turn)])
    this.#turn = this.#storage.place.ids.turn()
  }

  /** Releases the Log and opens it again, or creates another one. */
  async #another(fresh: boolean): Promise<void> {
    const session = this.#writer?.session
    await this.#writer?.release()
    this.#writer = undefined
    if (fresh || session === undefined) await this.begin()
    else await this.open(session)
  }

  async #append(drafts: readonly EventDraft[]): Promise<void> {
    const writer = this.#writer
    if (writer === undefined) return
    const appended = await writer.append(drafts)
    if (appended.ok) emitEvents(writer.session, appended.value)
    else this.#refused('append', appended)
  }

  async #put(bytes: Buffer): Promise<BlobKey | undefined> {
    const put = await this.#storage.store.put([bytes], 'text/plain')
    if (put.ok) emit({ what: 'blob', key: put.value })
    else this.#refused('put', put)
    return put.ok ? put.value : undefined
  }

  #refused(doing: 'open' | 'append' | 'put', result: Result<unknown>): void {
    this.#refusals += 1
    if (!result.ok) emitRefusal(doing, result.error)
  }

  #drafts(count: number): EventDraft[] {
    return Array.from({ length: count }, () =>
      this.#chance.next() < 0.3 ? this.#notice() : this.#message(this.#size()),
    )
  }

  /** 200 B to 60 KB, distributed evenly by order of magnitude. */
  #size(): number {
    if (this.#large) return 60_000
    return Math.round(200 * 300 ** this.#chance.next())
  }

  #bytes(): Buffer {
    return Buffer.from(this.#text(this.#size()))
  }

  /** No two texts are equal; they contain characters of one and of two bytes. */
  #text(bytes: number): string {
    this.#count += 1
    return `${this.#name}.${this.#count}:`.padEnd(Math.floor((bytes * 2) / 3), 'é.')
  }

  #message(bytes: number): EventDraft {
    const data = { text: this.#text(bytes), prompt_mode: 'string' } as const
    return { type: 'user_message', turn_id: this.#turn, data }
  }

  /** Outside a Turn, so that it also writes the head. */
  #notice(): EventDraft {
    return { type: 'notice', data: { code: 'fault', text: this.#text(this.#size()) } }
  }

  #result(after: BlobKey): EventDraft {
    const output = this.#text(60)
    const data = { call_id: 'c1', name: 'write', outcome: 'ok', output, duration_ms: 1 } as const
    return { type: 'tool_result', turn_id: this.#turn, data: { ...data, after_blob: after } }
  }
}

const order = Order.parse(JSON.parse(process.argv[2] ?? ''))
// Nothing else may keep this process alive while it waits to be killed.
setInterval(() => {}, 60_000)
emit({ what: 'ready' })
const storage = await openPlace(order.root, order.bug)
const randomWriter = new RandomWriter(storage, order)
if (order.session === undefined) await randomWriter.begin()
else await randomWriter.open(order.session)
while (!randomWriter.stopped) await randomWriter.act()
emit({ what: 'done' })
