import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { EventData } from '../../../src/model/events/event.ts'
import type { Session } from '../../../src/session/session.ts'
import {
  compactions,
  filling,
  noticesOf,
  PRESSED_WAYS,
  pressedPlace,
  proven,
  type PressedPlace,
} from '../../support/pressure/pressed-place.ts'
import { filler, say } from '../../support/pressure/talk.ts'
import { value } from '../../support/log/story.ts'

/** The notices of a Session that a preflight found too little to gain. */
function fruitless({ events }: Session): EventData<'notice'>[] {
  return events.flatMap((e) =>
    e.type === 'notice' && e.data.code === 'preflight_fruitless' ? [e.data] : [],
  )
}

/** A Session of one short Turn that filled the window nevertheless: nothing in it can be compacted. */
async function unshrinkable(
  way: Parameters<typeof pressedPlace>[0],
  ...then: readonly number[]
): Promise<{ place: PressedPlace; session: Session }> {
  const shares = [0.92, ...then]
  const place = await pressedPlace(way, ({ n }) => filling(shares[n] ?? 0.92))
  const session = value(await place.harness.create(place.begin))
  await say(session, 'One.')
  return { place, session }
}

test.each(PRESSED_WAYS)(
  '[PC-054] %s: a preflight that finds too little to gain is said once, with what fills the window',
  async (way) => {
    const { place, session } = await unshrinkable(way)
    expect(fruitless(session)).toEqual([])
    const live = noticesOf(session, 'context_pressure')
    expect(await say(session, filler('a paste', 4_000))).toBe('completed')
    const [said, ...more] = fruitless(session)
    expect([compactions(session), more]).toEqual([[], []])
    expect(said?.text).toMatch(
      /^The context window is 92\.0 % full \(55,200 of 60,000 tokens\), and a compaction would not make enough room, so there was none\. The next request has [\d,]+ KiB: instructions and tools [\d,]+ KiB, /,
    )
    // A message is a few bytes shorter where it is sent as a plain string.
    expect(said?.text).toMatch(
      /Largest: your message \(Turn 2, [45] KiB\); your message \(Turn 1, 1 KiB\)\./,
    )
    expect(live).toEqual([
      expect.objectContaining({ tier: 'critical', input_tokens: 55_200, window_tokens: 60_000 }),
    ])
    expect(live[0]?.next_actions?.at(-1)?.action).toContain('Start a new Session')
    const types = session.events.map(({ type }) => type)
    expect(types.lastIndexOf('notice')).toBeLessThan(types.lastIndexOf('provider_request'))
    for (const text of ['Three.', 'Four.']) expect(await say(session, text)).toBe('completed')
    expect(fruitless(session)).toHaveLength(1)
    await proven(place, session)
  },
)

test('inside a Turn with many calls it is said once, and another process remembers it', async () => {
  const read = (n: number) => ({ id: `call_${n}`, name: 'read', arguments: '{"path":"a.txt"}' })
  const place = await pressedPlace('messages', ({ n }) =>
    filling(0.93, n < 4 ? { calls: [read(n)] } : { text: 'Read.' }),
  )
  await writeFile(join(place.workspace, 'a.txt'), 'rope and sail')
  const session = value(await place.harness.create(place.begin))
  expect(await say(session, 'Read it again and again.')).toBe('completed')
  expect(fruitless(session)).toHaveLength(1)
  await session.close()
  const later = await pressedPlace('messages', () => filling(0.93), { root: place.root })
  const reopened = value(await later.harness.open(session.id))
  expect(await say(reopened, 'And now?')).toBe('completed')
  expect([fruitless(reopened).length, compactions(reopened)]).toEqual([1, []])
})

test('it is repeated after a lower usage, and after a checkpoint', async () => {
  const { place, session } = await unshrinkable('messages', 0.92, 0.5, 0.92, 0.92)
  for (const text of ['Two.', 'Three.', 'Four.']) await say(session, text)
  expect(fruitless(session)).toHaveLength(1)
  await say(session, 'Five.')
  expect(fruitless(session)).toHaveLength(2)
  await say(session, filler('a paste', 60_000))
  await say(session, 'Seven.')
  expect(compactions(session)).toEqual(['critical_pressure_preflight'])
  await say(session, 'Eight.')
  let all = 0
  value(
    await place.harness.read(session.id, { types: ['notice'] }, ({ event }) => {
      if (event?.type === 'notice' && event.data.code === 'preflight_fruitless') all += 1
    }),
  )
  expect(all).toBe(3)
  await proven(place, session)
})

test('an attachment that fills the window is named with the command that stops sending it', async () => {
  const { place, session } = await unshrinkable('messages')
  const path = join(place.workspace, 'notes.txt')
  await writeFile(path, filler('a note', 20_000))
  expect(await say(session, 'Read this.', { attachments: [{ from: 'path', path }] })).toBe(
    'completed',
  )
  const [said] = fruitless(session)
  expect(said?.text).toContain('Largest: @txt1 (Turn 2, ')
})

test('a preflight that a person undid is not called fruitless', async () => {
  const place = await pressedPlace('messages', ({ n }) => filling(n === 5 ? 0.2 : 0.92))
  const session = value(await place.harness.create(place.begin))
  await say(session, filler('topic', 60_000))
  await say(session, 'Go on.')
  expect(compactions(session)).toEqual(['critical_pressure_preflight'])
  value(await session.undoCompaction())
  const before = fruitless(session).length
  await say(session, 'And now?')
  expect(fruitless(session)).toHaveLength(before)
})
