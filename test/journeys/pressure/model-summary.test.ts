import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { MODEL_STRATEGY } from '../../../src/context/range-summary.ts'
import { SUMMARY_INSTRUCTION } from '../../../src/prompt/words/summary.ts'
import type { WholeEvent } from '../../../src/model/events/event.ts'
import type { Session } from '../../../src/session/session.ts'
import { oneOfEach, picture, say as sayWith } from '../../support/resources/sample-files.ts'
import { value } from '../../support/log/story.ts'
import { wayPlace, WAYS, type WayPlace } from '../../support/providers/ways.ts'

function eventsOf<T extends WholeEvent['type']>(events: readonly WholeEvent[], type: T) {
  return events.filter((event): event is WholeEvent<T> => event.type === type)
}

async function say(session: Session, text: string): Promise<void> {
  const { done } = value(await session.admit(text))
  expect(value(await done).status).toBe('completed')
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
    const planned = value(await session.previewCompaction({ summary: 'model' }))
    expect(planned).toMatchObject({ summary: 'model', plan: { data: { strategy: 'excerpts' } } })
    expect(requestsIn(session).at(-1)).toBe(last)

    const done = value(await session.compact({ summary: 'model' }))
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

    const next = value(await session.preview('What now?')).body
    expect(next.toString()).toContain('## Findings')
    expect(next.toString()).not.toContain(SUMMARY_INSTRUCTION.slice(0, 40))
    await session.close()
    const again = await wayPlace(way, { root: place.root, vendor: place.vendor })
    const resumed = value(await again.harness.open(session.id))
    expect(value(await resumed.preview('What now?')).body.equals(next)).toBe(true)
    await say(resumed, 'What now?')
    expect(requestsIn(resumed).at(-1)).toMatchObject({
      cache_key: last?.cache_key,
      prefix_break: { cause: 'checkpoint' },
    })
    await proven(again, resumed)
  },
)

const BY_MODEL = { model: { summary: 'model' } } as const

test('the setting applies without a choice, and outputs become pointers without a call', async () => {
  const place = await wayPlace('in process', { changes: BY_MODEL })
  const session = value(await place.harness.create(place.begin))
  for (const name of ['a', 'b', 'c', 'd']) {
    await writeFile(join(place.workspace, `${name}.txt`), `${name}: the tide turns.\n`.repeat(300))
    await say(session, `Read ${name}.txt`)
  }
  const before = requestsIn(session).length
  const planned = value(await session.previewCompaction())
  expect(planned).not.toHaveProperty('summary')
  expect(value(await session.compact())).toMatchObject({ data: { strategy: 'elide' } })
  expect(requestsIn(session)).toHaveLength(before)
  for (let turn = 1; turn <= 6; turn += 1) await say(session, `Harbour ${turn}. `.repeat(400))
  const elided = value(await session.preview('What now?')).segments
  expect(value(await session.previewCompaction()).summary).toBe('model')
  expect(value(await session.compact())).toMatchObject({
    data: { strategy: MODEL_STRATEGY },
  })
  value(await session.undoCompaction())
  const undone = value(await session.preview('What now?')).segments
  expect(undone.map(({ bytes }) => bytes.toString())).toEqual(
    elided.map(({ bytes }) => bytes.toString()),
  )
  await say(session, 'What now?')
  await proven(place, session)
})

test('several summaries of the model in a row carry the same pinned text and Resources', async () => {
  const place = await wayPlace('in process', { changes: BY_MODEL })
  const session = value(await place.harness.create(place.begin))
  value(await session.pin('Mind the tide.'))
  const attachments = (await oneOfEach(place.workspace)).map(({ input }) => input)
  expect(await sayWith(session, 'What do you see?', { attachments })).toBe('completed')
  for (let round = 1; round <= 3; round += 1) {
    for (let turn = 1; turn <= 6; turn += 1) await say(session, `Harbour ${turn}. `.repeat(400))
    const done = value(await session.compact())
    expect(done).toMatchObject({
      data: { strategy: MODEL_STRATEGY, carried: { pinned: ['Mind the tide.'] } },
    })
    const next = value(await session.preview('What now?')).body.toString()
    for (const fact of ['Mind the tide.', '@img1', 'Summary written by the model'])
      expect(next).toContain(fact)
  }
  await say(session, 'What now?')
  await proven(place, session)
})

test('a summary retires nothing to save cost, because that would break its prefix', async () => {
  const changes = { model: { ...BY_MODEL.model, replay: 'cost-aware' } } as const
  const place = await wayPlace('messages', { changes })
  const attachments = [{ from: 'bytes', name: 'a.png', bytes: picture(7) }] as const
  const [session, other] = [
    value(await place.harness.create(place.begin)),
    value(await place.harness.create(place.begin)),
  ]
  for (const one of [session, other])
    expect(await sayWith(one, 'Look.', { attachments })).toBe('completed')
  value(await session.between(({ ask }) => ask(SUMMARY_INSTRUCTION, 'summary')))
  expect(eventsOf(session.events, 'resource_retired')).toEqual([])
  expect(requestsIn(session).at(-1)?.prefix_break).toBeUndefined()
  await say(other, 'Well?')
  expect(eventsOf(other.events, 'resource_retired')).toHaveLength(1)
  await say(session, 'Well?')
  await proven(place, session)
})

test('attachments that no model has answered yet are shown to the next Turn, not only to a summary', async () => {
  const place = await wayPlace('in process', { changes: BY_MODEL })
  const session = await longSession(place)
  const attachments = (await oneOfEach(place.workspace)).map(({ input }) => input)
  const { done } = value(await session.admit('What do you see?', { attachments }))
  session.interrupt()
  expect(value(await done).status).toBe('interrupted')
  value(await session.between(({ ask }) => ask(SUMMARY_INSTRUCTION, 'summary')))
  expect(requestsIn(session).at(-1)?.projected).not.toBeUndefined()
  await say(session, 'What now?')
  expect(requestsIn(session).at(-1)?.projected).toHaveLength(
    requestsIn(session).at(-2)?.projected?.length ?? -1,
  )
  await proven(place, session)
})
