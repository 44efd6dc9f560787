import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { logName } from '../../../src/log/files/names.ts'
import { harnessPlace } from '../../support/session/harness-place.ts'
import {
  StoryModel,
  storyParts,
  storyTurn,
  writeStoryFiles,
} from '../../support/pressure/long-story.ts'
import { value } from '../../support/log/story.ts'

/** `bench/pressure.bench.ts` measures 1,000 Turns at 200,000 tokens. */
const TURNS = 300
const WINDOW = 60_000

test('[PC-058] many Turns with tools, images and Skills: none is lost to the window, and nearly all input is cached', async () => {
  const model = new StoryModel(WINDOW)
  const { harness, workspace } = await harnessPlace(storyParts(model))
  await writeStoryFiles(workspace)
  const session = value(await harness.create({ provider: 'story', model: 'story' }))
  const log = join(workspace, '.hawser', 'sessions', logName(session.id))
  const ends = new Map<string, number>()
  const sizes: number[] = []
  for (let n = 1; n <= TURNS; n += 1) {
    const end = await storyTurn(session, model, n, workspace)
    ends.set(end, (ends.get(end) ?? 0) + 1)
    if (n % 60 === 0) sizes.push((await stat(log)).size)
  }
  expect([...ends]).toEqual([['completed', TURNS]])
  const lines = (await readFile(log, 'utf8')).trimEnd().split('\n')
  const triggers = lines.flatMap((line) => /"trigger":"(\w+)"/.exec(line)?.[1] ?? [])
  const { refused, input, cached } = model.figures
  const recovered = triggers.filter((trigger) => trigger === 'overflow_recovery').length
  expect(new Set(triggers)).toEqual(new Set(['critical_pressure_preflight', 'overflow_recovery']))
  expect(refused).toBeGreaterThan(0)
  expect(recovered).toBe(refused)
  expect(cached / input).toBeGreaterThanOrEqual(0.9)
  // Each sixty Turns add about as much to the Log as any other.
  const grown = sizes.map((size, at) => size - (sizes[at - 1] ?? 0))
  expect(Math.max(...grown) / Math.min(...grown)).toBeLessThan(1.5)
  expect(session.events.length).toBeLessThan(1_000)
})
