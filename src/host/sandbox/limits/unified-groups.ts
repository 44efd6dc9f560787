import { constants } from 'node:fs'
import { access, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { provenGroups, type GroupKind } from './control-group.ts'
import { groupPlace, type GroupPlace } from './group-place.ts'
import type { LimitMeans } from './limits.ts'

/** Control groups of version 2, where a group of ours or one above it is delegated to us with both controllers. */
export async function findUnifiedGroups(root: string): Promise<LimitMeans | undefined> {
  const place = await groupPlace(root, 'unified')
  const parent = place === undefined ? undefined : await delegated(root, place)
  return parent === undefined ? undefined : provenGroups(groupsIn(parent))
}

function groupsIn(parent: string): GroupKind {
  return {
    by: 'cgroup v2',
    parents: [parent],
    settings: ({ processes, memoryBytes }) => [
      { parent, name: 'pids.max', value: String(processes) },
      { parent, name: 'memory.max', value: String(memoryBytes) },
      // There is no such file where the kernel does not swap.
      { parent, name: 'memory.swap.max', value: '0', optional: true },
    ],
    counters: [
      { parent, name: 'memory.events', word: 'oom_kill', limit: 'memory' },
      { parent, name: 'pids.events', word: 'max', limit: 'processes' },
    ],
  }
}

/**
 * The nearest group, from our own upwards, that hands both controllers on and that we may write to. A group with processes in
 * it cannot hand controllers on, so that is usually the one above ours. Moving a process takes the right to write
 * `cgroup.procs` of the group that both places have in common, which is this one.
 */
async function delegated(root: string, { mounted, own }: GroupPlace): Promise<string | undefined> {
  for (let path = own; path.length >= mounted.length && path !== '/'; path = dirname(path)) {
    const folder = join(root, path)
    if ((await handsOn(folder)) && (await isOurs(folder))) return folder
  }
  return undefined
}

async function handsOn(folder: string): Promise<boolean> {
  const text = await readFile(join(folder, 'cgroup.subtree_control'), 'utf8').catch(() => '')
  const controllers = text.trim().split(' ')
  return ['pids', 'memory'].every((name) => controllers.includes(name))
}

async function isOurs(folder: string): Promise<boolean> {
  const needed = [
    access(folder, constants.W_OK | constants.X_OK),
    access(join(folder, 'cgroup.procs'), constants.W_OK),
  ]
  return Promise.all(needed).then(
    () => true,
    () => false,
  )
}
