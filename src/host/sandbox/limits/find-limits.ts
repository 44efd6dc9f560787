import { findControllerGroups } from './controller-groups.ts'
import { findUnifiedGroups } from './unified-groups.ts'
import type { LimitMeans } from './limits.ts'

/**
 * The best means of this machine: control groups where we may make some that hold, else limits of each process. `root` is
 * where the file system begins.
 */
export async function findLimits(root = '/'): Promise<LimitMeans> {
  return (await findUnifiedGroups(root)) ?? (await findControllerGroups(root)) ?? RLIMITS
}

/** The first process of the sandbox sets them; see `sandboxArgs`. */
const RLIMITS: LimitMeans = {
  by: 'rlimits',
  open: async ({ memoryBytes }) => ({
    entry: [],
    dataBytes: memoryBytes,
    met: async () => [],
    remove: async () => {},
  }),
}
