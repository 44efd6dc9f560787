import { expect, test } from 'vitest'
import { harnessPlace } from '../../support/session/harness-place.ts'
import { StoryModel, storyParts } from '../../support/pressure/long-story.ts'
import { recall } from '../../support/pressure/recall-story.ts'

test('of 100 facts stated over 300 Turns, at least 95 can be answered after ten checkpoints', async () => {
  const model = new StoryModel(200_000)
  const found = await recall(await harnessPlace(storyParts(model)), model)
  expect(found).toMatchObject({ facts: 100, checkpoints: 10 })
  expect(found.retained_tokens).toBeLessThanOrEqual(40_000)
  expect(found.answerable).toBeGreaterThanOrEqual(95)
})
