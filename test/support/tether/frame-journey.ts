import { readSpan, type Folder } from '../../../src/host/files/files.ts'
import type { FrameLog } from '../../../src/tether/frames/frame-log.ts'
import { value } from '../log/story.ts'
import { virtualClock } from '../host/virtual-clock.ts'
import { openFrames } from './frame-log-place.ts'
import { delta, done, errorFrame, presence, userMessage } from './frames.ts'

/**
 * A journey of frames through several files, with a fixed clock: shared writes, repeated messages, ranges for deltas, carried
 * messages, deletion by size and by age, and two reopenings. What it writes depends on nothing else.
 */
export async function runFrameJourney(folder: Folder): Promise<void> {
  const clock = virtualClock()
  clock.advance(1_000)
  let log = value(await openFrames(folder, { clock }))
  await talk(log, 'first')
  await log.close()
  clock.advance(60_000)
  log = value(await openFrames(folder, { clock }))
  await talk(log, 'second')
  clock.advance(5 * 24 * 60 * 60 * 1000)
  value(await log.append(userMessage('late', { channel: 'mcp', id: 'ünï/✓' }, 'a "quoted" line\n')))
  await log.close()
  log = value(await openFrames(folder, { clock }))
  value(await log.append(done('late-end', 'late', { channel: 'mcp', id: 'ünï/✓' })))
  await log.close()
}

async function talk(log: FrameLog, name: string): Promise<void> {
  for (let round = 0; round < 6; round++) {
    const [a, b] = [`${name}-${round}-a`, `${name}-${round}-b`]
    await Promise.all(
      [userMessage(a), userMessage(b), userMessage(a)].map((one) => log.append(one)),
    )
    for (let i = 0; i < 10; i++) value(await log.append(delta(`${a}-d${i}`, a)))
    await Promise.all([presence(`${a}-p`, a), delta(`${a}-d`, a)].map((one) => log.append(one)))
    value(await log.append(round % 2 === 0 ? done(`${a}-end`, a) : errorFrame(`${a}-end`, a)))
    if (round % 3 === 0) value(await log.append(done(`${b}-end`, b)))
  }
}

/** The text of every file of a folder, by name. */
export async function filesOf(folder: Folder): Promise<Record<string, string>> {
  const files: Record<string, string> = {}
  for (const name of (await folder.names()).toSorted()) {
    const file = await folder.open(name, 'read')
    files[name] = (await readSpan(file, 0, (await file.stat()).size)).toString('utf8')
    await file.close()
  }
  return files
}
