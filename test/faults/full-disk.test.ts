import { expect, test } from 'vitest'
import { freshFolder } from '../support/folder.ts'
import { runBadSyncs } from './bad-sync-runs.ts'
import { runFullDisk, whyNoSmallDisk } from './full-disk-runs.ts'
import { whyNoStrace } from './strace.ts'

const noDisk = await whyNoSmallDisk()
const noStrace = await whyNoStrace()

test.skipIf(noDisk !== undefined)(
  'a full disk acknowledges nothing it does not hold, and is of use again when space is back',
  async () => {
    const run = { seed: 1, rounds: 4, folder: await freshFolder() }
    const { events, blobs, acknowledged } = await runFullDisk(run)
    expect({ events, blobs }).toEqual({ events: [], blobs: [] })
    expect(acknowledged).toBeGreaterThan(0)
  },
)

test.skipIf(noStrace !== undefined)(
  'after a sync of the Log failed its writer acknowledges nothing more',
  async () => {
    const run = { folder: await freshFolder(), call: 'fdatasync', which: [1, 4] } as const
    expect(await runBadSyncs(run)).toEqual([])
  },
)

test.skipIf(noStrace !== undefined)(
  'a place whose sync failed is not opened, and a blob not acknowledged while the Log goes on',
  async () => {
    const run = { folder: await freshFolder(), call: 'fsync', which: [1, 8] } as const
    expect(await runBadSyncs(run)).toEqual([])
  },
)
