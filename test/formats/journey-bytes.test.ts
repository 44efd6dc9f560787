import { expect, test } from 'vitest'
import { CrashDisk } from '../support/host/crash-disk.ts'
import { recordJourney } from '../support/log/recorded-journey.ts'

// Recorded before Logs had ports, except a fork and what the deletion of its parent leaves: recorded when forks became lineages.
test('the files of a recorded journey are equal, byte for byte, to those of the version that recorded them', async () => {
  const found = await recordJourney(new CrashDisk(1))
  await expect(`${JSON.stringify(found, null, 2)}\n`).toMatchFileSnapshot('./journey-bytes.json')
})
