import { constants } from 'node:fs'
import { access, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { provenGroups, type GroupKind } from './control-group.ts'
import { groupPlace, type GroupPlace } from './group-place.ts'
import type { LimitMethod } from './limits.ts'

/** Control groups v2, if our own group or one above it is delegated to us with both controllers. */
export async function findUnifiedGroups(root: string): Promise<LimitMethod | undefined> {
  const place = await groupPlace(root, 'unified')
  const parent = place === undefined ? undefined : await delegatedGroup(root, place)
  return parent === undefined ? undefined : provenGroups(groupsIn(parent))
}

function groupsIn(parent: string): GroupKind {
  return {
    by: 'cgroup v2',
    parents: [parent],
    settings: ({ processes, memoryBytes }) => [
      { parent, name: 'pids.max', value: String(processes) },
      { parent, name: 'memory.max', value: String(memoryBytes) },
      // Missing where the kernel has no swap.
      { parent, name: 'memory.swap.max', value: '0', optional: true },
    ],
    counters: [
      { parent, name: 'memory.events', word: 'oom_kill', limit: 'memory' },
      { parent, name: 'pids.events', word: 'max', limit: 'processes' },
    ],
  }
}

/**
 * The nearest group, from our own upwards, that passes both controllers on and that we may write to. A group that contains
 * processes cannot pass controllers on, so it is usually the one above ours. Moving a process requires write access to
 * `cgroup.procs` of the common ancestor, which is this group.
 */
async function delegatedGroup(
  root: string,
  { mountPoint, own }: GroupPlace,
): Promise<string | undefined> {
  for (let path = own; path.length >= mountPoint.length && path !== '/'; path = dirname(path)) {
    const folder = join(root, path)
    if ((await handsOn(folder)) && (await isOurGroup(folder))) return folder
  }
  return undefined
}

async function handsOn(folder: string): Promise<boolean> {
  const text = await readFile(join(folder, 'cgroup.subtree_control'), 'utf8').catch(() => '')
  const controllers = text.trim().split(' ')
  return ['pids', 'memory'].every((name) => controllers.includes(name))
}

async function isOurGroup(folder: string): Promise<boolean> {
  const needed = [
    access(folder, constants.W_OK | constants.X_OK),
    access(join(folder, 'cgroup.procs'), constants.W_OK),
  ]
  return Promise.all(needed).then(
    () => true,
    () => false,
  )
}
