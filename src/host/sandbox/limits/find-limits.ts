import { findControllerGroups } from './controller-groups.ts'
import { findUnifiedGroups } from './unified-groups.ts'
import type { LimitMethod } from './limits.ts'

/**
 * The best way to enforce limits on this machine: control groups if this process may create working ones, else limits per
 * process. `root` is the root of the file system.
 */
export async function findLimits(root = '/'): Promise<LimitMethod> {
  return (await findUnifiedGroups(root)) ?? (await findControllerGroups(root)) ?? RLIMITS
}

/** The first process of the sandbox sets these; see `sandboxArgs`. */
const RLIMITS: LimitMethod = {
  by: 'rlimits',
  open: async ({ memoryBytes }) => ({
    entry: [],
    dataBytes: memoryBytes,
    reachedLimits: async () => [],
    remove: async () => {},
  }),
}
