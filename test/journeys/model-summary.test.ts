import { expect, test } from 'vitest'
import { MODEL_STRATEGY } from '../../src/context/range-summary.ts'
import { SUMMARY_INSTRUCTION } from '../../src/encoding/words/summary.ts'
import type { WholeEvent } from '../../src/model/events/event.ts'
import type { Session } from '../../src/session/live/session.ts'
import { value } from '../support/story.ts'
import { wayPlace, WAYS, type WayPlace } from '../support/ways.ts'

function eventsOf<T extends WholeEvent['type']>(events: readonly WholeEvent[], type: T) {
  return events.filter((event): event is WholeEvent<T> => event.type === type)
}

async function say(session: Session, text: string): Promise<void> {
  const { done } = value(await session.admit(text))
  expect(value(await done).ended.status).toBe('completed')
}

/** A Session of some length, most of it text that only a summary can shorten. */
async function longSession(place: WayPlace): Promise<Session> {
  const session = value(await place.harness.create(place.begin))
  for (let turn = 1; turn <= 12; turn += 1) {
    const told = `In harbour ${turn} the tide turns at ${turn} o'clock. `.repeat(80)
    await say(session, told)
  }
  return session
}

async function proven({ harness }: WayPlace, session: Session): Promise<void> {
  const { log, requests, checkpoints } = value(await harness.verify(session.id, { requests: true }))
  expect([log.damage, requests?.mismatches, checkpoints]).toEqual([undefined, [], []])
}

function requestsIn(session: Session) {
  return eventsOf(session.events, 'provider_request').map(({ data }) => data)
}

test.each(WAYS)(
  '%s: the model writes the summary in a call that extends the last request',
  async (way) => {
    const place = await wayPlace(way)
    const session = await longSession(place)
    const last = requestsIn(session).at(-1)
    const planned = value(await place.harness.previewCompaction(session, { summary: 'model' }))
    expect(planned).toMatchObject({ summary: 'model', plan: { data: { strategy: 'excerpts' } } })
    expect(requestsIn(session).at(-1)).toBe(last)

    const done = value(await place.harness.compact(session, { summary: 'model' }))
    expect(done).toMatchObject({ compactable: true, data: { strategy: MODEL_STRATEGY } })
    const asked = requestsIn(session).at(-1)
    const usage = eventsOf(session.events, 'provider_usage').at(-1)?.data.usage
    expect(asked?.prefix_break).toBeUndefined()
    expect(asked?.cache_key).toBe(last?.cache_key)
    expect(asked?.shared_prefix_bytes).toBe(last?.request_bytes)
    expect((asked?.shared_prefix_bytes ?? 0) / (asked?.request_bytes ?? 1)).toBeGreaterThan(0.95)
    // The model in process has no cache.
    if (way !== 'in process')
      expect((usage?.cached_read ?? 0) / (usage?.input ?? 1)).toBeGreaterThan(0.95)

    const next = value(await place.harness.preview(session, 'What now?')).body
    expect(next.toString()).toContain('## Findings')
    expect(next.toString()).not.toContain(SUMMARY_INSTRUCTION.slice(0, 40))
    await session.close()
    const again = await wayPlace(way, { root: place.root, vendor: place.vendor })
    const resumed = value(await again.harness.open(session.id))
    expect(value(await again.harness.preview(resumed, 'What now?')).body.equals(next)).toBe(true)
    await say(resumed, 'What now?')
    expect(requestsIn(resumed).at(-1)).toMatchObject({
      cache_key: last?.cache_key,
      prefix_break: { cause: 'checkpoint' },
    })
    await proven(again, resumed)
  },
)
