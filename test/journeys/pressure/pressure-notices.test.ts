import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Session } from '../../../src/session/session.ts'
import {
  compactions,
  filling,
  noticesOf,
  pressedPlace,
  proven,
} from '../../support/pressure/pressed-place.ts'
import { filler, say } from '../../support/pressure/talk.ts'
import { value } from '../../support/log/story.ts'
import { scriptedServer } from '../../support/providers/vendor-server.ts'
import { sseOf } from '../../support/providers/vendor-answer.ts'
import { vendorPlace } from '../../support/providers/vendor-place.ts'

/** The codes of the notices of a Session. */
function codes({ events }: Session): string[] {
  return events.flatMap((e) => (e.type === 'notice' ? [e.data.code] : []))
}

/** A model whose calls fill these shares of the window, one after another, and then the last one. */
function shares(...all: readonly number[]) {
  return ({ n }: { readonly n: number }) => filling(all[Math.min(n, all.length - 1)] ?? 0)
}

test('[PC-050] [PC-051] [PC-052] [PC-053] each tier is announced once, when a call reaches it', async () => {
  const { harness, begin } = await pressedPlace(
    'messages',
    shares(0.5, 0.68, 0.7, 0.75, 0.78, 0.8, 0.88, 0.89, 0.72, 0.8),
  )
  const session = value(await harness.create(begin))
  const live = noticesOf(session, 'context_pressure')
  const seen: string[][] = []
  for (let n = 0; n < 10; n += 1) {
    const before = codes(session).length
    expect(await say(session, `Message ${n}.`)).toBe('completed')
    seen.push(codes(session).slice(before))
  }
  expect(seen).toEqual([[], [], ['context_advisory'], [], [], ['context_warning'], [], [], [], []])
  const command = `hawser compact ${session.id} --dry-run --json`
  expect(live).toEqual([
    { tier: 'advisory', ratio: 0.7, input_tokens: 42_000, window_tokens: 60_000 },
    {
      tier: 'warning',
      ratio: 0.8,
      input_tokens: 48_000,
      window_tokens: 60_000,
      next_actions: [expect.objectContaining({ command })],
    },
  ])
  const usages = session.events.flatMap((e) =>
    e.type === 'provider_usage' ? [e.data.pressure] : [],
  )
  expect(usages.map((one) => one !== 'unavailable' && one.notice === true)).toEqual(
    seen.map((one) => one.length > 0),
  )
  const texts = session.events.flatMap((e) => (e.type === 'notice' ? [e.data.text] : []))
  expect(texts).toEqual([
    'The context window is 70.0 % full (42,000 of 60,000 tokens).',
    `The context window is 80.0 % full (48,000 of 60,000 tokens). To preview a compaction: ${command}`,
  ])
})

test('[PC-053] what was announced is remembered by another process', async () => {
  const answer = shares(0.75, 0.76, 0.85, 0.86, 0.87)
  const first = await pressedPlace('messages', answer)
  const session = value(await first.harness.create(first.begin))
  await say(session, 'One.')
  await session.close()
  let asked = 1
  const later = await pressedPlace('messages', ({ n }) => answer({ n: n + asked }), {
    root: first.root,
  })
  const reopened = value(await later.harness.open(session.id))
  await say(reopened, 'Two.')
  await say(reopened, 'Three.')
  await reopened.close()
  asked = 3
  const last = await pressedPlace('messages', ({ n }) => answer({ n: n + asked }), {
    root: first.root,
  })
  const again = value(await last.harness.open(session.id))
  await say(again, 'Four.')
  expect(codes(again)).toEqual(['context_advisory', 'context_warning'])
})

test('[PC-053] a checkpoint begins a new range, also for another process', async () => {
  const place = await pressedPlace('messages', shares(0.4, 0.6, 0.75, 0.76, 0.74))
  const session = value(await place.harness.create(place.begin))
  for (let n = 0; n < 3; n += 1) await say(session, filler(`topic ${n}`, 8_000))
  expect(codes(session)).toEqual(['context_advisory'])
  value(await session.compact())
  const checkpoint = session.nextSeq
  await say(session, 'On.')
  await session.close()
  const later = await pressedPlace('messages', () => filling(0.77), { root: place.root })
  const reopened = value(await later.harness.open(session.id))
  await say(reopened, 'And on.')
  const since = reopened.events.filter(({ seq }) => seq >= checkpoint)
  expect(since.flatMap((e) => (e.type === 'notice' ? [e.data.code] : []))).toEqual([
    'context_advisory',
  ])
})

test('a huge paste is announced before it is sent, and a huge result before the next call', async () => {
  const read = { id: 'call_1', name: 'read', arguments: '{"path":"log.txt"}' }
  const place = await pressedPlace('messages', ({ n }) =>
    n === 2 ? filling(0.6, { calls: [read] }) : filling(0.5),
  )
  const session = value(await place.harness.create(place.begin))
  await say(session, 'One.')
  expect(codes(session)).toEqual([])
  const live = noticesOf(session, 'context_pressure')
  await say(session, filler('a paste', 12_000))
  expect(codes(session)).toEqual(['context_advisory'])
  expect(live).toEqual([expect.objectContaining({ tier: 'advisory', estimated: true })])
  const types = session.events.map(({ type }) => type)
  expect(types.lastIndexOf('notice')).toBeLessThan(types.lastIndexOf('provider_request'))
  await writeFile(join(place.workspace, 'log.txt'), filler('a log', 40_000))
  await say(session, 'Read the log.')
  expect(codes(session)).toEqual(['context_advisory', 'context_critical'])
  expect(compactions(session)).toEqual([])
  await proven(place, session)
})

