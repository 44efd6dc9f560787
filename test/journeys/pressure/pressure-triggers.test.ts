import { cpSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Session } from '../../../src/session/session.ts'
import {
  compactions,
  filling,
  noticesOf,
  PRESSED_WAYS,
  pressedPlace,
  proven,
  type PressedAnswer,
  type PressedPlace,
  type PressedRequest,
  type PressedWay,
} from '../../support/pressure/pressed-place.ts'
import { filler, say } from '../../support/pressure/talk.ts'
import { freshFolder } from '../../support/host/folder.ts'
import { value } from '../../support/log/story.ts'
import { TINY_IMAGES } from '../../support/resources/tiny-images.ts'

const TURNS = 6

/** A Session of several long Turns, of which the last usage filled that share of the window. */
async function pressed(
  way: PressedWay,
  share: number,
  then: (request: PressedRequest) => PressedAnswer = () => filling(0.2),
  options: Parameters<typeof pressedPlace>[2] = {},
): Promise<{ place: PressedPlace; session: Session }> {
  const place = await pressedPlace(
    way,
    (request) => (request.n < TURNS ? filling((share * (request.n + 1)) / TURNS) : then(request)),
    options,
  )
  const session = value(await place.harness.create(place.begin))
  for (let n = 0; n < TURNS; n += 1)
    expect(await say(session, filler(`topic ${n}`, 8_000))).toBe('completed')
  return { place, session }
}

/** Whether a request still shows the whole of the first message. */
function showsFirst(text: string): boolean {
  return text.includes(JSON.stringify(filler('topic 0', 8_000)).slice(1, -1))
}

/** The types of the Events since the last Turn started. */
function lastTurn({ events }: Session): string[] {
  return events
    .slice(events.findLastIndex(({ type }) => type === 'turn_started'))
    .map(({ type }) => type)
}

test.each(PRESSED_WAYS)(
  '[PC-048] [PC-054] [PC-055] [PC-056] [PC-059] [PC-065] %s: after a critical usage, the next Turn is compacted before its first call',
  async (way) => {
    const { place, session } = await pressed(way, 0.92)
    expect(compactions(session)).toEqual([])
    const live = noticesOf(session, 'context_pressure')
    expect(await say(session, 'Go on.')).toBe('completed')
    expect(compactions(session)).toEqual(['critical_pressure_preflight'])
    const types = lastTurn(session)
    expect(types.indexOf('history_compaction')).toBeLessThan(types.indexOf('provider_request'))
    const event = session.events.find(({ type }) => type === 'history_compaction')
    expect(event?.turn_id).toBe(session.events.at(-1)?.turn_id)
    expect(live).toEqual([
      expect.objectContaining({
        tier: 'recovery',
        trigger: 'critical_pressure_preflight',
        compaction_event_id: event?.id,
        window_tokens: 60_000,
      }),
    ])
    const last = place.requests.at(-1)?.text ?? ''
    expect([last.includes('Go on.'), showsFirst(last)]).toEqual([true, false])
    expect(await say(session, 'And again.')).toBe('completed')
    expect(compactions(session)).toHaveLength(1)
    await proven(place, session)
  },
)

test.each(PRESSED_WAYS)(
  '[PC-055] %s: a usage that becomes critical inside a Turn is acted on before the next call of that Turn',
  async (way) => {
    const read = { id: 'call_1', name: 'read', arguments: '{"path":"notes.txt"}' }
    const { place, session } = await pressed(way, 0.5, ({ n }) =>
      n === TURNS ? filling(0.93, { calls: [read] }) : filling(0.2, { text: 'It was read.' }),
    )
    await writeFile(join(place.workspace, 'notes.txt'), 'rope and sail')
    expect(await say(session, 'Read the notes.')).toBe('completed')
    expect(lastTurn(session).filter((type) => type !== 'notice')).toEqual([
      'turn_started',
      'user_message',
      'provider_request',
      'tool_call',
      'provider_usage',
      'tool_result',
      'history_compaction',
      'provider_request',
      'assistant_message',
      'provider_usage',
      'turn_ended',
    ])
    const last = place.requests.at(-1)?.text ?? ''
    expect([last.includes('rope and sail'), showsFirst(last)]).toEqual([true, false])
    if (way === 'websocket') {
      const usages = session.events.flatMap((e) => (e.type === 'provider_usage' ? [e.data] : []))
      expect(usages.at(-1)?.continuation).toEqual({ used: false, reset_reason: 'compaction' })
    }
    await proven(place, session)
  },
)

