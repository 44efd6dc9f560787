import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { SessionId } from '../../../src/model/ids.ts'
import { Harness } from '../../../src/session/harness.ts'
import { bundleScript } from '../../support/host/bundle-script.ts'
import { CANARY_KEY } from '../../support/host/canary.ts'
import { VENDOR_DIALECTS } from '../../support/providers/dialects.ts'
import { openParts } from '../../support/session/harness-parts.ts'
import { random } from '../../support/host/random.ts'
import { value } from '../../support/log/story.ts'
import { sseOf } from '../../support/providers/vendor-answer.ts'
import type { VendorDialect } from '../../support/providers/vendor-schemas.ts'
import { scriptedServer, type RecordedRequest } from '../../support/providers/vendor-server.ts'
import { startChild } from '../support/child.ts'
import { ANSWER } from './stream-cut-answer.ts'
import { growthOf, noiseOffences, type NoiseRecord } from './stream-noise-judge.ts'
import { NOISES, type Noise } from './stream-noise-kinds.ts'
import { sourceOf, longAnswer } from './stream-noise-source.ts'
import type { ChildReport } from '../../support/host/child-report.ts'

export interface NoiseRun {
  readonly seed: number
  readonly count: number
  /** The number of noises for each child, each in its own Session. */
  readonly each: number
  /** Names of the noises to produce in turn; all of them if absent. */
  readonly noises?: readonly string[]
  /** The planted mistake of the child. */
  readonly planted?: Planted
  readonly note?: (record: NoiseRecord) => void
}

/** `hoard`: it keeps everything it receives. `reject`: it leaves a promise unhandled. */
export const PLANTED = ['hoard', 'reject'] as const
export type Planted = (typeof PLANTED)[number]

export interface NoisesMade {
  readonly violations: string[]
  /** The maximum over all children, in bytes. */
  peakGrowth: number
  endGrowth: number
}

/** Number of concurrent children. */
const LANES = 2
/** Far more than any noise takes: a child that needs longer hangs. */
const TIMEOUT_MS = 120_000
const IDLE_MS = 60_000

/**
 * The young generation has its final size from the start. Otherwise V8 may enlarge it during the noise, which adds 15 MB
 * to the peak, whatever the program keeps.
 */
const YOUNG_GENERATION = ['--min-semi-space-size=16']

/** The parent of everything created, and what all children share. */
export class NoiseRuns {
  readonly #folder: string
  readonly #script: string
  #count = 0

  private constructor(folder: string, script: string) {
    this.#folder = folder
    this.#script = script
  }

  static async prepare(folder: string): Promise<NoiseRuns> {
    const own = await mkdtemp(join(folder, 'stream-noise-'))
    return new NoiseRuns(
      own,
      await bundleScript(new URL('stream-noise-child.ts', import.meta.url), own),
    )
  }

