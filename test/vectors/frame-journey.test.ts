import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { CrashDisk } from '../support/host/crash-disk.ts'
import { filesOf, runFrameJourney } from '../support/tether/frame-journey.ts'

// Recorded before frames had a port: `frame-journey.json` is what that version wrote.
test('a journey of frames writes the same bytes as the version that recorded it', async () => {
  const recorded: unknown = JSON.parse(
    await readFile(new URL('frame-journey.json', import.meta.url), 'utf8'),
  )
  const disk = new CrashDisk(1)
  await runFrameJourney(disk.folder())
  expect(await filesOf(disk.folder())).toEqual(recorded)
  // What it cost that version.
  expect([disk.steps, disk.writes, disk.syncs]).toEqual([166, 63, 77])
})
