import { readdirSync, readFileSync } from 'node:fs'
import { open, readFile } from 'node:fs/promises'
import { kinOf, parseStat } from '../../../src/host/process/kin.ts'

/** The pids of a process and of everything it started. */
export function kinPids(leader: number): number[] {
  const all = readdirSync('/proc').flatMap((name) => {
    const stat = /^\d+$/.test(name) ? statOf(name) : undefined
    return stat === undefined ? [] : [stat]
  })
  return kinOf(leader, all).map(({ pid }) => pid)
}

/** Where a text is in what /proc shows of a process: its environment, its arguments, and its memory, as far as readable. */
export async function tracesOf(
  pid: number,
  text: string,
): Promise<{ readonly found: readonly string[] }> {
  const found: string[] = []
  for (const name of ['environ', 'cmdline']) {
    const bytes = await readFile(`/proc/${pid}/${name}`).catch(() => Buffer.alloc(0))
    if (bytes.includes(text)) found.push(name)
  }
  await searchMemory(pid, text, found)
  return { found }
}

const PIECE = 1 << 20

async function searchMemory(pid: number, text: string, found: string[]): Promise<void> {
  const maps = await readFile(`/proc/${pid}/maps`, 'latin1').catch(() => '')
  const memory = await open(`/proc/${pid}/mem`, 'r').catch(() => undefined)
  if (memory === undefined) return
  const room = Buffer.alloc(PIECE + text.length)
  for (const line of maps.split('\n')) {
    const [, from = '', to = ''] = /^([0-9a-f]+)-([0-9a-f]+) rw/.exec(line) ?? []
    // Node reserves far more than it uses; unused parts cannot be read.
    for (let at = parseInt(from, 16); at < parseInt(to, 16); at += PIECE) {
      const length = Math.min(room.length, parseInt(to, 16) - at)
      const read = await memory.read(room, 0, length, at).catch(() => undefined)
      if (read === undefined) continue
      if (room.subarray(0, read.bytesRead).includes(text)) found.push(`memory at ${line}`)
    }
  }
  await memory.close()
}

function statOf(pid: string) {
  try {
    return parseStat(readFileSync(`/proc/${pid}/stat`, 'latin1'))
  } catch {
    return undefined
  }
}