  /** Child processes that receive noise in the middle of a Session. A root with a violation is kept. */
  async make(run: NoiseRun): Promise<NoisesMade> {
    const made: NoisesMade = { violations: [], peakGrowth: 0, endGrowth: 0 }
    const waiting = groupsOf(run)
    const lane = async () => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        const root = join(this.#folder, `${this.#count++}`)
        await mkdir(root, { mode: 0o700 })
        const found = (await this.#hear(root, next, run.planted)).flatMap(({ name, record }) => {
          const { peak, end } = growthOf(record)
          made.peakGrowth = Math.max(made.peakGrowth, peak)
          made.endGrowth = Math.max(made.endGrowth, end)
          run.note?.(record)
          return noiseOffences(record).map((offence) => `${root}: ${name}: ${offence}`)
        })
        made.violations.push(...found)
        if (found.length === 0) await rm(root, { recursive: true })
      }
    }
    await Promise.all(Array.from({ length: LANES }, lane))
    return made
  }

  async clear(): Promise<void> {
    await rm(this.#folder, { recursive: true })
  }

  async #hear(root: string, { dialect, noises }: Group, planted: Planted | undefined) {
    const server = await noisyServer(dialect, noises)
    const baseUrl = server.baseUrl(dialect)
    const requested = noises.map(({ noise }, i) => ({
      words: wordsFor(i),
      idleMs: noise.idleMs ?? IDLE_MS,
    }))
    const order = { root, key: CANARY_KEY, baseUrl, dialect, noises: requested, planted }
    const child = startChild(this.#script, order, { flags: YOUNG_GENERATION })
    const late = setTimeout(() => void child.kill(), TIMEOUT_MS)
    const ending = await child.ended
    clearTimeout(late)
    await server.close().catch(() => {})
    const reports = bySession(child.reports)
    return Promise.all(
      noises.map(async ({ name, noise }, i) => {
        const own = reports[i] ?? []
        const [opened] = own
        const ends = opened?.what === 'opened' ? await endsIn(root, opened.session) : []
        const record: NoiseRecord = {
          noise,
          reports: own,
          ending,
          ends,
          requests: server.violations,
        }
        return { name: `${name} in ${dialect}`, record }
      }),
    )
  }
}

interface Group {
  readonly dialect: VendorDialect
  readonly noises: readonly { readonly name: string; readonly noise: Noise }[]
}

/** Every kind in turn; the dialect of a child is random. */
function groupsOf({ seed, count, each, noises: names = Object.keys(NOISES) }: NoiseRun): Group[] {
  return Array.from({ length: Math.ceil(count / each) }, (_, group) => {
    const dialect = random(seed + group).pick(VENDOR_DIALECTS)
    const first = group * each
    const noises = Array.from({ length: Math.min(each, count - first) }, (__, i) => {
      const name = names[(first + i) % names.length] ?? ''
      const noise = NOISES[name]?.(sourceOf(dialect, seed + first + i))
      if (noise === undefined) throw new Error(`unknown noise: ${name}`)
      return { name, noise }
    })
    return { dialect, noises }
  })
}

function wordsFor(noise: number): string {
  return `Und jetzt Lärm Nummer ${noise}.`
}

/** An answer with calls and a long one to their results; then each noise once, when it is requested; otherwise correct ones. */
function noisyServer(dialect: VendorDialect, noises: Group['noises']) {
  const right = sseOf(dialect, { text: 'Fest vertäut ⚓.' })
  let count = 0
  let made = 0
  return scriptedServer((request: RecordedRequest) => {
    count += 1
    if (count === 1) return { body: sseOf(dialect, ANSWER) }
    if (count === 2) {
      return { body: longAnswer({ dialect, pieceBytes: 5, pieces: LONG_ANSWER, ends: true }) }
    }
    if (!request.bytes.includes(wordsFor(made))) return { body: right }
    made += 1
    return noises[made - 1]?.noise.answer(request) ?? { body: right }
  })
}

/** As many pieces as a model sends for a few pages: after them the process has its working size. */
const LONG_ANSWER = 8_000

function bySession(reports: readonly ChildReport[]): ChildReport[][] {
  const sessions: ChildReport[][] = []
  for (const one of reports) {
    if (one.what === 'opened') sessions.push([])
    sessions.at(-1)?.push(one)
  }
  return sessions
}

/** The number of ends of each Turn, in the order of their starts. */
async function endsIn(root: string, session: SessionId): Promise<number[]> {
  const { parts, close } = await openParts(root)
  const ends = new Map<string, number>()
  const read = await new Harness(parts).read(session, { types: [] }, ({ raw }) => {
    const turn = raw.turn_id ?? ''
    if (raw.type === 'turn_started') ends.set(turn, 0)
    if (raw.type === 'turn_ended') ends.set(turn, (ends.get(turn) ?? 0) + 1)
  })
  await close()
  return value(read).damage === undefined ? [...ends.values()] : []
}
