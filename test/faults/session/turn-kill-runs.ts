import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { systemSandbox, type Sandbox } from '../../../src/host/sandbox/sandbox.ts'
import type { SessionId } from '../../../src/model/ids.ts'
import type { LogLine } from '../../../src/log/line.ts'
import { openReader } from '../../../src/log/reader.ts'
import { verifyLog } from '../../../src/log/verify.ts'
import { Harness } from '../../../src/session/harness.ts'
import type { SessionParts } from '../../../src/session/live/session-parts.ts'
import { verifyRequests } from '../../../src/session/queries/verify-requests.ts'
import { LiveHistory } from '../../../src/request/live-history.ts'
import { value } from '../../support/log/story.ts'
import { treeHash } from '../../support/host/tree-hash.ts'
import { bundleScript } from '../../support/host/bundle-script.ts'
import { startChild } from '../support/child.ts'
import { Ledger } from '../../support/host/child-report.ts'
import { offencesIn, type Evidence, type Reading } from './turn-kill-judge.ts'
import {
  actionsIn,
  effectsIn,
  MOMENTS,
  nextRequest,
  openScene,
  prepareWorkspace,
  tenCalls,
  type Deaths,
  type Moment,
} from './turn-kill-scene.ts'

export interface Trial {
  /** False if the last process that should die completed. */
  readonly died: boolean
  readonly evidence: Evidence
  readonly violations: readonly string[]
}

export interface TurnKills {
  readonly violations: string[]
  /** Killed processes, by the moment of the kill. */
  readonly by: Map<string, number>
  trials: number
}

/** The parent of everything created, and what all processes share. */
export class TurnKillRuns {
  readonly #folder: string
  readonly #script: string
  readonly #sandbox: Sandbox
  /** Whether commands can be sandboxed here; if so, they are among the calls. */
  readonly commands: boolean
  #count = 0

  private constructor(folder: string, script: string, sandbox: Sandbox, commands: boolean) {
    this.#folder = folder
    this.#script = script
    this.#sandbox = sandbox
    this.commands = commands
  }

  /** Without a sandbox, commands require a question, so files are written instead. */
  static async prepare(folder: string): Promise<TurnKillRuns> {
    const own = await mkdtemp(join(folder, 'turn-kill-'))
    const script = await bundleScript(new URL('turn-kill-child.ts', import.meta.url), own)
    const sandbox = systemSandbox()
    const { isConfined } = await sandbox.status()
    return new TurnKillRuns(own, script, sandbox, isConfined)
  }

  /** Kills at each of `deaths` or, if there are none, at every moment and in every recovering process. */
  async kill(deaths?: readonly Deaths[]): Promise<TurnKills> {
    const sum: TurnKills = { violations: [], by: new Map(), trials: 0 }
    const waiting = deaths === undefined ? everyMoment() : eachOnce(deaths)
    const lane = async () => {
      for (let next = waiting.take(); next !== undefined; next = waiting.take()) {
        const { died, violations } = await this.trial(next)
        sum.trials += 1
        sum.violations.push(...violations)
        const last = next.at(-1)?.at ?? 'never'
        if (died) sum.by.set(last, (sum.by.get(last) ?? 0) + 1)
        else waiting.over(next)
      }
    }
    await Promise.all([lane(), lane()])
    return sum
  }

