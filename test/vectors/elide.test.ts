import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { requestBytes, tokensOf, tokensPerByte } from '../../src/context/token-estimate.ts'
import type { EventDraft, WholeEvent } from '../../src/model/events/event.ts'
import { appended, compacted, planned } from '../support/pressure/planned-session.ts'
import { replaySurface } from '../support/pressure/replay-lengths.ts'
import { ReplayModel } from '../support/pressure/replay-model.ts'
import { playTrace } from '../support/pressure/replay-story.ts'
import { ReplayTrace } from '../support/pressure/replay-trace.ts'

const NAMES = ['short-turns', 'long-tool-loops', 'many-images']
const WINDOWS = [16_000, 32_000, 64_000, 128_000]

/** Shares of the window: above the first it is full, and a compaction leaves the second. */
const CRITICAL = 0.9
const LEFT = 0.4

async function turnsOf(name: string): Promise<EventDraft[][]> {
  const text = await readFile(new URL(`replay/${name}.json`, import.meta.url), 'utf8')
  const trace = ReplayTrace.parse(JSON.parse(text))
  const { events } = await playTrace(trace, 'attach-turn', new ReplayModel('attach-turn', 'sent'))
  const turns: EventDraft[][] = []
  for (const { type, data, turn_id } of events) {
    if (type === 'turn_started') turns.push([])
    turns.at(-1)?.push({ type, data, turn_id } as EventDraft)
  }
  return turns
}

/** How the Session of a trace is compacted with a window of that many tokens, in order. */
function strategiesOf(turns: readonly EventDraft[][], window: number): string[] {
  const surface = replaySurface('attach-turn')
  const strategies: string[] = []
  let events: readonly WholeEvent[] = []
  for (const turn of turns) {
    const tokens = tokensOf(requestBytes(events, { surface }), tokensPerByte(events))
    if (tokens > window * CRITICAL) {
      const target = Math.floor(window * LEFT)
      const { data } = planned(events, { surface, target })
      strategies.push(data.strategy)
      events = compacted(events, data)
    }
    events = appended(events, turn)
  }
  return strategies
}

// A window is full above 90 percent, and a compaction leaves 40 percent of it. Only the trace with long tool loops fills a
// window of 16,000 tokens or more; with a smaller one, the surface alone has more than a tenth of the window.
test('on the recorded traces, at least 30 percent of the compactions before a Turn need no summary', async () => {
  const strategies = []
  for (const name of NAMES) {
    const turns = await turnsOf(name)
    strategies.push(...WINDOWS.flatMap((window) => strategiesOf(turns, window)))
  }
  const alone = strategies.filter((strategy) => strategy === 'elide')
  expect(strategies.length).toBeGreaterThanOrEqual(10)
  expect(alone.length / strategies.length).toBeGreaterThanOrEqual(0.3)
})