test('the limits of the tiers can be set', async () => {
  const limits = { advisory: 10, warning: 20, critical: 95 }
  const place = await pressedPlace('messages', shares(0.05, 0.15, 0.25, 0.93), {
    changes: { model: { pressure: { limits } } },
  })
  const session = value(await place.harness.create(place.begin))
  for (let n = 0; n < 5; n += 1) await say(session, 'On.')
  expect(codes(session)).toEqual(['context_advisory', 'context_warning'])
  expect(compactions(session)).toEqual([])
})

test('an unknown window is unavailable, which is said once for each model, also after a checkpoint', async () => {
  const server = await scriptedServer(() => ({ body: sseOf('messages', { text: 'Well.' }) }))
  const changes = { model: { factsOf: () => undefined } }
  const place = await vendorPlace(server, { changes })
  const begin = { provider: 'messages', model: 'a-model' }
  const session = value(await place.harness.create(begin))
  for (let n = 0; n < 4; n += 1) await say(session, filler(`topic ${n}`, 8_000))
  expect(codes(session)).toEqual(['window_unknown'])
  value(await session.compact())
  await say(session, 'On.')
  value(await session.change({ model: { provider: 'messages', model: 'b-model' } }))
  await say(session, 'And on.')
  await session.close()
  const later = await vendorPlace(server, { changes, root: place.root })
  const reopened = value(await later.harness.open(session.id))
  await say(reopened, 'Still.')
  const texts: string[] = []
  value(
    await later.harness.read(session.id, { types: ['notice'] }, ({ event }) => {
      if (event?.type === 'notice') texts.push(event.data.text)
    }),
  )
  expect(texts).toEqual([
    expect.stringContaining('The context window of a-model is unknown'),
    expect.stringContaining('The context window of b-model is unknown'),
  ])
  const usages = reopened.events.flatMap((e) =>
    e.type === 'provider_usage' ? [e.data.pressure] : [],
  )
  expect(new Set(usages)).toEqual(new Set(['unavailable']))
})

test('[PC-053] [PC-054] an estimate does not spend the notice of a recorded usage, and each is given once', async () => {
  const place = await pressedPlace('messages', shares(0.5, 0.5, 0.901, 0.902))
  const session = value(await place.harness.create(place.begin))
  await say(session, 'One.')
  await say(session, filler('a paste', 400_000))
  expect(codes(session)).toEqual(['context_critical'])
  const live = noticesOf(session, 'context_pressure')
  await say(session, 'Two.')
  expect(codes(session)).toEqual(['context_critical', 'context_critical'])
  expect(live).toEqual([expect.objectContaining({ tier: 'critical', ratio: 0.901 })])
  expect(live).not.toEqual([expect.objectContaining({ estimated: true })])
  const texts = session.events.flatMap((e) => (e.type === 'notice' ? [e.data.text] : []))
  expect(texts).toEqual([
    expect.stringContaining('The next request fills an estimated'),
    expect.stringContaining('The context window is 90.1 % full'),
  ])
  const recorded = session.events.findLast(({ type }) => type === 'provider_usage')
  expect(recorded?.data).toMatchObject({ pressure: { tier: 'critical', notice: true } })
  await proven(place, session)
})

test('[PC-053] an estimate that its own call confirms is not repeated below the critical tier', async () => {
  const place = await pressedPlace('messages', shares(0.65, 0.82, 0.84, 0.3, 0.3, 0.86))
  const session = value(await place.harness.create(place.begin))
  await say(session, 'One.')
  await say(session, filler('a paste', 10_000))
  expect(codes(session)).toEqual(['context_warning'])
  for (const text of ['Three.', 'Four.', 'Five.', 'Six.']) await say(session, text)
  expect(codes(session)).toEqual(['context_warning'])
  const [said] = session.events.flatMap((e) => (e.type === 'notice' ? [e.data.text] : []))
  expect(said).toContain('The next request fills an estimated')
})

test('[PC-053] an estimate that was wrong does not spend the notice of any tier', async () => {
  const place = await pressedPlace('messages', shares(0.5, 0.5, 0.75, 0.76, 0.85, 0.86))
  const session = value(await place.harness.create(place.begin))
  await say(session, 'One.')
  await say(session, filler('a paste', 400_000))
  for (const text of ['Three.', 'Four.', 'Five.', 'Six.']) await say(session, text)
  expect(codes(session)).toEqual(['context_critical', 'context_advisory', 'context_warning'])
})

test('[PC-053] a recorded usage is not announced again by the estimate of the next request', async () => {
  const place = await pressedPlace('messages', shares(0.75, 0.5, 0.85, 0.5))
  const session = value(await place.harness.create(place.begin))
  for (const text of ['One.', 'Two.', 'Three.', filler('a paste', 400)]) await say(session, text)
  expect(codes(session)).toEqual(['context_advisory', 'context_warning'])
})
