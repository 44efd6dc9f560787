import { runFault } from './figure.ts'
import { whyNoLoopDisk } from './loop-disk.ts'
import { withOwnMounts } from './own-mounts.ts'
import { runPowerCuts } from './power-cut-runs.ts'

const reason = await whyNoLoopDisk()

// Cuts the power for disks of a mount namespace of its own, so that also a run that is killed leaves nothing mounted.
if (reason !== undefined || (await withOwnMounts())) {
  await runFault(
    'power cut',
    async () => reason,
    async ({ seed, full }) => {
      const cuts = full ? 500 : 6
      const { events, blobs, ...counts } = await runPowerCuts({ seed, cuts, lanes: 2 })
      const { acknowledged, kept, repaired } = counts
      const bug = 'acknowledge_before_sync'
      const planted = await runPowerCuts({ seed, cuts: 10, lanes: 1, bug })
      const missed = planted.events.length === 0 ? ['it was not noticed'] : []
      return [
        {
          test: 'power cut while appending',
          n: cuts,
          violations: events,
          more: { acknowledged, repaired },
        },
        { test: 'power cut during put-then-log', n: cuts, violations: blobs, more: { kept } },
        { test: `planted ${bug} loses Events in a power cut`, n: 10, violations: missed },
      ]
    },
  )
}
