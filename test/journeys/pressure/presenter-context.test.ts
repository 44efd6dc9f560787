import { expect, test } from 'vitest'
import type { Session } from '../../../src/session/session.ts'
import {
  compactions,
  filling,
  PRESSED_WAYS,
  pressedPlace,
  proven,
  type PressedPlace,
} from '../../support/pressure/pressed-place.ts'
import { filler, say } from '../../support/pressure/talk.ts'
import { value } from '../../support/log/story.ts'

const LABEL = 'From the program that shows this Session (as of this message; not authoritative):'

/** The facts that a program adds to message `n`. */
function facts(n: number) {
  return { presenterContext: { selection: `lines ${n} to ${n + 1}` } }
}

/** Which of the messages until `last` a request shows with their facts. */
function factsIn(text: string, last: number): number[] {
  return [...Array(last + 1).keys()].filter((n) => text.includes(`lines ${n} to ${n + 1}`))
}

function lastText({ requests }: PressedPlace): string {
  return requests.at(-1)?.text ?? ''
}

/** Why each request of a Session did not start with the one before it. */
function breaks({ events }: Session): (string | undefined)[] {
  return events.flatMap((e) => (e.type === 'provider_request' ? [e.data.prefix_break?.cause] : []))
}

/** A Session of five Turns with facts. */
async function told(place: PressedPlace, last = 8_000): Promise<Session> {
  const session = value(await place.harness.create(place.begin))
  for (const [n, bytes] of [8_000, 8_000, 8_000, 8_000, last].entries())
    expect(await say(session, filler(`topic ${n}`, bytes), facts(n))).toBe('completed')
  return session
}

test.each(PRESSED_WAYS.filter((way) => way !== 'websocket'))(
  '[SH-044] %s: presenter context stays in its message, labelled as of that message, and the prefix stays',
  async (way) => {
    const place = await pressedPlace(way, () => filling(0.3))
    const session = await told(place)
    const last = lastText(place)
    expect(factsIn(last, 4)).toEqual([0, 1, 2, 3, 4])
    expect(last.split(LABEL)).toHaveLength(6)
    expect(breaks(session)).toEqual(Array(5).fill(undefined))
    await proven(place, session)
  },
)

test.each(PRESSED_WAYS.filter((way) => way !== 'websocket'))(
  '[SH-044] %s: a checkpoint drops the presenter context of the messages that it keeps, and an undo brings it back',
  async (way) => {
    const place = await pressedPlace(way, () => filling(0.3))
    const session = await told(place)
    const plan = value(await session.compact())
    expect(plan.compactable && plan.kept.turns).toBeGreaterThan(0)
    expect(await say(session, 'And now?', facts(5))).toBe('completed')
    expect(lastText(place)).toContain(JSON.stringify(filler('topic 4', 8_000)).slice(1, -1))
    expect(factsIn(lastText(place), 5)).toEqual([5])
    expect(await say(session, 'And then?', facts(6))).toBe('completed')
    expect(factsIn(lastText(place), 6)).toEqual([5, 6])
    expect(breaks(session).slice(-2)).toEqual(['checkpoint', undefined])
    const recorded = session.events.flatMap((e) =>
      e.type === 'user_message' ? [e.data.presenter_context] : [],
    )
    expect(recorded).not.toContain(undefined)
    await proven(place, session)
    await session.close()
    const later = await pressedPlace(way, () => filling(0.3), { root: place.root })
    const reopened = value(await later.harness.open(session.id))
    expect(await say(reopened, 'Still?', facts(7))).toBe('completed')
    expect(factsIn(lastText(later), 7)).toEqual([5, 6, 7])
    expect(breaks(reopened).at(-1)).toBe(undefined)
    value(await reopened.undoCompaction())
    expect(await say(reopened, 'And before?')).toBe('completed')
    expect(factsIn(lastText(later), 7)).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
    await proven(later, reopened)
  },
)

test('[SH-044] a checkpoint inside a Turn keeps the presenter context of that Turn, until the next checkpoint', async () => {
  const place = await pressedPlace('messages', ({ n }) =>
    filling(n < 4 ? 0.4 : n === 4 ? 0.92 : 0.3),
  )
  const session = await told(place, 1_000)
  expect(await say(session, 'Go on.', facts(5))).toBe('completed')
  expect(compactions(session)).toEqual(['critical_pressure_preflight'])
  expect(lastText(place)).toContain(JSON.stringify(filler('topic 4', 1_000)).slice(1, -1))
  expect(factsIn(lastText(place), 5)).toEqual([5])
  expect(await say(session, 'And on.', facts(6))).toBe('completed')
  expect(factsIn(lastText(place), 6)).toEqual([5, 6])
  expect(breaks(session).slice(-2)).toEqual(['checkpoint', undefined])
  for (const n of [7, 8]) await say(session, filler(`topic ${n}`, 20_000), facts(n))
  value(await session.compact())
  await say(session, 'Well?', facts(9))
  expect(factsIn(lastText(place), 9)).toEqual([9])
  await proven(place, session)
})
