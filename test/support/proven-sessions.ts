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

export interface Proven extends z.infer<typeof Tally> {
  readonly seconds: number
}

/** A run of all tests proves at least so many requests. */
const FEWEST_REQUESTS = 1_000
/** As many as there are cores on the machines that this runs on; fewer Logs are not worth a second one. */
const PROGRAMS = 2
const WORTH_ANOTHER = 50

/** Proves every Session below `root`, in programs of their own: what they hold in memory ends with them. */
export async function provenSessions(root: string): Promise<Proven> {
  const started = performance.now()
  const logs = await logsBelow(root)
  const programs = Math.min(PROGRAMS, Math.ceil(logs.length / WORTH_ANOTHER))
  const parts = await Promise.all(
    Array.from({ length: programs }, (_, part) => provenPart(root, part, programs)),
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

async function provenPart(root: string, part: number, of: number): Promise<z.infer<typeof Tally>> {
  const script = fileURLToPath(new URL('prove-sessions.ts', import.meta.url))
  const argv = ['--max-old-space-size=1024', '--import', 'tsx', script]
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [...argv, root, String(part), String(of)],
    { maxBuffer: 64 * 1024 * 1024 },
  )
  return Tally.parse(JSON.parse(stdout))
}

export function wordsOf(proven: Proven): string {
  const { sessions, requests, not_comparable, unbegun, wrong, seconds } = proven
  return (
    `Sessions left behind: ${sessions} proved, with ${requests} requests composed again as recorded; ` +
    `${not_comparable} requests in other words; ` +
    `${proven.damaged_on_purpose} damaged on purpose, with ${proven.requests_of_damaged} requests as recorded; ` +
    `${unbegun} never begun, ${wrong.length} wrong (${seconds.toFixed(1)} s)`
  )
}

/** Why the run fails, if it does. `whole`: all tests ran. */
export function complaintsOf({ wrong, requests }: Proven, whole: boolean): string[] {
  const few = `only ${requests} requests were proved, which are fewer than ${FEWEST_REQUESTS}`
  return [
    ...wrong.map((one) => `a Session does not prove itself: ${one}`),
    ...(whole && requests < FEWEST_REQUESTS ? [few] : []),
  ]
}
