import { execFile } from 'node:child_process'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import * as z from 'zod'

const Tally = z.object({
  sessions: z.number(),
  requests: z.number(),
  unbegun: z.number(),
  damaged_on_purpose: z.number(),
  wrong: z.array(z.string()),
})

export interface Proven extends z.infer<typeof Tally> {
  readonly seconds: number
}

/** A run of all tests proves at least so many requests. */
const FEWEST_REQUESTS = 1_000
/** As many as the machines have cores that this is meant for. */
const PROGRAMS = 2

/** Proves every Session below `root`, in programs of their own: what they hold in memory ends with them. */
export async function provenSessions(root: string): Promise<Proven> {
  const started = performance.now()
  const parts = await Promise.all(
    Array.from({ length: PROGRAMS }, (_, part) => provenPart(root, part)),
  )
  const total = (count: (tally: z.infer<typeof Tally>) => number) =>
    parts.reduce((sum, one) => sum + count(one), 0)
  return {
    sessions: total(({ sessions }) => sessions),
    requests: total(({ requests }) => requests),
    unbegun: total(({ unbegun }) => unbegun),
    damaged_on_purpose: total(({ damaged_on_purpose }) => damaged_on_purpose),
    wrong: parts.flatMap(({ wrong }) => wrong),
    seconds: (performance.now() - started) / 1000,
  }
}

async function provenPart(root: string, part: number): Promise<z.infer<typeof Tally>> {
  const script = fileURLToPath(new URL('prove-sessions.ts', import.meta.url))
  const argv = ['--max-old-space-size=1024', '--import', 'tsx', script]
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [...argv, root, String(part), String(PROGRAMS)],
    { maxBuffer: 64 * 1024 * 1024 },
  )
  return Tally.parse(JSON.parse(stdout))
}

export function wordsOf(proven: Proven): string {
  const { sessions, requests, unbegun, damaged_on_purpose, wrong, seconds } = proven
  return (
    `Sessions left behind: ${sessions} proved, with ${requests} requests composed again as recorded; ` +
    `${damaged_on_purpose} damaged on purpose, ${unbegun} never begun, ${wrong.length} wrong (${seconds.toFixed(1)} s)`
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
