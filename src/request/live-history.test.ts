import { expect, test } from 'vitest'
import { harnessPlace } from '../../test/support/session/harness-place.ts'
import { value } from '../../test/support/log/story.ts'
import { LiveHistory } from './live-history.ts'

test('a Log of any length is read at once', async () => {
  const { parts, harness } = await harnessPlace()
  const session = value(await harness.create({ provider: 'rehearsal', model: 'rehearsal' }))
  const lines = session.events.map((event) => ({ content: { isKnown: true as const, event } }))
  // More than the maximum number of arguments of a function call.
  const many = Array.from({ length: 100_000 }, () => lines).flat()
  const history = new LiveHistory(parts.log.store)
  expect((await history.add(many)).length).toBe(200_000)
  expect(history.events.length).toBe(200_000)
})
