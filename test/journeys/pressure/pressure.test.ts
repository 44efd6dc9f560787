import { expect, test } from 'vitest'
import { essenceOf } from '../../../src/presenters/cli/render/event-essence.ts'
import type { ModelFacts } from '../../../src/model/model-facts.ts'
import { harnessPlace } from '../../support/session/harness-place.ts'
import { value } from '../../support/log/story.ts'

const REHEARSAL = { provider: 'rehearsal', model: 'rehearsal' } as const

/** The usage Events of one Turn with a model of these facts. */
async function usagesWith(facts: ModelFacts | undefined) {
  const { harness } = await harnessPlace({ model: { factsOf: () => facts } })
  const session = value(await harness.create(REHEARSAL))
  await value(await session.admit('List all files')).done
  return session.events.flatMap((event) => (event.type === 'provider_usage' ? [event] : []))
}

test('every call records how full the window was, and the Log shows it', async () => {
  const window_tokens = 100_000
  const usages = await usagesWith({ window_tokens })
  expect(usages).toHaveLength(2)
  for (const event of usages) {
    const { usage, pressure } = event.data
    expect(usage.input).toBeGreaterThan(0)
    expect(pressure).toEqual({ tier: 'none', ratio: usage.input / window_tokens, window_tokens })
    expect(essenceOf(event).head).toMatch(/, \d\.\d % of the window$/)
  }
})

test('the tier of a nearly full window is recorded', async () => {
  const [first] = await usagesWith({ window_tokens: 100_000 })
  const input = first?.data.usage.input ?? 0
  const [near] = await usagesWith({ window_tokens: Math.floor(input / 0.85) })
  expect(near?.data.pressure).toMatchObject({ tier: 'warning' })
  expect(near && essenceOf(near).head).toMatch(/, 85\.\d % of the window \(warning\)$/)
})

test('without a known window nothing is guessed', async () => {
  for (const facts of [undefined, {}]) {
    const usages = await usagesWith(facts)
    expect(usages.map(({ data }) => data.pressure)).toEqual(['unavailable', 'unavailable'])
    expect(usages.map((event) => essenceOf(event).head).join()).not.toContain('window')
  }
})
