import { execFileSync } from 'node:child_process'
import { open, readdir, rm, statfs } from 'node:fs/promises'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'
import type { Failed } from '../../../src/model/errors.ts'
import type { EventDraft } from '../../../src/model/events/event.ts'
import type { SessionId, TurnId } from '../../../src/model/ids.ts'
import type { LogWriter } from '../../../src/log/append.ts'
import { acquireLog, createLog } from '../../../src/log/open.ts'
import { random, type Random } from '../../support/host/random.ts'
import { sessionStarted, turnEnded, value } from '../../support/log/story.ts'
import { textFold, type TextState } from '../../support/log/text-fold.ts'
import { judge } from '../support/judge.ts'
import { openPlace, type FaultPlace } from '../support/place.ts'
import { Ledger, emit } from '../../support/host/child-report.ts'

/** A child process in its own mount namespace that fills a small disk, frees space, and continues. */

const Order = z.object({ point: z.string(), seed: z.int(), rounds: z.int() })

class Round {
  readonly #storage: FaultPlace
  readonly #chance: Random
  readonly #ballast: string
  readonly #ledger = new Ledger()
  readonly #turn: TurnId
  #count = 0

  constructor(storage: FaultPlace, chance: Random, ballast: string) {
    this.#storage = storage
    this.#chance = chance
    this.#ballast = ballast
    this.#turn = storage.place.ids.turn()
  }

  /** `room`: the number of free bytes when the disk starts to fill up. */
  async play(room: number): Promise<void> {
    const { place, keep } = this.#storage
    const session = place.ids.session()
    const begun = await createLog(place, session, [sessionStarted], { fold: textFold, keep })
    const writer = value(begun)
    this.#ledger.note({
      what: 'events',
      session,
      lines: [[writer.cursor.seq - 1, writer.cursor.prev ?? '']],
    })
    await this.#fillExcept(room)
    const refusals = await this.#untilFull(writer)
    await this.#mustWork(writer)
    if (refusals === 0) offend('events', 'the disk never was full')
    await writer.release()
    await this.#openWhileFull(session)
    await this.#judge()
  }

  /** Appends and puts until both were refused a few times; smaller ones may succeed in between, and count. */
  async #untilFull(writer: LogWriter<TextState>): Promise<number> {
    const refused = { append: 0, put: 0 }
    while (refused.append < 3 || refused.put < 3) {
      const die = this.#chance.below(10)
      if (die < 4 || refused.append < 3) refused.append += await this.#append(writer, 1)
      else if (die < 5) await this.#together(writer)
      if (die >= 5) refused.put += await this.#put(this.#bytes())
    }
    return refused.append + refused.put
  }

  async #together(writer: LogWriter<TextState>): Promise<void> {
    await Promise.all([this.#append(writer, 2), this.#append(writer, 1), this.#append(writer, 1)])
  }

  /** Space is available again: what was refused before is accepted now. */
  async #mustWork(writer: LogWriter<TextState>): Promise<void> {
    await rm(this.#ballast)
    for (let i = 0; i < 3; i++) {
      if ((await this.#append(writer, 2)) > 0) offend('events', 'refused although space is back')
      if ((await this.#put(this.#bytes())) > 0) offend('blobs', 'refused although space is back')
    }
    await this.#append(writer, 0)
  }

  /** Opening and creating a Session needs space too. Without it both are refused, and nothing is corrupted. */
  async #openWhileFull(session: SessionId): Promise<void> {
    const { place, keep } = this.#storage
    await this.#fillExcept(0)
    const other = place.ids.session()
    this.#ledger.note({ what: 'begins', session: other })
    const opened = await acquireLog(place, session, { fold: textFold, keep })
    if (opened.ok) {
      await this.#append(opened.value, 1)
      await opened.value.release()
    } else this.#mustBeFull('events', opened)
    const begun = await createLog(place, other, [sessionStarted], { fold: textFold, keep })
    if (begun.ok) await begun.value.release()
    else this.#mustBeFull('events', begun)
    await rm(this.#ballast)
  }

  async #judge(): Promise<void> {
    const found = await judge(this.#storage, this.#ledger, { onlyAcknowledged: true })
    for (const text of found.events) offend('events', text)
    for (const text of found.blobs) offend('blobs', text)
  }

  /** 1 if it was refused. `count` 0 ends the Turn, which writes the head. */
  async #append(writer: LogWriter<TextState>, count: number): Promise<number> {
    const drafts = Array.from({ length: count }, () => this.#message())
    const appended = await writer.append(count === 0 ? [turnEnded(this.#turn)] : drafts)
    if (!appended.ok) return this.#mustBeFull('events', appended)
    const lines = appended.value.map(({ seq, hash }): [number, string] => [seq, hash])
    this.#ledger.note({ what: 'events', session: writer.session, lines })
    emit({ what: 'events', session: writer.session, lines })
    return 0
  }

  async #put(bytes: Buffer): Promise<number> {
    const put = await this.#storage.store.put([bytes], 'text/plain')
    if (!put.ok) return this.#mustBeFull('blobs', put)
    this.#ledger.note({ what: 'blob', key: put.value })
    emit({ what: 'blob', key: put.value })
    return 0
  }

  #mustBeFull(about: 'events' | 'blobs', { error }: Failed): number {
    if (error.kind !== 'storage_failed' || error.details['code'] !== 'ENOSPC') {
      offend(about, `refused as ${error.kind}: ${error.message}`)
    }
    return 1
  }

  #text(bytes: number): string {
    this.#count += 1
    return `f.${this.#count}:`.padEnd(bytes, '.')
  }

  #size(): number {
    return Math.round(200 * 200 ** this.#chance.next())
  }

  #bytes(): Buffer {
    return Buffer.from(this.#text(this.#size()))
  }

  #message(): EventDraft {
    const data = { text: this.#text(this.#size()), prompt_mode: 'string' } as const
    return { type: 'user_message', turn_id: this.#turn, data }
  }

  /** The space is taken by one file, so that it can be freed at once. */
  async #fillExcept(room: number): Promise<void> {
    const { bavail, bsize } = await statfs(this.#ballast.slice(0, this.#ballast.lastIndexOf('/')))
    const file = await open(this.#ballast, 'wx')
    const bytes = Math.max(0, bavail * bsize - room)
    await file.write(Buffer.alloc(bytes))
    await file.close()
  }
}

function offend(about: 'events' | 'blobs', text: string): void {
  emit({ what: 'offence', about, text })
}

/** Failed puts leave nothing behind, so that they do not fill the disk. */
async function leftovers(root: string): Promise<string[]> {
  const names = await readdir(root, { recursive: true })
  return names.filter((name) => name.includes('.tmp-'))
}

const { point, seed, rounds } = Order.parse(JSON.parse(process.argv[2] ?? ''))
execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m,mode=700', 'tmpfs', point])
const chance = random(seed)
emit({ what: 'ready' })
for (let round = 1; round <= rounds; round++) {
  const root = join(point, `round-${round}`)
  await mkdir(root, { mode: 0o700 })
  const storage = await openPlace(root)
  // Room for about as many writes as there were rounds, so that each write is once the first that does not fit.
  await new Round(storage, chance, join(point, 'ballast')).play(round * 6000)
  await storage.close()
  for (const name of await leftovers(root)) offend('blobs', `left behind: ${name}`)
  await rm(root, { recursive: true })
}
emit({ what: 'done' })