  async clear(): Promise<void> {
    await rm(this.#folder, { recursive: true })
  }

  /** A Session whose processes die, and what the last one finds. A root with a violation is kept. */
  async trial(deaths: Deaths, twice = false): Promise<Trial> {
    const root = join(this.#folder, `${this.#count++}`)
    await mkdir(root, { mode: 0o700 })
    await prepareWorkspace(root)
    const violations: string[] = []
    const ledger = new Ledger()
    const readings: Reading[] = []
    let session: SessionId | undefined
    let died = true
    for (const [by, moment] of deaths.entries()) {
      const text = by === 0 ? tenCalls(this.commands) : nextRequest(by)
      const order = { root, by, text, session, moment, twice }
      const child = startChild(this.#script, order, { note: (report) => ledger.note(report) })
      const { code, signal, complaint } = await child.ended
      died = signal === 'SIGKILL'
      if (!died && code !== 0) violations.push(`a process ended by itself: ${complaint}`)
      const opened = child.reports.find(({ what }) => what === 'opened')
      session ??= opened?.what === 'opened' ? opened.session : undefined
      if (session === undefined) throw new Error(`no Session was created: ${complaint}`)
      readings.push(await this.#look(root, session, violations))
    }
    if (session === undefined) throw new Error('no process created a Session')
    readings.push(await this.#continueSession(root, session, deaths.length, violations))
    const evidence: Evidence = {
      durable: new Map(ledger.sessions.get(session)),
      readings,
      actions: await actionsIn(root),
      effects: await effectsIn(root, this.commands),
    }
    violations.push(...offencesIn(evidence))
    if (violations.length === 0) await rm(root, { recursive: true })
    const where = `${root}, ${deaths.map(({ at, n }) => `${at} ${n}`).join(', then ')}`
    return { died, evidence, violations: violations.map((text) => `${where}: ${text}`) }
  }

  /** What a reader finds in the Log; reading must not change the folder. */
  async #look(root: string, session: SessionId, violations: string[]): Promise<Reading> {
    const before = await treeHash(root)
    const { parts, close } = await openScene(root, { by: -1, sandbox: this.#sandbox })
    try {
      const reading = await readingOf(parts, session)
      const { state } = value(await new Harness(parts).open(session))
      const count = (type: string) => reading.filter(({ event }) => event.type === type).length
      if (state.turn_open !== count('turn_started') > count('turn_ended')) {
        violations.push('who opens the Session does not learn whether a Turn is open')
      }
      return reading
    } catch (error) {
      violations.push(`the Log cannot be read: ${String(error)}`)
      return []
    } finally {
      await close()
      if ((await treeHash(root)) !== before) violations.push('reading changed something')
    }
  }

  /** As another process would: opens the Session and sends the next request. */
  async #continueSession(
    root: string,
    session: SessionId,
    by: number,
    violations: string[],
  ): Promise<Reading> {
    const { parts, close } = await openScene(root, { by, sandbox: this.#sandbox })
    try {
      const opened = value(await new Harness(parts).open(session))
      const ended = value(await value(await opened.admit(nextRequest(by))).done)
      if (ended.status !== 'completed') violations.push(`the next Turn is ${ended.status}`)
      const requests = value(await verifyRequests(parts, opened.events))
      violations.push(
        ...requests.mismatches.map(({ seq, what }) => `request ${seq} has another ${what}`),
      )
      const verdict = value(await verifyLog(parts.log.place, session))
      const { damage, torn_bytes, foreign, unknown } = verdict
      if (damage !== undefined || torn_bytes > 0 || foreign || unknown > 0) {
        violations.push(`not whole after use: ${JSON.stringify(verdict)}`)
      }
      return await readingOf(parts, session)
    } catch (error) {
      violations.push(`the Session does not continue: ${String(error)}`)
      return []
    } finally {
      await close()
    }
  }
}

async function readingOf(
  { log: { place, store } }: SessionParts,
  session: SessionId,
): Promise<Reading> {
  const lines: LogLine[] = []
  const reader = value(await openReader(place, session))
  const { damage } = value(await reader.forward((line) => void lines.push(line)))
  await reader.close()
  if (damage !== undefined) throw new Error(damage.message)
  const events = await new LiveHistory(store).add(lines)
  return events.flatMap((event) => {
    const hash = lines.find(({ seq }) => seq === event.seq)?.hash
    return hash === undefined ? [] : [{ hash, event }]
  })
}

/** The remaining trials; `over` reports that a trial of its kind completed without a kill, so that no later one can hit. */
interface Waiting {
  take(): Deaths | undefined
  over(deaths: Deaths): void
}

function eachOnce(deaths: readonly Deaths[]): Waiting {
  const left = [...deaths]
  return { take: () => left.shift(), over: () => {} }
}

/** Runs after which a process dies, and then the recovering ones too: a write, a command, concurrent reads, an edit. */
const RECOVERED_RUNS = [1, 3, 5, 7]

function everyMoment(): Waiting {
  const alone = MOMENTS.map((at): { before: Deaths; at: Moment['at'] } => ({ before: [], at }))
  const again = RECOVERED_RUNS.map((n): Deaths => [{ at: 'ran', n }]).flatMap((before) =>
    (['line', 'half'] as const).map((at) => ({ before, at })),
  )
  const open = [...alone, ...again].map((kind) => ({ ...kind, n: 0 }))
  return {
    take: () => {
      const kind = open.shift()
      if (kind === undefined) return undefined
      open.push(kind)
      kind.n += 1
      return [...kind.before, { at: kind.at, n: kind.n }]
    },
    over: (deaths) => {
      const at = open.findIndex(
        (kind) => kind.at === deaths.at(-1)?.at && same(kind.before, deaths.slice(0, -1)),
      )
      if (at !== -1) open.splice(at, 1)
    },
  }
}

function same(a: Deaths, b: Deaths): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}
