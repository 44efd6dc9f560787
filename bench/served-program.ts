import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import * as z from 'zod'

/** `hawser up` as a process of its own, which uses the rehearsal model. */
export interface ServedProgram {
  readonly origin: string
  readonly token: string
  readonly workspace: string
  /** Bytes of physical memory: used now, or the most since the last `forgetPeak`. */
  readonly memory: (which: 'now' | 'peak') => Promise<number>
  readonly forgetPeak: () => Promise<void>
  /** CPU time so far, in ticks of 10 ms. */
  readonly ticks: () => Promise<number>
  /** Bytes that live objects use. The program must be started with `live.worker.ts`. */
  readonly live: () => Promise<number>
  readonly stop: () => Promise<void>
}

/** Starts the program, with its home and its workspace in `folder`. `options` are those of Node. */
export async function servedProgram(
  program: string,
  folder: string,
  options: readonly string[] = [],
): Promise<ServedProgram> {
  const [home, workspace] = [join(folder, 'home'), join(folder, 'workspace')]
  await mkdir(workspace, { recursive: true })
  const child = spawn(process.execPath, [...options, program, 'up', '--json'], {
    cwd: workspace,
    env: { PATH: process.env['PATH'], HAWSER_HOME: home, HAWSER_PROVIDER: 'rehearsal' },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  const { origin } = Announced.parse(JSON.parse(await firstLine(child)))
  const of = (file: string) => `/proc/${child.pid}/${file}`
  return {
    origin,
    token: (await readFile(join(home, 'token'), 'utf8')).trim(),
    workspace,
    memory: async (which) => {
      const name = which === 'now' ? 'VmRSS' : 'VmHWM'
      const found = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(
        await readFile(of('status'), 'utf8'),
      )
      return Number(found?.[1]) * 1024
    },
    forgetPeak: () => writeFile(of('clear_refs'), '5'),
    ticks: async () => {
      // The name of the program, in parentheses, may contain spaces.
      const fields = (await readFile(of('stat'), 'utf8')).split(') ')[1]?.split(' ') ?? []
      return Number(fields[11]) + Number(fields[12])
    },
    live: async () => {
      child.send('live')
      return z
        .tuple([z.number()])
        .rest(z.unknown())
        .parse(await once(child, 'message'))[0]
    },
    stop: async () => {
      const ended = once(child, 'close')
      child.kill('SIGTERM')
      await ended
    },
  }
}

const Announced = z.object({ origin: z.string() })

async function firstLine({ stdout }: ChildProcess): Promise<string> {
  let text = ''
  for await (const piece of stdout?.iterator({ destroyOnReturn: false }) ?? []) {
    text += String(piece)
    if (text.includes('\n')) return text
  }
  throw new Error('the server did not start')
}