test.each(PRESSED_WAYS)(
  '[PC-058] [PC-059] %s: a request that the provider refuses for its length is compacted and sent again',
  async (way) => {
    const { place, session } = await pressed(way, 0.5, ({ text }) =>
      showsFirst(text) || text.includes('previous_response_id') ? 'overflow' : filling(0.2),
    )
    const live = noticesOf(session, 'context_pressure')
    expect(await say(session, 'Go on.')).toBe('completed')
    expect(compactions(session)).toEqual(['overflow_recovery'])
    expect(live.map(({ tier, trigger }) => [tier, trigger])).toEqual([
      ['recovery', 'overflow_recovery'],
    ])
    const requests = session.events.flatMap((e) => (e.type === 'provider_request' ? [e.data] : []))
    expect(
      requests.slice(-2).map(({ attempt, prefix_break }) => [attempt, prefix_break?.cause]),
    ).toEqual([
      [0, undefined],
      [1, 'checkpoint'],
    ])
    if (way === 'websocket') {
      const usages = session.events.flatMap((e) => (e.type === 'provider_usage' ? [e.data] : []))
      expect(usages.at(-1)?.continuation).toEqual({ used: false, reset_reason: 'compaction' })
    }
    await proven(place, session)
  },
)

test.each(PRESSED_WAYS)(
  '%s: an overflow with a fresh image compacts History, and the model still sees the image',
  async (way) => {
    const image = Buffer.from(TINY_IMAGES.png)
    const { place, session } = await pressed(way, 0.5, ({ text }) =>
      showsFirst(text) || text.includes('previous_response_id')
        ? 'overflow'
        : filling(0.2, { text: 'A harbour.' }),
    )
    const path = join(place.workspace, 'harbour.png')
    await writeFile(path, image)
    const attachments = [{ from: 'path', path }] as const
    expect(await say(session, 'What is this?', { attachments })).toBe('completed')
    expect(compactions(session)).toEqual(['overflow_recovery'])
    expect(place.requests.at(-1)?.text).toContain(image.toString('base64'))
    expect(session.events.some(({ type }) => type === 'resource_retired')).toBe(false)
    await proven(place, session)
  },
)

test.each(PRESSED_WAYS)(
  '%s: attachments are left out only when the active Turn alone does not fit',
  async (way) => {
    const image = Buffer.from(TINY_IMAGES.png)
    const shown = image.toString('base64')
    const { place, session } = await pressed(way, 0.5, ({ text }) =>
      text.includes(shown) ? 'overflow' : filling(0.2),
    )
    const path = join(place.workspace, 'harbour.png')
    await writeFile(path, image)
    const attachments = [{ from: 'path', path }] as const
    expect(await say(session, 'What is this?', { attachments })).toBe('completed')
    expect(compactions(session)[0]).toBe('overflow_recovery')
    const retired = session.events.find(({ type }) => type === 'resource_retired')
    const compacted = session.events.find(({ type }) => type === 'history_compaction')
    expect(retired?.seq).toBeGreaterThan(compacted?.seq ?? Infinity)
    await proven(place, session)
  },
)

test.each(PRESSED_WAYS)(
  '%s: if nothing fits, the Turn ends with next actions, and nothing is lost',
  async (way) => {
    let full = true
    const { place, session } = await pressed(way, 0.5, () => (full ? 'overflow' : filling(0.2)))
    const admitted = value(await session.admit('Go on.'))
    const ended = value(await admitted.done)
    expect([ended.status, ended.error?.kind]).toEqual(['failed', 'context_overflow'])
    expect(ended.error?.next_actions?.map(({ command }) => command)).toContain(
      `hawser compact ${session.id} --dry-run`,
    )
    expect(place.requests.length).toBeLessThanOrEqual(TURNS + 4)
    full = false
    expect(await say(session, 'And now?')).toBe('completed')
    expect(place.requests.at(-1)?.text).toContain('Go on.')
    await proven(place, session)
  },
)

