import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Session } from '../../../src/session/session.ts'
import type { SessionUpdate } from '../../../src/session/watch/session-stream.ts'
import { harnessPlace } from '../../support/session/harness-place.ts'
import { random } from '../../support/host/random.ts'
import { value } from '../../support/log/story.ts'

const REHEARSAL = { provider: 'rehearsal', model: 'rehearsal' } as const

async function say(session: Session, text: string): Promise<void> {
  const { done } = value(await session.admit(text))
  expect(value(await done).status).toBe('completed')
}

/** The Events of a stream until it has yielded number `upTo`. */
async function eventsUntil(session: Session, after_seq: number, upTo: number): Promise<number[]> {
  const seqs: number[] = []
  if (after_seq >= upTo) return seqs
  for await (const update of session.stream({ after_seq })) {
    if (update.kind !== 'event') continue
    seqs.push(update.raw.seq)
    if (update.raw.seq === upTo) break
  }
  return seqs
}

async function collected(updates: AsyncIterable<SessionUpdate>): Promise<SessionUpdate[]> {
  const all: SessionUpdate[] = []
  for await (const update of updates) all.push(update)
  return all
}

function between(after: number, upTo: number): number[] {
  return Array.from({ length: Math.max(0, upTo - after) }, (_, at) => after + 1 + at)
}

/** A Session with three checkpoints that replace Events. */
async function compacted() {
  const place = await harnessPlace()
  await writeFile(join(place.workspace, 'notes.txt'), 'The tide turns at noon.\n')
  const session = value(await place.harness.create(REHEARSAL))
  for (let round = 0; round < 3; round++) {
    for (let turn = 0; turn < 5; turn++) await say(session, `Remember: ${'tide '.repeat(1_000)}`)
    const { compactable } = value(await session.compact())
    expect(compactable).toBe(true)
  }
  await say(session, 'What did it say?')
  return { ...place, session }
}

test('from any place, across checkpoints, a stream gives each Event once and in order', async () => {
  const { root, session } = await compacted()
  const last = session.nextSeq - 1
  expect(session.events[0]?.seq).toBeGreaterThan(0)
  const other = await harnessPlace({}, root)
  const opened = value(await other.harness.open(session.id))
  const chance = random(7)
  for (let round = 0; round < 40; round++) {
    const after = chance.below(last + 2) - 1
    const from = round % 2 === 0 ? session : opened
    expect(await eventsUntil(from, after, last)).toEqual(between(after, last))
  }
  await opened.close()
  await session.close()
})

test('a stream has the whole Events, and the deltas of a running Turn', async () => {
  const { session } = await compacted()
  const seen: SessionUpdate[] = []
  const stop = new AbortController()
  const last = session.nextSeq - 1
  const watching = (async () => {
    for await (const update of session.stream({ after_seq: -1, signal: stop.signal })) {
      seen.push(update)
      if (update.kind === 'event' && update.raw.seq > last && update.raw.type === 'turn_ended')
        break
    }
  })()
  await say(session, 'What is this?')
  await watching
  stop.abort()
  const events = seen.flatMap((update) => (update.kind === 'event' ? [update] : []))
  expect(events.map(({ raw }) => raw.seq)).toEqual(between(-1, session.nextSeq - 1))
  expect(events.every(({ raw, event }) => event?.seq === raw.seq)).toBe(true)
  const text = seen.flatMap((one) =>
    one.kind === 'ephemeral' && one.ephemeral.type === 'text_delta'
      ? [one.ephemeral.data.text]
      : [],
  )
  const answer = session.events.findLast((event) => event.type === 'assistant_message')
  expect(text.join('')).toBe(answer?.data.text)
  await session.close()
})

test('a reader that pauses while two processes write gets each Event once, and little waits in memory', async () => {
  const { root, harness } = await compacted()
  const first = value(await harness.latest())
  const other = await harnessPlace({}, root)
  const second = value(await other.harness.open(first.id))
  const reader = first.stream({ after_seq: -1 })
  const seqs: number[] = []
  const next = async () => {
    const { value: update } = await reader.next()
    if (update?.kind === 'event') seqs.push(update.raw.seq)
  }
  await next()
  for (let round = 0; round < 6; round++) {
    await say(round % 2 === 0 ? first : second, 'Read notes.txt')
    await next()
  }
  value(await first.compact())
  await say(second, 'What did it say?')
  value(await first.catchUp())
  const last = first.nextSeq - 1
  while (seqs.at(-1) !== last) await next()
  expect(seqs).toEqual(between(-1, last))
  await reader.return()
  await Promise.all([first.close(), second.close()])
})

test('a stream ends when it is stopped, and when its Session is closed', async () => {
  const { harness } = await harnessPlace()
  const session = value(await harness.create(REHEARSAL))
  const stop = new AbortController()
  const stopped = collected(session.stream({ after_seq: -1, signal: stop.signal }))
  const closed = collected(session.stream({ after_seq: 0 }))
  await new Promise(setImmediate)
  stop.abort()
  expect((await stopped).length).toBeLessThanOrEqual(2)
  await session.close()
  expect((await closed).map((update) => update.kind)).toEqual(['event'])
})

test('a stream and a subscription of a deleted Session end with the reason', async () => {
  const place = await harnessPlace()
  const session = value(await place.harness.create(REHEARSAL))
  await say(session, 'Hello')
  const other = await harnessPlace({}, place.root)
  const opened = value(await other.harness.open(session.id))
  const updates = opened.stream({ after_seq: -1 })
  expect((await updates.next()).value).toMatchObject({ kind: 'event' })
  const subscription = opened.subscribe()
  await session.close()
  value(await place.harness.delete(session.id))
  const seen = await collected(updates)
  expect(seen.at(-1)).toMatchObject({ kind: 'failed', error: { kind: 'not_found' } })
  const last: string[] = []
  for await (const { kind } of subscription) last.push(kind)
  expect(last.at(-1)).toBe('resync')
  expect(await opened.catchUp()).toMatchObject({ error: { kind: 'not_found' } })
})
