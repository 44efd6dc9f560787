import { expect, test } from 'vitest'
import { CrashDisk } from '../../../../test/support/host/crash-disk.ts'
import { allFrames, ids, openFrames } from '../../../../test/support/tether/frame-log-place.ts'
import { message } from '../../../../test/support/tether/instances-place.ts'
import { value } from '../../../../test/support/log/story.ts'
import { readSpan, writeAll, type Folder } from '../../../host/files/files.ts'

async function logWith(disk: CrashDisk, names: readonly string[]): Promise<void> {
  const log = value(await openFrames(disk.folder()))
  for (const name of names) value(await log.append(message(name)))
  await log.close()
}

async function contentOf(folder: Folder): Promise<Buffer> {
  const file = await folder.open(NEWEST, 'read')
  const { size } = await file.stat()
  return readSpan(file, 0, size)
}

const NEWEST = '0000000000000001.ndjson'

test('a frame that a killed process wrote but did not sync is durable once a reader can see it', async () => {
  const longer = new CrashDisk(1)
  await logWith(longer, ['m1', 'm2'])
  const whole = await contentOf(longer.folder())
  for (let seed = 1; seed <= 40; seed += 1) {
    const disk = new CrashDisk(seed)
    await logWith(disk, ['m1'])
    const { length } = await contentOf(disk.folder())
    const file = await disk.folder().open(NEWEST, 'append')
    await writeAll(file, whole.subarray(length))
    const killed = disk.afterKill(seed)
    const seen = ids(await allFrames(value(await openFrames(killed.folder()))))
    expect(seen).toEqual(['m1', 'm2'])
    const next = value(await openFrames(killed.afterCrash(seed).folder()))
    expect(ids(await allFrames(next)), `seed ${seed}`).toEqual(seen)
  }
})
