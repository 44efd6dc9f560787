import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { SessionId } from '../../../src/model/ids.ts'
import type { LogLine } from '../../../src/log/line.ts'
import { createLog } from '../../../src/log/open.ts'
import { openReader } from '../../../src/log/reader.ts'
import { verifyLog } from '../../../src/log/verify.ts'
import { random } from '../../support/host/random.ts'
import { sessionStarted, value } from '../../support/log/story.ts'
import { textFold } from '../../support/log/text-fold.ts'
import { bundleScript } from '../../support/host/bundle-script.ts'
import { startChild, type Child } from '../support/child.ts'
import { openPlace, PROGRAM, type FaultPlace } from '../support/place.ts'
import type { ChildReport } from '../../support/host/child-report.ts'

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
  const openers = await Promise.all([arena.opener(), arena.opener()])
  for (let round = 0; round < rounds; round++) {
    const { winners, offences } = await race(openers)
    violations.push(...offences.map((text) => `round ${round}: ${text}`))
    for (const winner of winners) await releaseHolder(winner)
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
  let [holder, ...waiting] = await Promise.all([1, 2, 3, 4].map(() => arena.opener()))
  if (holder === undefined) throw new Error('no holder')
  await race([holder])
  for (let round = 0; round < rounds; round++) {
    const dead = holder.pid
    const killedAt = performance.now()
    await holder.kill()
    const openers = waiting.slice(0, 2 + chance.below(2))
    const { winners, offences, ms } = await race(openers, killedAt)
    const [winner] = winners
    sum.slowestMs = Math.max(sum.slowestMs, Math.ceil(ms))
    offences.push(...(await arena.takenFrom(dead)))
    sum.violations.push(...offences.map((text) => `round ${round}: ${text}`))
    if (winner === undefined || winners.length > 1) break
    holder = winner
    waiting = [...waiting.filter((opener) => opener !== winner), await arena.opener()]
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

async function race(openers: readonly Child[], since = performance.now()): Promise<Outcome> {
  const at = Date.now() + HEAD_START_MS
  let ms = 0
  const answers = await Promise.all(
    openers.map(async (opener) => {
      const answer = nextResult(opener)
      opener.send(JSON.stringify({ do: 'take', at }))
      const report = await answer
      if (report?.what === 'opened') ms = performance.now() - since
      return { opener, report }
    }),
  )
  const winners = answers
    .filter(({ report }) => report?.what === 'opened')
    .map(({ opener }) => opener)
  const offences = winners.length === 1 ? [] : [`${winners.length} of ${openers.length} won`]
  for (const { report } of answers) {
    if (report?.what !== 'opened') offences.push(...wrongHolder(report, winners[0]?.pid))
  }
  return { winners, offences, ms }
}

/** A refusal names the holder of the Session. */
function wrongHolder(report: ChildReport | undefined, winner: number | undefined): string[] {
  if (report?.what !== 'refused') return ['a process exited without a result']
  const { kind, details } = report
  if (kind !== 'session_busy') return [`refused as ${kind}: ${report.message}`]
  const holder = details['holder'] as { pid?: number; program?: string } | undefined
  if (holder === undefined) return ['refused without naming the holder']
  return holder.pid === winner && holder.program === PROGRAM
    ? []
    : [`refused with the holder ${holder.program} ${holder.pid}, but ${winner} won`]
}

function nextResult(opener: Child): Promise<ChildReport | undefined> {
  const before = new Set(opener.reports)
  return opener.waitFor(
    (report) => !before.has(report) && (report.what === 'opened' || report.what === 'refused'),
  )
}

async function releaseHolder(holder: Child): Promise<void> {
  const before = new Set(holder.reports)
  const released = holder.waitFor((report) => !before.has(report) && report.what === 'done')
  holder.send(JSON.stringify({ do: 'release' }))
  await released
}

/** One Session, and every process that ever tried to open it. */
class Arena {
  readonly #root: string
  readonly #script: string
  readonly #storage: FaultPlace
  readonly #session: SessionId
  readonly #openers: Child[] = []

  static async make(folder: string): Promise<Arena> {
    const root = await mkdtemp(join(folder, 'lock-'))
    const script = await bundleScript(new URL('session-opener.ts', import.meta.url), root)
    const storage = await openPlace(root)
    const { place, keep } = storage
    const session = place.ids.session()
    const created = await createLog(place, session, [sessionStarted], { fold: textFold, keep })
    await value(created).release()
    return new Arena(root, script, storage, session)
  }

  constructor(root: string, script: string, storage: FaultPlace, session: SessionId) {
    this.#root = root
    this.#script = script
    this.#storage = storage
    this.#session = session
  }

  async opener(): Promise<Child> {
    const opener = startChild(this.#script, { root: this.#root, session: this.#session })
    this.#openers.push(opener)
    await opener.waitFor(({ what }) => what === 'ready')
    return opener
  }

  /** The last line of the Log names the previous holder. */
  async takenFrom(dead: number): Promise<string[]> {
    const { content } = (await this.#lines()).at(-1) ?? {}
    if (content?.event.type !== 'lock_taken') return ['the Log does not record the previous holder']
    const recorded = JSON.stringify(content.event.data)
    const previous: unknown = content.event.data.previous_holder
    const { pid, program } = previous as { pid?: number; program?: string }
    return pid === dead && program === PROGRAM
      ? []
      : [`taken from ${dead}, but it records ${recorded}`]
  }

  async offences(): Promise<string[]> {
    const { damage, torn_bytes } = value(await verifyLog(this.#storage.place, this.#session))
    return damage === undefined && torn_bytes === 0 ? [] : ['the Log is not whole']
  }

  async end(): Promise<void> {
    await Promise.all(this.#openers.map((opener) => opener.kill()))
    await this.#storage.close()
    await rm(this.#root, { recursive: true })
  }

  async #lines(): Promise<LogLine[]> {
    const lines: LogLine[] = []
    const reader = value(await openReader(this.#storage.place, this.#session))
    await reader.forward((line) => void lines.push(line))
    await reader.close()
    return lines
  }
}
