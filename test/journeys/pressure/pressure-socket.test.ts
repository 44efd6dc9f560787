import { expect, test } from 'vitest'
import { turnResult } from '../../../src/history/results/turn-result.ts'
import { ANSWER_AGAIN } from '../../../src/prompt/words/notes.ts'
import type { Session } from '../../../src/session/session.ts'
import {
  compactions,
  filling,
  noticesOf,
  pressedPlace,
  proven,
  type PressedAnswer,
  type PressedPlace,
  type PressedRequest,
  type PressedWay,
} from '../../support/pressure/pressed-place.ts'
import { filler, say } from '../../support/pressure/talk.ts'
import { value } from '../../support/log/story.ts'

const TEXT =
  'It was a long and quiet morning, and the tide had turned before anyone spoke. '.repeat(3)
const TURNS = 5

/** A Session whose last usage filled that share of the window. A preflight was undone, so that it is not repeated. */
async function unrelieved(
  way: PressedWay,
  share: number,
  then: (request: PressedRequest) => PressedAnswer,
): Promise<{ place: PressedPlace; session: Session; first: number }> {
  let first = Infinity
  const place = await pressedPlace(way, (request) => {
    if (request.n < TURNS) return filling((share * (request.n + 1)) / TURNS)
    return request.n < first ? filling(0.2) : then({ ...request, n: request.n - first })
  })
  const session = value(await place.harness.create(place.begin))
  for (let n = 0; n < TURNS; n += 1) await say(session, filler(`topic ${n}`, 8_000))
  if (share > 0.9) {
    await say(session, 'Go on.')
    expect(compactions(session)).toEqual(['critical_pressure_preflight'])
    value(await session.undoCompaction())
  }
  first = place.requests.length
  return { place, session, first }
}

function cut(brokenAt: number): PressedAnswer {
  return { answer: { text: TEXT }, brokenAt }
}

/** A part of the text arrives, and not all. */
const HALF = 0.6

function shownParts({ events }: Session): (boolean | undefined)[] {
  const turn = events.at(-1)?.turn_id
  return events.flatMap((e) =>
    e.type === 'assistant_message' && e.turn_id === turn ? [e.data.partial] : [],
  )
}

test('[PC-057] [PC-059] a socket that dies while the window is nearly full: compact, keep what was shown, repeat once', async () => {
  const { place, session, first } = await unrelieved('websocket', 0.92, ({ n }) =>
    n === 0 ? cut(HALF) : filling(0.2, { text: TEXT }),
  )
  const pressure = noticesOf(session, 'context_pressure')
  const restarts = noticesOf(session, 'stream_restarted')
  const { turn, done } = value(await session.admit('Tell me.'))
  expect(value(await done).status).toBe('completed')
  expect(compactions(session).at(-1)).toBe('websocket_critical_recovery')
  expect(pressure.map(({ tier, trigger }) => [tier, trigger])).toEqual([
    ['recovery', 'websocket_critical_recovery'],
  ])
  expect(restarts).toEqual([{ reason: 'websocket_critical_recovery' }])
  expect(place.requests.length).toBe(first + 2)
  expect(shownParts(session)).toEqual([true, undefined])
  const partial = session.events.find(
    (e) => e.type === 'assistant_message' && e.data.partial === true,
  )
  const repeated = place.requests.at(-1)?.text ?? ''
  expect(repeated).toContain(ANSWER_AGAIN)
  expect(TEXT.startsWith(partial?.type === 'assistant_message' ? partial.data.text : 'x')).toBe(
    true,
  )
  expect(turnResult(session.events, turn).text).toBe(TEXT)
  const usages = session.events.flatMap((e) => (e.type === 'provider_usage' ? [e.data] : []))
  expect(usages.at(-1)?.continuation).toEqual({ used: false, reset_reason: 'compaction' })
  expect(await say(session, 'Thanks.')).toBe('completed')
  await proven(place, session)
})

test('[PC-057] if the socket dies again, the Turn ends with what was shown', async () => {
  const { place, session, first } = await unrelieved('websocket', 0.92, () => cut(HALF))
  expect(await say(session, 'Tell me.')).toBe('network')
  expect(place.requests.length).toBe(first + 2)
  expect(shownParts(session)).toEqual([true, true])
  await proven(place, session)
})

test('[PC-057] a socket that dies before any output is treated alike', async () => {
  const { place, session, first } = await unrelieved('websocket', 0.92, ({ n }) =>
    n === 0 ? cut(0) : filling(0.2),
  )
  const restarts = noticesOf(session, 'stream_restarted')
  expect(await say(session, 'Tell me.')).toBe('completed')
  expect(compactions(session).at(-1)).toBe('websocket_critical_recovery')
  expect([place.requests.length, restarts.length]).toEqual([first + 2, 1])
  expect(place.requests.at(-1)?.text).not.toContain(ANSWER_AGAIN)
  await proven(place, session)
})

