import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { provenGroups, type GroupKind } from './control-group.ts'
import { groupPlace } from './group-place.ts'
import type { LimitMethod } from './limits.ts'

/** Control groups v1, if this process may create groups below its own in both hierarchies, as root usually may. */
export async function findControllerGroups(root: string): Promise<LimitMethod | undefined> {
  const [pids, memory] = await Promise.all([writable(root, 'pids'), writable(root, 'memory')])
  return pids === undefined || memory === undefined
    ? undefined
    : provenGroups(groupsIn(pids, memory))
}

function groupsIn(pids: string, memory: string): GroupKind {
  return {
    by: 'cgroup v1',
    // Both controllers may share one hierarchy.
    parents: [...new Set([pids, memory])],
    settings: ({ processes, memoryBytes }) => [
      { parent: pids, name: 'pids.max', value: String(processes) },
      { parent: memory, name: 'memory.limit_in_bytes', value: String(memoryBytes) },
      // Memory and swap together. Missing where the kernel does not account for swap.
      {
        parent: memory,
        name: 'memory.memsw.limit_in_bytes',
        value: String(memoryBytes),
        optional: true,
      },
    ],
    counters: [
      { parent: memory, name: 'memory.oom_control', word: 'oom_kill', limit: 'memory' },
      { parent: pids, name: 'pids.events', word: 'max', limit: 'processes' },
    ],
  }
}

async function writable(root: string, controller: 'pids' | 'memory'): Promise<string | undefined> {
  const place = await groupPlace(root, controller)
  if (place === undefined) return undefined
  const folder = join(root, place.own)
  return access(folder, constants.W_OK | constants.X_OK).then(
    () => folder,
    () => undefined,
  )
}