test.each(PRESSED_WAYS)(
  '[PC-013] [PC-063] [PC-064] %s: only with the policy `auto` is a Session compacted from recorded warning on, between Turns',
  async (way) => {
    const manual = await pressed(way, 0.85)
    expect(await say(manual.session, 'Go on.')).toBe('completed')
    expect(compactions(manual.session)).toEqual([])
    const changes = { model: { pressure: { policy: 'auto' } } } as const
    const below = await pressed(way, 0.79, undefined, { changes })
    expect(await say(below.session, 'Go on.')).toBe('completed')
    expect(compactions(below.session)).toEqual([])
    const { place, session } = await pressed(way, 0.85, undefined, { changes })
    const live = noticesOf(session, 'context_pressure')
    expect(await say(session, 'Go on.')).toBe('completed')
    const event = session.events.find(({ type }) => type === 'history_compaction')
    const started = session.events.findLast(({ type }) => type === 'turn_started')
    expect([compactions(session), event?.turn_id]).toEqual([['policy_auto'], undefined])
    expect(event?.seq).toBeLessThan(started?.seq ?? 0)
    expect(live.map(({ tier, trigger }) => [tier, trigger])).toEqual([['recovery', 'policy_auto']])
    await proven(place, session)
  },
)

test('[PC-059] a compaction by hand is announced like any other', async () => {
  const { session } = await pressed('messages', 0.5)
  const live = noticesOf(session, 'context_pressure')
  value(await session.compact())
  const event = session.events.find(({ type }) => type === 'history_compaction')
  expect(live).toEqual([
    expect.objectContaining({
      tier: 'recovery',
      trigger: 'manual',
      compaction_event_id: event?.id,
      ratio: expect.any(Number),
    }),
  ])
})

test('an undo is respected: the same usage leads to no other compaction before a call', async () => {
  const { place, session } = await pressed('messages', 0.92, ({ n }) =>
    filling(n === TURNS ? 0.2 : 0.93),
  )
  expect(await say(session, 'Go on.')).toBe('completed')
  value(await session.undoCompaction())
  expect(await say(session, 'And now?')).toBe('completed')
  expect(compactions(session)).toEqual(['critical_pressure_preflight'])
  expect(showsFirst(place.requests.at(-1)?.text ?? '')).toBe(true)
  expect(await say(session, 'And then?')).toBe('completed')
  expect(compactions(session)).toHaveLength(2)
  await proven(place, session)
})

test('a process that dies after a compaction inside a Turn loses nothing, and another one continues', async () => {
  const copy = await freshFolder()
  let at = ''
  const { place, session } = await pressed('messages', 0.92, ({ n }) => {
    if (n === TURNS) cpSync(at, copy, { recursive: true })
    return filling(0.2)
  })
  at = place.root
  expect(await say(session, 'Go on.')).toBe('completed')
  // What the disk had when the compaction was durable and the model had not answered yet.
  const later = await pressedPlace('messages', () => filling(0.2), { root: copy })
  const reopened = value(await later.harness.open(session.id))
  expect(await say(reopened, 'And now?')).toBe('completed')
  expect(compactions(reopened)).toEqual(['critical_pressure_preflight'])
  const ends = reopened.events.flatMap((e) => (e.type === 'turn_ended' ? [e.data] : []))
  expect(ends.map(({ crash_recovered }) => crash_recovered)).toContain(true)
  expect(later.requests.at(-1)?.text).toContain('Go on.')
  await proven(later, reopened)
})

test('[PC-013] [PC-063] an estimate alone compacts nothing', async () => {
  const { place, session } = await pressed('messages', 0.5)
  const huge = filler('a paste', 400_000)
  expect(await say(session, huge)).toBe('completed')
  expect(compactions(session)).toEqual([])
  const codes = session.events.flatMap((e) => (e.type === 'notice' ? [e.data.code] : []))
  expect(codes).toEqual(['context_critical'])
  await proven(place, session)
})
