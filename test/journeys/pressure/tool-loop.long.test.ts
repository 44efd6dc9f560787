import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { harnessPlace } from '../../support/session/harness-place.ts'
import { StoryModel, storyParts } from '../../support/pressure/long-story.ts'
import { compactions, proven } from '../../support/pressure/pressed-place.ts'
import { filler, say } from '../../support/pressure/talk.ts'
import { value } from '../../support/log/story.ts'
import { ok } from '../../../src/model/errors.ts'
import { read as readTool } from '../../../src/tools/read.ts'
import type { Tool } from '../../../src/tools/tool.ts'
import { toolset } from '../../../src/tools/toolset.ts'

const STORY = { provider: 'story', model: 'story' } as const

test('[PC-055] one Turn of 300 calls whose outputs exceed the window many times finishes', async () => {
  const model = new StoryModel(200_000)
  const place = await harnessPlace(storyParts(model))
  await writeFile(join(place.workspace, 'log.txt'), filler('a log', 40_000))
  const session = value(await place.harness.create(STORY))
  const read = [{ name: 'read', args: { path: 'log.txt' } }]
  model.play(...Array.from({ length: 300 }, () => read), 'All was read.')
  expect(await say(session, 'Read the log, again and again.')).toBe('completed')
  const results = session.events.flatMap((e) => (e.type === 'tool_result' ? [e.data] : []))
  const bytes = results.reduce((sum, { output }) => sum + output.length, 0)
  expect([results.length, bytes > 10 * 4 * 200_000]).toEqual([300, true])
  expect(new Set(compactions(session))).toEqual(new Set(['critical_pressure_preflight']))
  expect(await say(session, 'Thanks.')).toBe('completed')
  await proven(place, session)
})

test('[PC-058] a single result of 2 MB becomes a pointer, which the model can follow', async () => {
  const output = filler('a huge result', 2 * 1024 * 1024)
  const huge: Tool = {
    ...readTool,
    parse: (text) => {
      const parsed = readTool.parse(text)
      return parsed.ok
        ? ok({ ...parsed.value, run: async () => ({ outcome: 'ok', output }) })
        : parsed
    },
  }
  const model = new StoryModel(200_000)
  const tools = { toolset: async () => new Map([...toolset(), ['read', huge]]) }
  const place = await harnessPlace(storyParts(model, { tools }))
  const session = value(await place.harness.create(STORY))
  expect(await say(session, 'Good morning.')).toBe('completed')
  const seqOf = (type: string) => session.events.findLast((event) => event.type === type)?.seq ?? 0
  model.play([{ name: 'read', args: { path: 'a' } }], 'It is long.')
  expect(await say(session, 'Read it.')).toBe('completed')
  expect([compactions(session), model.figures.refused]).toEqual([['overflow_recovery'], 1])
  model.play([{ name: 'history_search', args: { seq: seqOf('tool_result') } }], 'I see.')
  expect(await say(session, 'And what does it say?')).toBe('completed')
  const last = session.events.findLast((event) => event.type === 'tool_result')
  expect(last?.data.output).toContain('a huge result: the tide turns')
  await proven(place, session)
})

test('a file of 2 MB is read in part, and the rest stays available', async () => {
  const model = new StoryModel(30_000)
  const place = await harnessPlace(storyParts(model))
  await writeFile(join(place.workspace, 'log.txt'), filler('a log', 2 * 1024 * 1024))
  const session = value(await place.harness.create(STORY))
  const read = [{ name: 'read', args: { path: 'log.txt' } }]
  model.play(read, read, read, 'It is long.')
  expect(await say(session, 'Read it.')).toBe('completed')
  const results = session.events.flatMap((e) => (e.type === 'tool_result' ? [e.data] : []))
  expect(results.map(({ truncated }) => truncated)).toEqual([true, true, true])
  expect(compactions(session).length).toBeGreaterThan(0)
  await proven(place, session)
})
