import { mkdir } from 'node:fs/promises'
import { diskFolder } from '../../../src/host/files/disk.ts'
import { closing } from '../../../src/host/files/files.ts'
import { systemClock, type Clock } from '../../../src/host/clock.ts'
import { testPlace, type TestPlace } from './log-place.ts'

/** A workspace and a home on the real disk below `path`, which is created if it does not exist. */
export async function diskPlace(path: string, clock: Clock = systemClock): Promise<TestPlace> {
  await mkdir(path, { recursive: true, mode: 0o700 })
  const root = await diskFolder(path)
  return closing(root, () => testPlace(root, clock))
}
