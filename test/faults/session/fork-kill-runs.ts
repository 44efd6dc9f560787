import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { SessionId } from '../../../src/model/ids.ts'
import { Harness } from '../../../src/session/harness.ts'
import { bundleScript } from '../../support/host/bundle-script.ts'
import { value } from '../../support/log/story.ts'
import { openParts } from '../../support/session/harness-parts.ts'
import { FILE_CALLS } from '../log/syscall-runs.ts'
import { callsOf, runTraced } from '../support/strace.ts'

const STEPS = ['fork', 'rewind', 'delete', 'gc'] as const
type Step = (typeof STEPS)[number]

const MESSAGES = [
  'Write "one" to a.txt',
  'Write "new" to b.txt and then replace "one" with "two" in a.txt',
  'Replace "new" with "newer" in b.txt',
]

export interface ForkKills {
  readonly violations: string[]
  /** Kills after which the step had no effect, and after which it had. */
  before: number
  after: number
}

/** A process that forks, rewinds, deletes or sweeps is killed before every call that changes a file. */
export async function runForkKills(
  parent: string,
  calls: readonly string[] = FILE_CALLS,
): Promise<ForkKills> {
  const sum: ForkKills = { violations: [], before: 0, after: 0 }
  const folder = await mkdtemp(join(parent, 'fork-'))
  const script = await bundleScript(new URL('fork-kill-child.ts', import.meta.url), folder)
  const scene = await prepareScene(folder)
  for (const step of STEPS) {
    const trial = new Trial(folder, script, scene, step)
    const names = await trial.calls(calls)
    const lane = async () => {
      for (let name = names.pop(); name !== undefined; name = names.pop()) {
        for (let n = 1; await trial.kill(name, n, sum); n++);
      }
    }
    await Promise.all([lane(), lane()])
  }
  if (sum.violations.length === 0) await rm(folder, { recursive: true })
  return sum
}

interface Scene {
  /** With the Session, and a fork of all of it that has one more Turn. */
  readonly whole: string
  /** The Session and that fork are deleted; a fork of the first Turn is there. */
  readonly deleted: string
  readonly session: SessionId
  readonly child: SessionId
  readonly early: SessionId
}

async function prepareScene(folder: string): Promise<Scene> {
  const whole = join(folder, 'whole')
  await mkdir(whole, { mode: 0o700 })
  const { parts, close } = await openParts(whole)
  const harness = new Harness(parts)
  const begin = { provider: 'rehearsal', model: 'rehearsal', permissionMode: 'auto' } as const
  const session = value(await harness.create(begin))
  for (const text of MESSAGES) value(await value(await session.admit(text)).done)
  await session.close()
  const early = value(await harness.fork(session.id, { turn: 1 })).session_id
  const child = value(await harness.open(value(await harness.fork(session.id)).session_id))
  value(await value(await child.admit('Who are you?')).done)
  await child.close()
  await close()
  const deleted = join(folder, 'deleted')
  await copied(whole, deleted)
  const later = await openParts(deleted)
  const emptied = new Harness(later.parts)
  value(await emptied.delete(session.id))
  value(await emptied.delete(child.id))
  await later.close()
  return { whole, deleted, session: session.id, child: child.id, early }
}

class Trial {
  readonly #folder: string
  readonly #script: string
  readonly #scene: Scene
  readonly #step: Step
  #count = 0

  constructor(folder: string, script: string, scene: Scene, step: Step) {
    this.#folder = folder
    this.#script = script
    this.#scene = scene
    this.#step = step
  }

