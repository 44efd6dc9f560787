import { runFault } from '../support/figure.ts'
import { whyNoLoopDisk } from './loop-disk.ts'
import { withOwnMounts } from '../support/own-mounts.ts'
import { runPowerCuts } from './power-cut-runs.ts'

const TEST = 'power cut'
const BUG = 'acknowledge_before_sync'
const BUGGY_CUTS = 10

const cannot = await whyNoLoopDisk()
if (cannot !== undefined) console.log(JSON.stringify({ test: TEST, skipped: cannot }))
else await withOwnMounts(cutInside)

async function cutInside(folder: string): Promise<void> {
  await runFault(
    TEST,
    async () => undefined,
    async ({ seed, full }) => {
      const cuts = full ? 500 : 6
      const run = { seed, lanes: 2, folder }
      const { events, blobs, acknowledged, kept, repaired } = await runPowerCuts({ ...run, cuts })
      const planted = await runPowerCuts({ ...run, cuts: BUGGY_CUTS, bug: BUG })
      const missed = planted.events.length === 0 ? ['it was not noticed'] : []
      return [
        {
          test: 'power cut while appending',
          n: cuts,
          violations: events,
          more: { acknowledged, repaired },
        },
        { test: 'power cut during put-then-log', n: cuts, violations: blobs, more: { kept } },
        { test: `planted ${BUG} loses Events in a power cut`, n: BUGGY_CUTS, violations: missed },
      ]
    },
  )
}
