import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { SessionId } from '../../src/model/ids.ts'
import type { LogLine } from '../../src/log/line.ts'
import { createLog } from '../../src/log/open.ts'
import { openReader } from '../../src/log/reader.ts'
import { verifyLog } from '../../src/log/verify.ts'
import { random } from '../support/random.ts'
import { sessionStarted, value } from '../support/story.ts'
import { textFold } from '../support/text-fold.ts'
import { bundleScript } from '../support/bundle-script.ts'
import { startChild, type Child } from './child.ts'
import { openPlace, PROGRAM, type FaultPlace } from './place.ts'
import type { Told } from './told.ts'

export interface LockRun {
  readonly seed: number
  readonly rounds: number
  readonly folder: string
}

export interface Takeovers {
  readonly violations: string[]
  /** The longest time from the kill of the holder until another process reported that it has the Log. */
  slowestMs: number
}

/** Enough for every process to learn of the race before it begins. */
const HEAD_START_MS = 8

/** Two processes open one free Session at the same moment, repeatedly. */
export async function raceForFree({ rounds, folder }: LockRun): Promise<string[]> {
  const violations: string[] = []
  const arena = await Arena.make(folder)
  const takers = await Promise.all([arena.taker(), arena.taker()])
  for (let round = 0; round < rounds; round++) {
    const { winners, offences } = await race(takers)
    violations.push(...offences.map((text) => `round ${round}: ${text}`))
    for (const winner of winners) await give(winner)
  }
  violations.push(...(await arena.offences()))
  await arena.end()
  return violations
}

/** The holder is killed, and two or three other processes open its Session at the same moment. */
export async function raceForDead({ seed, rounds, folder }: LockRun): Promise<Takeovers> {
  const sum: Takeovers = { violations: [], slowestMs: 0 }
  const chance = random(seed)
  const arena = await Arena.make(folder)
  let [holder, ...waiting] = await Promise.all([1, 2, 3, 4].map(() => arena.taker()))
  if (holder === undefined) throw new Error('no holder')
  await race([holder])
  for (let round = 0; round < rounds; round++) {
    const dead = holder.pid
    const killedAt = performance.now()
    await holder.kill()
    const takers = waiting.slice(0, 2 + chance.below(2))
    const { winners, offences, ms } = await race(takers, killedAt)
    const [winner] = winners
    sum.slowestMs = Math.max(sum.slowestMs, Math.ceil(ms))
    offences.push(...(await arena.takenFrom(dead)))
    sum.violations.push(...offences.map((text) => `round ${round}: ${text}`))
    if (winner === undefined || winners.length > 1) break
    holder = winner
    waiting = [...waiting.filter((taker) => taker !== winner), await arena.taker()]
  }
  sum.violations.push(...(await arena.offences()))
  await arena.end()
  return sum
}

interface Outcome {
  readonly winners: Child[]
  readonly offences: string[]
  /** From `since` until the report of the winner. */
  readonly ms: number
}

async function race(takers: readonly Child[], since = performance.now()): Promise<Outcome> {
  const at = Date.now() + HEAD_START_MS
  let ms = 0
  const answers = await Promise.all(
    takers.map(async (taker) => {
      const answer = nextAnswer(taker)
      taker.send(JSON.stringify({ do: 'take', at }))
      const told = await answer
      if (told?.what === 'opened') ms = performance.now() - since
      return { taker, told }
    }),
  )
  const winners = answers.filter(({ told }) => told?.what === 'opened').map(({ taker }) => taker)
  const offences = winners.length === 1 ? [] : [`${winners.length} of ${takers.length} won`]
  for (const { told } of answers) {
    if (told?.what !== 'opened') offences.push(...misnamed(told, winners[0]?.pid))
  }
  return { winners, offences, ms }
}

/** A refusal names the holder of the Session. */
function misnamed(told: Told | undefined, winner: number | undefined): string[] {
  if (told?.what !== 'refused') return ['a taker died']
  const { kind, details } = told
  if (kind !== 'session_busy') return [`refused as ${kind}: ${told.message}`]
  const holder = details['holder'] as { pid?: number; program?: string } | undefined
  if (holder === undefined) return ['refused without a name']
  return holder.pid === winner && holder.program === PROGRAM
    ? []
    : [`refused in the name of ${holder.program} ${holder.pid}, but ${winner} won`]
}

function nextAnswer(taker: Child): Promise<Told | undefined> {
  const before = new Set(taker.told)
  return taker.heard(
    (told) => !before.has(told) && (told.what === 'opened' || told.what === 'refused'),
  )
}

async function give(holder: Child): Promise<void> {
  const before = new Set(holder.told)
  const given = holder.heard((told) => !before.has(told) && told.what === 'done')
  holder.send(JSON.stringify({ do: 'release' }))
  await given
}

/** One Session, and every process that ever tried to open it. */
class Arena {
  readonly #root: string
  readonly #script: string
  readonly #here: FaultPlace
  readonly #session: SessionId
  readonly #takers: Child[] = []

  static async make(folder: string): Promise<Arena> {
    const root = await mkdtemp(join(folder, 'lock-'))
    const script = await bundleScript(new URL('taker.ts', import.meta.url), root)
    const here = await openPlace(root)
    const { place, keep } = here
    const session = place.ids.session()
    const begun = await createLog(place, session, [sessionStarted], { fold: textFold, keep })
    await value(begun).release()
    return new Arena(root, script, here, session)
  }

  constructor(root: string, script: string, here: FaultPlace, session: SessionId) {
    this.#root = root
    this.#script = script
    this.#here = here
    this.#session = session
  }

  async taker(): Promise<Child> {
    const taker = startChild(this.#script, { root: this.#root, session: this.#session })
    this.#takers.push(taker)
    await taker.heard(({ what }) => what === 'ready')
    return taker
  }

  /** The last line of the Log names the previous holder. */
  async takenFrom(dead: number): Promise<string[]> {
    const { logged } = (await this.#lines()).at(-1) ?? {}
    if (logged?.event.type !== 'lock_taken') return ['the Log does not tell of the taking']
    const told = JSON.stringify(logged.event.data)
    const previous: unknown = logged.event.data.previous_holder
    const { pid, program } = previous as { pid?: number; program?: string }
    return pid === dead && program === PROGRAM ? [] : [`taken from ${dead}, but it says ${told}`]
  }

  async offences(): Promise<string[]> {
    const { damage, torn_bytes } = value(await verifyLog(this.#here.place, this.#session))
    return damage === undefined && torn_bytes === 0 ? [] : ['the Log is not whole']
  }

  async end(): Promise<void> {
    await Promise.all(this.#takers.map((taker) => taker.kill()))
    await this.#here.close()
    await rm(this.#root, { recursive: true })
  }

  async #lines(): Promise<LogLine[]> {
    const lines: LogLine[] = []
    const reader = value(await openReader(this.#here.place, this.#session))
    await reader.forward((line) => void lines.push(line))
    await reader.close()
    return lines
  }
}
