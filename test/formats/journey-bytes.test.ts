import { expect, test } from 'vitest'
import { CrashDisk } from '../support/host/crash-disk.ts'
import { recordJourney } from '../support/log/recorded-journey.ts'

test('the files of a recorded journey are equal, byte for byte, to those that were written before the ports', async () => {
  const found = await recordJourney(new CrashDisk(1))
  await expect(`${JSON.stringify(found, null, 2)}\n`).toMatchFileSnapshot('./journey-bytes.json')
})
