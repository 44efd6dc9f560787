import { execFile } from 'node:child_process'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import * as z from 'zod'
import { logsBelow } from './files-below.ts'

const Tally = z.object({
  sessions: z.number(),
  requests: z.number(),
  not_comparable: z.number(),
  unbegun: z.number(),
  damaged_on_purpose: z.number(),
  requests_of_damaged: z.number(),
  wrong: z.array(z.string()),
})

export interface ProofResult extends z.infer<typeof Tally> {
  readonly seconds: number
}

/** The minimum number of requests that a run of all tests proves. */
const FEWEST_REQUESTS = 1_000
/** The maximum number of processes, and the number of Logs for which one more is started. */
const MAX_PROCESSES = 2
const LOGS_PER_PROCESS = 50

/** Proves every Session below `root`, in separate processes so that their memory is freed. */
export async function proveInParallel(root: string): Promise<ProofResult> {
  const started = performance.now()
  const logs = await logsBelow(root)
  const processes = Math.min(MAX_PROCESSES, Math.ceil(logs.length / LOGS_PER_PROCESS))
  const parts = await Promise.all(
    Array.from({ length: processes }, (_, part) => provePart(root, part, processes)),
  )
  const total = (count: (tally: z.infer<typeof Tally>) => number) =>
    parts.reduce((sum, one) => sum + count(one), 0)
  return {
    sessions: total(({ sessions }) => sessions),
    requests: total(({ requests }) => requests),
    not_comparable: total(({ not_comparable }) => not_comparable),
    unbegun: total(({ unbegun }) => unbegun),
    damaged_on_purpose: total(({ damaged_on_purpose }) => damaged_on_purpose),
    requests_of_damaged: total(({ requests_of_damaged }) => requests_of_damaged),
    wrong: parts.flatMap(({ wrong }) => wrong),
    seconds: (performance.now() - started) / 1000,
  }
}

async function provePart(root: string, part: number, of: number): Promise<z.infer<typeof Tally>> {
  const script = fileURLToPath(new URL('prove-sessions.ts', import.meta.url))
  const argv = ['--max-old-space-size=1024', '--import', 'tsx', script]
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [...argv, root, String(part), String(of)],
    { maxBuffer: 64 * 1024 * 1024 },
  )
  return Tally.parse(JSON.parse(stdout))
}

export function summaryOf(result: ProofResult): string {
  const { sessions, requests, not_comparable, unbegun, wrong, seconds } = result
  return (
    `Sessions of this run: ${sessions} proved, with ${requests} requests composed again as recorded; ` +
    `${not_comparable} requests with other prompt texts; ` +
    `${result.damaged_on_purpose} damaged on purpose, with ${result.requests_of_damaged} requests as recorded; ` +
    `${unbegun} never started, ${wrong.length} wrong (${seconds.toFixed(1)} s)`
  )
}

/** The reasons why the run fails, if any. `whole`: all tests ran. */
export function failuresOf({ wrong, requests }: ProofResult, whole: boolean): string[] {
  const few = `only ${requests} requests were proved; at least ${FEWEST_REQUESTS} are required`
  return [
    ...wrong.map((one) => `a Session could not be proved: ${one}`),
    ...(whole && requests < FEWEST_REQUESTS ? [few] : []),
  ]
}