test('[PC-057] a socket that dies while the window is not critical repeats nothing that was shown', async () => {
  const { place, session, first } = await unrelieved('websocket', 0.85, ({ n }) =>
    n === 0 ? cut(HALF) : filling(0.2),
  )
  expect(await say(session, 'Tell me.')).toBe('network')
  expect([place.requests.length, compactions(session)]).toEqual([first + 1, []])
  expect(shownParts(session)).toEqual([true])
  await proven(place, session)
})

test.each(['messages', 'responses', 'chat'] as const)(
  '[PC-057] %s: a connection over HTTP that dies while critical repeats nothing that was shown',
  async (way) => {
    const { place, session, first } = await unrelieved(way, 0.92, ({ n }) =>
      n === 0 ? cut(HALF) : filling(0.2),
    )
    expect(await say(session, 'Tell me.')).toBe('network')
    expect([place.requests.length, compactions(session).length]).toEqual([first + 1, 1])
    expect(shownParts(session)).toEqual([true])
  },
)

/** A Session whose next call is preceded by a preflight. The Turns before it have these lengths in bytes. */
async function relieved(
  bytes: readonly number[],
  then: (request: PressedRequest) => PressedAnswer,
): Promise<{ place: PressedPlace; session: Session }> {
  const turns = bytes.length
  const place = await pressedPlace('websocket', (request) =>
    request.n < turns
      ? filling((0.92 * (request.n + 1)) / turns)
      : then({ ...request, n: request.n - turns }),
  )
  const session = value(await place.harness.create(place.begin))
  for (const [n, length] of bytes.entries()) await say(session, filler(`topic ${n}`, length))
  return { place, session }
}

test.each([
  ['with more to compact', [8_000, 8_000, 8_000, 8_000, 8_000], true],
  ['with nothing left to compact', [60_000], false],
] as const)(
  '[PC-057] %s: a socket that dies after a preflight and after a part of the answer is asked again, once',
  async (_, bytes, more) => {
    const { place, session } = await relieved(bytes, ({ n }) =>
      n === 0 ? cut(HALF) : filling(0.2, { text: TEXT }),
    )
    const restarts = noticesOf(session, 'stream_restarted')
    const { turn, done } = value(await session.admit('Tell me.'))
    expect(value(await done).status).toBe('completed')
    expect(compactions(session)).toEqual([
      'critical_pressure_preflight',
      ...(more ? ['websocket_critical_recovery'] : []),
    ])
    expect(restarts).toEqual([{ reason: 'websocket_critical_recovery' }])
    expect(place.requests.length).toBe(bytes.length + 2)
    expect(place.requests.at(-1)?.text).toContain(ANSWER_AGAIN)
    expect(shownParts(session)).toEqual([true, undefined])
    expect(turnResult(session.events, turn).text).toBe(TEXT)
    expect(await say(session, 'Thanks.')).toBe('completed')
    await proven(place, session)
  },
)

test('[PC-057] after a preflight, a socket that dies again ends the Turn with what was shown', async () => {
  const { place, session } = await relieved([60_000], () => cut(HALF))
  expect(await say(session, 'Tell me.')).toBe('network')
  expect(place.requests.length).toBe(3)
  expect(shownParts(session)).toEqual([true, true])
  await proven(place, session)
})

test('[PC-057] a preflight counts until a call is answered, also in the next Turn', async () => {
  const { place, session } = await relieved([8_000, 8_000, 8_000, 8_000, 8_000], ({ n }) =>
    n < 3 ? cut(HALF) : filling(0.2, { text: TEXT }),
  )
  expect(await say(session, 'Tell me.')).toBe('network')
  expect(await say(session, 'And now?')).toBe('completed')
  expect(place.requests.length).toBe(9)
  await proven(place, session)
})

test('[PC-057] a preflight that an answered call followed permits no repetition', async () => {
  const { place, session } = await relieved([8_000, 8_000, 8_000, 8_000, 8_000], ({ n }) =>
    n === 0 ? filling(0.2) : cut(HALF),
  )
  expect(await say(session, 'Go on.')).toBe('completed')
  expect(await say(session, 'Tell me.')).toBe('network')
  expect(place.requests.length).toBe(7)
  expect(compactions(session)).toEqual(['critical_pressure_preflight'])
  await proven(place, session)
})
