import { spawn } from 'node:child_process'
import process from 'node:process'
import { textOf } from '../../test/support/npm/process.ts'
import type { CallKind, Contestant } from './contestant.ts'
import type { Model } from './model.ts'
import { watchPeak } from './peak.ts'

/** What one run of a contestant took. */
export interface Run {
  /** From the start of the program until its first request had arrived. */
  readonly startMs: number
  /** For each call: from the answer with it until the request with its result had arrived. */
  readonly tripsMs: readonly number[]
  /** Of its largest process; only if `peakEveryMs` was given. */
  readonly peakMb: number
}

export interface RunRequest {
  readonly kind?: CallKind
  readonly calls?: number
  /** How long each answer of the model takes. Default: none. */
  readonly answerMs?: number
  readonly resumes?: boolean
  /** How often its memory is read. */
  readonly peakEveryMs?: number
}

/** The longest Turn of the slowest contestant takes a few minutes. */
const RUN_MS = 10 * 60_000

/** Runs one Turn of a contestant, and checks that it made every call. */
export async function runOnce(
  contestant: Contestant,
  model: Model,
  { kind = 'read', calls = 0, answerMs = 0, resumes = false, peakEveryMs }: RunRequest,
): Promise<Run> {
  const visit = model.visit(contestant, kind, calls, answerMs)
  const { args, cwd, env } = await contestant.command(visit.baseUrl, resumes)
  const [program, ...rest] = args
  const started = Number(process.hrtime.bigint()) / 1e6
  const child = spawn(program, rest, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const printed = [textOf(child.stdout), textOf(child.stderr)]
  const peak = peakEveryMs === undefined ? undefined : watchPeak(child.pid, peakEveryMs)
  const late = setTimeout(() => child.kill('SIGKILL'), RUN_MS)
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject).once('close', resolve)
  })
  clearTimeout(late)
  const peakMb = peak?.() ?? 0
  if (code !== 0) {
    const said = printed.map((text) => text().slice(-2_000)).join('\n')
    throw new Error(`${contestant.name} ended with ${code} after ${calls} calls: ${said}`)
  }
  const requests = await visit.requests()
  const trips = requests.slice(1).map(({ arrived_ms }, at) => {
    return arrived_ms - (requests[at]?.answered_ms ?? arrived_ms)
  })
  return { startMs: (requests[0]?.arrived_ms ?? started) - started, tripsMs: trips, peakMb }
}
