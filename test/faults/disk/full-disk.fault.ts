import { tmpdir } from 'node:os'
import { runBadSyncs } from './bad-sync-runs.ts'
import { runFault } from '../support/figure.ts'
import { runFullDisk, whyNoSmallDisk } from './full-disk-runs.ts'
import { whyNoStrace } from '../support/strace.ts'

await runFault('full disk', whyNoSmallDisk, async ({ seed, full }) => {
  const rounds = full ? 50 : 5
  const run = { seed, rounds, folder: tmpdir() }
  const { events, blobs, acknowledged, kept } = await runFullDisk(run)
  return [
    { test: 'append on a full disk', n: rounds, violations: events, more: { acknowledged } },
    { test: 'put on a full disk', n: rounds, violations: blobs, more: { kept } },
  ]
})

await runFault('a sync that fails', whyNoStrace, async ({ full }) => {
  const which = Array.from({ length: full ? 20 : 3 }, (_, i) => i + 1)
  const folder = tmpdir()
  const log = await runBadSyncs({ folder, call: 'fdatasync', which })
  const others = await runBadSyncs({ folder, call: 'fsync', which })
  return [
    { test: 'EIO at a sync of the Log', n: which.length, violations: log },
    { test: 'EIO at a sync of a blob, a head or a folder', n: which.length, violations: others },
  ]
})