  async calls(names: readonly string[]): Promise<string[]> {
    const order = await this.#order()
    const output = join(this.#folder, 'calls')
    return [...(await callsOf(this.#script, order, names, output)).keys()].toSorted()
  }

  /** Whether the kill took effect. */
  async kill(name: string, n: number, sum: ForkKills): Promise<boolean> {
    const order = await this.#order()
    const inject = `inject=${name}:signal=SIGKILL:when=${n}`
    const { done, ending } = await runTraced(this.#script, order, [`trace=${name}`, inject])
    const judge = new Judge(order.root, this.#scene)
    if (!done && ending.signal !== 'SIGKILL') judge.complain(`ended: ${ending.complaint}`)
    const hasEffect = await judge.judge(this.#step, done)
    sum[hasEffect ? 'after' : 'before'] += 1
    sum.violations.push(...judge.complaints.map((text) => `${this.#step}, ${name} ${n}: ${text}`))
    if (judge.complaints.length === 0)
      for (const root of [order.root, order.warmUp]) await rm(root, { recursive: true })
    return !done
  }

  async #order() {
    this.#count += 1
    const { session, whole, deleted } = this.#scene
    const root = join(this.#folder, `${this.#step}-${this.#count}`)
    const warmUp = `${root}-warm-up`
    const from = this.#step === 'gc' ? deleted : whole
    for (const one of [root, warmUp]) await copied(from, one)
    return { root, warmUp, session, step: this.#step }
  }
}

/** Looks at what a killed process left, as the next process does. */
class Judge {
  readonly complaints: string[] = []
  readonly #root: string
  readonly #scene: Scene

  constructor(root: string, scene: Scene) {
    this.#root = root
    this.#scene = scene
  }

  complain(text: string): void {
    this.complaints.push(text)
  }

  async judge(step: Step, done: boolean): Promise<boolean> {
    const { parts, close } = await openParts(this.#root)
    try {
      const harness = new Harness(parts)
      await this.#verifyAll(harness)
      const hasEffect = await this[`_${step}`](harness, done)
      value(await harness.gc({ dryRun: false }))
      await this.#verifyAll(harness)
      const { logs, heads } = parts.log.place
      const [there, known] = [await logs.list(), await heads.list()]
      this.#expect('heads', known.toSorted().join(' '), there.toSorted().join(' '))
      return hasEffect
    } finally {
      await close()
    }
  }

  async #verifyAll(harness: Harness): Promise<void> {
    for (const { id } of await harness.list()) {
      const proof = await harness.verify(id, { requests: true })
      if (!proof.ok) {
        this.complain(`${id}: ${proof.error.message}`)
        continue
      }
      const { log, requests } = proof.value
      if (log.damage !== undefined) this.complain(`${id}: ${log.damage.message}`)
      if (requests?.mismatches.length !== 0) this.complain(`${id}: a request differs`)
    }
  }

  /** Turns of each Session that is there. */
  async #turns(harness: Harness): Promise<ReadonlyMap<SessionId, number>> {
    return new Map((await harness.list()).map(({ id, state }) => [id, state.turns]))
  }

  #expect(what: string, is: unknown, expected: unknown): void {
    if (is !== expected) this.complain(`${what}: ${String(is)} instead of ${String(expected)}`)
  }

  async _fork(harness: Harness, done: boolean): Promise<boolean> {
    const { session, child, early } = this.#scene
    const turns = await this.#turns(harness)
    this.#expect('Turns of the Session', turns.get(session), 3)
    this.#expect('Turns of its fork', turns.get(child), 4)
    const others = [...turns.keys()].filter((id) => ![session, child, early].includes(id))
    if (done) this.#expect('new Sessions', others.length, 1)
    for (const id of others) this.#expect('Turns of the new fork', turns.get(id), 3)
    return others.length > 0
  }

  async _rewind(harness: Harness, done: boolean): Promise<boolean> {
    const { session, child, early } = this.#scene
    const turns = await this.#turns(harness)
    this.#expect('Turns of the Session', turns.get(session), 3)
    const others = [...turns.keys()].filter((id) => ![session, child, early].includes(id))
    const [a, b] = [await this.#file('a.txt'), await this.#file('b.txt')]
    if (!['one', 'two'].includes(a ?? '')) this.complain(`a.txt is ${a}`)
    if (!['newer', undefined].includes(b)) this.complain(`b.txt is ${b}`)
    let hasRecord = false
    for (const id of others) {
      this.#expect('Turns of the branch', turns.get(id), 1)
      const branch = value(await harness.open(id))
      const began = branch.events.some(
        ({ type, data }) => type === 'notice' && data.code === 'undo_began',
      )
      hasRecord = branch.events.some(({ type }) => type === 'files_restored')
      if (hasRecord || done) this.#expect('files', `${a} ${b}`, 'one undefined')
      if (!began) this.#expect('files', `${a} ${b}`, 'two newer')
      await branch.close()
    }
    if (done) this.#expect('recorded', hasRecord, true)
    const parent = value(await harness.open(session))
    const again = value(await parent.rewind({ turn: 2, files: true }))
    if (again.files.some(({ outcome }) => outcome !== 'restored')) this.complain('not restored')
    this.#expect('a.txt', await this.#file('a.txt'), 'one')
    this.#expect('b.txt', await this.#file('b.txt'), undefined)
    await parent.close()
    return hasRecord
  }

  async _delete(harness: Harness, done: boolean): Promise<boolean> {
    const { session, child } = this.#scene
    const turns = await this.#turns(harness)
    this.#expect('Turns of the fork', turns.get(child), 4)
    const isThere = turns.has(session)
    if (done) this.#expect('the Session is there', isThere, false)
    if (isThere) this.#expect('Turns of the Session', turns.get(session), 3)
    return !isThere
  }

  async _gc(harness: Harness, done: boolean): Promise<boolean> {
    const { session, child, early } = this.#scene
    this.#expect('Turns of the fork', (await this.#turns(harness)).get(early), 1)
    const isThere = await this.#hasLog(child)
    if (done) this.#expect('the deleted fork is there', isThere, false)
    value(await harness.gc({ dryRun: false }))
    this.#expect('the deleted fork is there', await this.#hasLog(child), false)
    this.#expect('the shared Log is there', await this.#hasLog(session), true)
    value(await harness.delete(early))
    value(await harness.gc({ dryRun: false }))
    this.#expect('the shared Log is there', await this.#hasLog(session), false)
    return !isThere
  }

  async #hasLog(id: SessionId): Promise<boolean> {
    const names = await readdir(join(this.#root, 'workspace', '.hawser', 'sessions'))
    return names.includes(`${id}.ndjson`)
  }

  async #file(name: string): Promise<string | undefined> {
    return readFile(join(this.#root, 'workspace', name), 'utf8').catch(() => undefined)
  }
}

async function copied(from: string, to: string): Promise<void> {
  await promisify(execFile)('cp', ['-a', from, to])
}
