import { execFile } from 'node:child_process'
import { appendFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { SessionId } from '../../../src/model/ids.ts'
import { createLog } from '../../../src/log/open.ts'
import { leaseName, logName } from '../../../src/log/files/names.ts'
import { sessionStarted, turnEnded, value } from '../../support/log/story.ts'
import { textFold } from '../../support/log/text-fold.ts'
import { bundleScript } from '../../support/host/bundle-script.ts'
import { judge } from '../support/judge.ts'
import { openPlace } from '../support/place.ts'
import { callsOf, runTraced } from '../support/strace.ts'
import { Ledger } from '../../support/host/child-report.ts'

/** Every call that changes a file, a folder or a lock, and `close`, which releases a lock. */
export const FILE_CALLS = [
  'openat',
  'write',
  'writev',
  'pwrite64',
  'pwritev',
  'fdatasync',
  'fsync',
  'rename',
  'renameat',
  'renameat2',
  'link',
  'linkat',
  'unlink',
  'unlinkat',
  'mkdir',
  'mkdirat',
  'truncate',
  'ftruncate',
  'fchmod',
  'utimensat',
  'fcntl',
  'flock',
  'close',
] as const

/** What the child finds and does. A torn Log was left by a writer that died; a new one is in a new workspace. */
const STARTS = ['new', 'whole', 'torn'] as const
type Start = (typeof STARTS)[number]

export interface SyscallRun {
  /** The parent of everything. */
  readonly folder: string
  readonly starts?: readonly Start[]
  readonly calls?: readonly string[]
}

export interface SyscallKills {
  readonly violations: string[]
  /** Kills that took effect. */
  kills: number
  /** Kills by the name of the following call. */
  readonly by: Map<string, number>
}

/** A child is killed before its first call of each name, before its second, and so on, until it completes. */
export async function runSyscallKills(run: SyscallRun): Promise<SyscallKills> {
  const sum: SyscallKills = { violations: [], kills: 0, by: new Map() }
  const folder = await mkdtemp(join(run.folder, 'syscall-'))
  const script = await bundleScript(new URL('steps-child.ts', import.meta.url), folder)
  for (const start of run.starts ?? STARTS) {
    const trials = await Trials.prepare(folder, script, start)
    const names = await trials.calls(run.calls ?? FILE_CALLS)
    const lane = async () => {
      for (let name = names.pop(); name !== undefined; name = names.pop()) {
        for (let n = 1; await trials.kill(name, n, sum); n++) {
          sum.kills += 1
          sum.by.set(name, (sum.by.get(name) ?? 0) + 1)
        }
      }
    }
    await Promise.all([lane(), lane()])
  }
  if (sum.violations.length === 0) await rm(folder, { recursive: true })
  return sum
}

class Trials {
  readonly #folder: string
  readonly #script: string
  readonly #start: Start
  readonly #original: string
  readonly #session: SessionId
  readonly #before: Ledger
  #count = 0

  static async prepare(folder: string, script: string, start: Start): Promise<Trials> {
    const original = join(folder, `original-${start}`)
    await mkdir(original, { mode: 0o700 })
    const before = new Ledger()
    const session = await prepareLog(original, start, before)
    return new Trials({ folder, script, start, original, session, before })
  }

  constructor(parts: {
    folder: string
    script: string
    start: Start
    original: string
    session: SessionId
    before: Ledger
  }) {
    this.#folder = parts.folder
    this.#script = parts.script
    this.#start = parts.start
    this.#original = parts.original
    this.#session = parts.session
    this.#before = parts.before
  }

  async calls(names: readonly string[]): Promise<string[]> {
    const order = await this.#order()
    const output = join(this.#folder, 'calls')
    return [...(await callsOf(this.#script, order, names, output)).keys()].toSorted()
  }

  /** Whether the kill took effect. */
  async kill(name: string, n: number, sum: SyscallKills): Promise<boolean> {
    const order = await this.#order()
    const inject = `inject=${name}:signal=SIGKILL:when=${n}`
    const traced = await runTraced(this.#script, order, [`trace=${name}`, inject])
    const ledger = copyOf(this.#before)
    for (const report of traced.reports) ledger.note(report)
    const violations: string[] = []
    const { signal, complaint } = traced.ending
    if (!traced.done && signal !== 'SIGKILL') violations.push(`ended by itself: ${complaint}`)
    for (const { doing, message } of ledger.refusals) {
      violations.push(`refused to ${doing}: ${message}`)
    }
    const storage = await openPlace(order.root)
    const found = await judge(storage, ledger)
    await storage.close()
    violations.push(...found.events, ...found.blobs)
    const where = `${this.#start} Log, ${name} ${n}`
    sum.violations.push(...violations.map((text) => `${where}: ${text}`))
    await rm(order.warmUp, { recursive: true })
    if (violations.length === 0) await rm(order.root, { recursive: true })
    return !traced.done
  }

  /** The initial state, in a new folder. */
  async #order() {
    this.#count += 1
    const root = join(this.#folder, `${this.#start}-${this.#count}`)
    const warmUp = await mkdtemp(join(this.#folder, 'practice-'))
    await promisify(execFile)('cp', ['-a', this.#original, root])
    const steps = this.#start === 'new' ? 'begin' : 'continue'
    return { root, warmUp, steps, session: this.#session }
  }
}

async function prepareLog(root: string, start: Start, ledger: Ledger): Promise<SessionId> {
  const storage = await openPlace(root)
  const { place, keep } = storage
  const session = place.ids.session()
  if (start !== 'new') {
    const writer = value(
      await createLog(place, session, [sessionStarted], { fold: textFold, keep }),
    )
    const { prev } = writer.cursor
    ledger.note({ what: 'events', session, lines: [[0, prev ?? '']] })
    const [line] = value(await writer.append([turnEnded(place.ids.turn())]))
    ledger.note({ what: 'events', session, lines: [[1, line?.hash ?? '']] })
    await writer.release()
  }
  await storage.close()
  if (start === 'new') await rm(root, { recursive: true }).then(() => mkdir(root, { mode: 0o700 }))
  if (start === 'torn') {
    const sessions = join(root, 'workspace', '.hawser', 'sessions')
    await appendFile(join(sessions, logName(session)), '{"v":1,"seq":2,"id":"evt_')
    const holder = { pid: 4711, program: 'hawser', since: '2026-01-31T12:00:00.000Z' }
    await writeFile(join(sessions, leaseName(session)), `${JSON.stringify(holder)}\n`)
  }
  return session
}

function copyOf(ledger: Ledger): Ledger {
  const copy = new Ledger()
  for (const [session, lines] of ledger.sessions) {
    copy.note({ what: 'events', session, lines: [...lines] })
  }
  return copy
}
