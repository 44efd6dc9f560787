import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { MODEL_STRATEGY } from '../../../src/context/range-summary.ts'
import { sha256 } from '../../../src/encoding/hash.ts'
import type { SessionId } from '../../../src/model/ids.ts'
import { Harness } from '../../../src/session/harness.ts'
import { bundleScript } from '../../support/host/bundle-script.ts'
import { openParts } from '../../support/session/harness-parts.ts'
import { value } from '../../support/log/story.ts'
import { callsOf, runTraced } from '../support/strace.ts'
import { FILE_CALLS } from '../log/syscall-runs.ts'

type Step = 'compact' | 'summarise' | 'undo'

const READING = ['Read notes.txt', 'Who are you?', 'Read notes.txt', 'What is a hawser?']
const TALKING = Array.from({ length: 6 }, (_, n) => `The tide turns at ${n}. `.repeat(200))

/** Who writes the summary, the messages of the Session, and the steps at which a process is killed. */
const STORIES = [
  { summary: 'excerpts', texts: READING, steps: ['compact', 'undo'] },
  { summary: 'model', texts: TALKING, steps: ['summarise'] },
] as const
type Story = (typeof STORIES)[number]

export interface CompactionKills {
  readonly violations: string[]
  /** Kills after which the Session was as before the step, and as after it. */
  before: number
  after: number
}

/** A process that compacts a Session, or undoes that, is killed before every call that changes a file. */
export async function runCompactionKills(
  parent: string,
  calls: readonly string[] = FILE_CALLS,
): Promise<CompactionKills> {
  const sum: CompactionKills = { violations: [], before: 0, after: 0 }
  const folder = await mkdtemp(join(parent, 'compaction-'))
  const script = await bundleScript(new URL('compaction-child.ts', import.meta.url), folder)
  for (const story of STORIES) {
    const { session, stages } = await prepareStages(folder, story)
    for (const step of story.steps) {
      const [from, to] = step === 'undo' ? stages.toReversed() : stages
      if (from === undefined || to === undefined) continue
      const trial = new Trial(folder, script, { session, step, from, to })
      for (const name of await trial.calls(calls)) {
        for (let n = 1; await trial.kill(name, n, sum); n++);
      }
    }
  }
  if (sum.violations.length === 0) await rm(folder, { recursive: true })
  return sum
}

/** A folder with the Session, and the request that it would send next. */
interface Stage {
  readonly root: string
  readonly request: string
}

/** The Session before and after a compaction. */
async function prepareStages(folder: string, { summary, texts }: Story) {
  const root = join(folder, `before-${summary}`)
  await mkdir(root, { mode: 0o700 })
  const { parts, workspace, close } = await openParts(root)
  const harness = new Harness(parts)
  await writeFile(join(workspace, 'notes.txt'), 'The tide turns at six.\n'.repeat(400))
  const begin = { provider: 'rehearsal', model: 'rehearsal', permissionMode: 'auto' } as const
  const session = value(await harness.create(begin))
  for (const text of texts) value(await value(await session.admit(text)).done)
  await session.close()
  const copy = join(folder, `after-${summary}`)
  await close()
  await promisify(execFile)('cp', ['-a', root, copy])
  const { id } = session
  const later = await openParts(copy)
  const compacted = new Harness(later.parts)
  const opened = value(await compacted.open(id))
  const plan = value(await opened.compact({ summary }))
  if (!plan.compactable) throw new Error(`the Session cannot be compacted: ${plan.reason}`)
  if (summary === 'model' && plan.data.strategy !== MODEL_STRATEGY)
    throw new Error(`the summary was not written by the model: ${plan.fallback}`)
  await opened.close()
  await later.close()
  const stages: Stage[] = []
  for (const one of [root, copy]) {
    // In another folder, as in each trial, the request names that folder.
    const moved = `${one}-moved`
    await promisify(execFile)('cp', ['-a', one, moved])
    stages.push({ root: one, request: await nextRequest(moved, id) })
  }
  return { session: id, stages }
}

interface TrialParts {
  readonly session: SessionId
  readonly step: Step
  readonly from: Stage
  readonly to: Stage
}

class Trial {
  readonly #folder: string
  readonly #script: string
  readonly #parts: TrialParts
  #count = 0

  constructor(folder: string, script: string, parts: TrialParts) {
    this.#folder = folder
    this.#script = script
    this.#parts = parts
  }

  async calls(names: readonly string[]): Promise<string[]> {
    const order = await this.#order()
    const output = join(this.#folder, 'calls')
    return [...(await callsOf(this.#script, order, names, output)).keys()].toSorted()
  }

  /** Whether the kill took effect. */
  async kill(name: string, n: number, sum: CompactionKills): Promise<boolean> {
    const { session, step, from, to } = this.#parts
    const order = await this.#order()
    const inject = `inject=${name}:signal=SIGKILL:when=${n}`
    const { done, ending } = await runTraced(this.#script, order, [`trace=${name}`, inject])
    const violations: string[] = []
    if (!done && ending.signal !== 'SIGKILL') violations.push(`ended: ${ending.complaint}`)
    violations.push(...(await untruths(order.root, session)))
    const request = await nextRequest(order.root, session)
    if (request === to.request) sum.after += 1
    else if (request === from.request && !done) sum.before += 1
    else violations.push('the next request is neither that of before nor that of after')
    sum.violations.push(...violations.map((text) => `${step}, ${name} ${n}: ${text}`))
    if (violations.length === 0)
      for (const root of [order.root, order.warmUp]) await rm(root, { recursive: true })
    return !done
  }

  async #order() {
    this.#count += 1
    const { session, step, from } = this.#parts
    const root = join(this.#folder, `${step}-${this.#count}`)
    const warmUp = `${root}-warm-up`
    for (const one of [root, warmUp]) await promisify(execFile)('cp', ['-a', from.root, one])
    return { root, warmUp, session, step }
  }
}

/** What `verify` finds. */
async function untruths(root: string, session: SessionId): Promise<string[]> {
  const { parts, close } = await openParts(root)
  try {
    const proof = await new Harness(parts).verify(session, { requests: true })
    if (!proof.ok) return [proof.error.message]
    const { log, requests, checkpoints = [] } = proof.value
    const found = [log.damage?.message, ...(requests?.mismatches ?? []), ...checkpoints]
    return found.flatMap((one) => (one === undefined ? [] : [JSON.stringify(one)]))
  } finally {
    await close()
  }
}

/** The hash of the request that the next message would send, whatever folder it is in. */
async function nextRequest(root: string, session: SessionId): Promise<string> {
  const { parts, close } = await openParts(root)
  try {
    const harness = new Harness(parts)
    const opened = value(await harness.open(session))
    const { body } = value(await opened.preview('And now?'))
    await opened.close()
    return sha256(body.toString('utf8').replaceAll(root, 'ROOT'))
  } finally {
    await close()
  }
}
