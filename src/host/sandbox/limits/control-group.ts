import { execFile } from 'node:child_process'
import { mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { promisify } from 'node:util'
import { systemClock } from '../../clock.ts'
import { ownerIsGone, ownerMark } from '../../process/owner-mark.ts'
import { wait } from '../../wait.ts'
import type { CommandLimits, LimitGroup, LimitMethod, LimitName } from './limits.ts'

/** The file names of one version of control groups. */
export interface GroupKind {
  readonly by: 'cgroup v2' | 'cgroup v1'
  /** Folders in which this process may create groups: one in all, or one per hierarchy. */
  readonly parents: readonly string[]
  /** Settings of a group, in the order in which they must be written. A setting marked `optional` may not exist. */
  settings(limits: CommandLimits): readonly GroupSetting[]
  readonly counters: readonly GroupCounter[]
}

export interface GroupSetting {
  /** One of `parents`. */
  readonly parent: string
  readonly name: string
  readonly value: string
  readonly optional?: boolean
}

/** A file with lines of a word and a number. A number other than 0 means that the limit was reached. */
export interface GroupCounter {
  readonly parent: string
  readonly name: string
  readonly word: string
  readonly limit: LimitName
}

/**
 * Limits by groups of that kind, or `undefined` if a process cannot be moved into one. Removes groups that killed processes
 * left behind.
 */
export async function provenGroups(kind: GroupKind): Promise<LimitMethod | undefined> {
  await removeAbandoned(kind.parents)
  try {
    const group = await openGroup(kind, TRIAL)
    try {
      const [file, ...args] = [...group.entry, '/bin/sh', '-c', ':']
      await promisify(execFile)(file ?? '/bin/sh', args, { env: {} })
    } finally {
      await group.remove()
    }
  } catch {
    return undefined
  }
  return { by: kind.by, open: (limits) => openGroup(kind, limits) }
}

const MIB = 1024 * 1024
const TRIAL: CommandLimits = { processes: 64, memoryBytes: 256 * MIB }

let opened = 0

async function openGroup(kind: GroupKind, limits: CommandLimits): Promise<LimitGroup> {
  const { parents, counters } = kind
  const name = `${PREFIX}${ownerMark()}-${opened++}`
  const folders = parents.map((parent) => join(parent, name))
  const remove = async () => {
    await Promise.all(folders.map(removeGroup))
  }
  try {
    for (const folder of folders) await mkdir(folder)
    for (const { parent, name: file, value, optional = false } of kind.settings(limits)) {
      const written = writeFile(join(parent, name, file), value)
      await (optional ? written.catch(() => {}) : written)
    }
  } catch (error) {
    await remove()
    throw error
  }
  const entrances = folders.map((folder) => join(folder, 'cgroup.procs'))
  return {
    // Writing 0 moves the writing process into the group, where it stays after `exec`.
    entry: ['/bin/sh', '-c', ENTER, 'sh', String(process.pid), ...entrances, '--'],
    reachedLimits: async () => {
      const met = await Promise.all(
        counters.map(async ({ parent, name: file, word, limit }) => {
          const text = await readFile(join(parent, name, file), 'utf8').catch(() => '')
          return numberAfter(text, word) > 0 ? [limit] : []
        }),
      )
      return [...new Set(met.flat())]
    },
    remove,
  }
}

const PREFIX = 'hawser-'
const NAME = /^hawser-([0-9a-z]+-[0-9a-z]+-[0-9a-z]+)-\d+$/

/**
 * Bubblewrap dies with its parent only once it runs. If the parent (its pid is the first argument) ends while this shell
 * runs, the shell stops here.
 */
const ENTER = [
  'parent=$1; shift',
  'while [ "$1" != -- ]; do echo 0 >"$1" || exit 125; shift; done; shift',
  'read -r _ _ _ now _ </proc/self/stat; [ "$now" = "$parent" ] || exit 125',
  'exec "$@"',
].join('\n')

/** The number after a word at the start of a line. */
function numberAfter(text: string, word: string): number {
  return Number(new RegExp(`^${word} (\\d+)$`, 'm').exec(text)?.[1] ?? 0)
}

const POLL_MS = 2
const MOST_POLLS = 100

/** The kernel needs a moment to release killed processes. */
async function removeGroup(folder: string): Promise<void> {
  for (let polls = 0; polls < MOST_POLLS; polls++) {
    try {
      return await rmdir(folder)
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EBUSY')) return
    }
    await wait(systemClock, POLL_MS)
  }
}

/** Removes empty groups only: the kernel refuses to remove others. */
async function removeAbandoned(parents: readonly string[]): Promise<void> {
  for (const parent of parents) {
    const names = await readdir(parent).catch(() => [])
    const abandoned = names.filter((name) => ownerIsGone(NAME.exec(name)?.[1] ?? ''))
    await Promise.allSettled(abandoned.map((name) => rmdir(join(parent, name))))
  }
}
