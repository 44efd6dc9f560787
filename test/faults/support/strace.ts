import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { startChild, type Ending } from './child.ts'
import type { ChildReport } from '../../support/host/child-report.ts'

/** One run of a child whose system calls are traced from the moment it reported ready. */
export interface Traced {
  /** Its reports since then. */
  readonly reports: readonly ChildReport[]
  readonly ending: Ending
  /** It exited by itself, whatever happened before. */
  readonly done: boolean
}

/**
 * Runs `script` and attaches strace with `expressions` before the child continues. It is attached and does not start the
 * child, because the thousand calls of a starting Node would be counted too. strace counts per thread, so the child has one
 * thread for files; its main thread accesses none.
 */
export async function runTraced(
  script: string,
  order: object,
  expressions: readonly string[],
  output = '/dev/null',
): Promise<Traced> {
  const child = startChild(script, order, { env: { UV_THREADPOOL_SIZE: '1' } })
  const ready = await child.waitFor(({ what }) => what === 'ready')
  if (ready === undefined) throw new Error(`no child: ${(await child.ended).complaint}`)
  const from = child.reports.length
  const args = ['-f', '-o', output, ...expressions.flatMap((one) => ['-e', one])]
  const strace = await attach([...args, '-p', `${child.pid}`]).catch(async (error: unknown) => {
    await child.kill()
    throw error
  })
  child.send('')
  const ending = await child.ended
  await strace.ended
  const reports = child.reports.slice(from)
  return { reports, ending, done: reports.some(({ what }) => what === 'done') }
}

/** How often each thread made each of these calls; the largest number for each name. */
function countCalls(text: string): Map<string, number> {
  const counts = new Map<string, number>()
  const most = new Map<string, number>()
  for (const [, thread, name = ''] of text.matchAll(/^(\d+)\s+(\w+)\(/gm)) {
    const count = (counts.get(`${thread} ${name}`) ?? 0) + 1
    counts.set(`${thread} ${name}`, count)
    most.set(name, Math.max(count, most.get(name) ?? 0))
  }
  return most
}

/** Which of `names` the steps of this order call at all, and how often. */
export async function callsOf(
  script: string,
  order: object,
  names: readonly string[],
  output: string,
): Promise<Map<string, number>> {
  const { done, ending } = await runTraced(script, order, [`trace=${names.join(',')}`], output)
  if (!done) throw new Error(`the steps failed under strace: ${ending.complaint}`)
  return countCalls(await readFile(output, 'utf8'))
}

/** The reason why system calls cannot be traced here, if any. */
export async function whyNoStrace(): Promise<string | undefined> {
  const sleeper = spawn('sleep', ['60'], { stdio: 'ignore' })
  try {
    const strace = await attach(['-o', '/dev/null', '-p', `${sleeper.pid}`])
    sleeper.kill('SIGKILL')
    await strace.ended
    return undefined
  } catch (error) {
    return `strace: ${error instanceof Error ? error.message : 'does not work'}`
  } finally {
    sleeper.kill('SIGKILL')
  }
}

/** Resolves when strace is attached to every thread. */
async function attach(args: readonly string[]): Promise<{ readonly ended: Promise<void> }> {
  const strace = spawn('strace', args, { stdio: ['ignore', 'ignore', 'pipe'] })
  let output = ''
  const ended = new Promise<void>((resolve, reject) => {
    strace.on('error', reject)
    strace.on('close', () => resolve())
  })
  await new Promise<void>((resolve, reject) => {
    strace.stderr.setEncoding('utf8').on('data', (text: string) => {
      output += text
      if (/attached/.test(output)) resolve()
    })
    ended.then(() => reject(new Error(output.trim())), reject)
  })
  return { ended }
}
