import { expect, test } from 'vitest'
import { freshFolder } from '../../support/host/folder.ts'
import { runBadSyncs } from './bad-sync-runs.ts'
import { runFullDisk, whyNoSmallDisk } from './full-disk-runs.ts'
import { whyNoStrace } from '../support/strace.ts'

const noDisk = await whyNoSmallDisk()
const noStrace = await whyNoStrace()

test.skipIf(noDisk !== undefined)(
  'a full disk acknowledges nothing that it does not store, and works again when space is available',
  async () => {
    const run = { seed: 1, rounds: 4, folder: await freshFolder() }
    const { events, blobs, acknowledged } = await runFullDisk(run)
    expect({ events, blobs }).toEqual({ events: [], blobs: [] })
    expect(acknowledged).toBeGreaterThan(0)
  },
)

test.skipIf(noStrace !== undefined)(
  'after a failed sync of the Log, its writer acknowledges nothing more',
  async () => {
    const run = { folder: await freshFolder(), call: 'fdatasync', which: [1, 4] } as const
    expect(await runBadSyncs(run)).toEqual([])
  },
)

test.skipIf(noStrace !== undefined)(
  'after a failed sync, a place is not opened and a blob is not acknowledged, and the Log continues',
  async () => {
    const run = { folder: await freshFolder(), call: 'fsync', which: [1, 8] } as const
    expect(await runBadSyncs(run)).toEqual([])
  },
)
