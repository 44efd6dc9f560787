import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { PromptCache } from '../../../rehearse/src/prompt-cache.ts'
import { ok } from '../../../src/model/errors.ts'
import type { Replay } from '../../../src/model/modes.ts'
import type { Provider } from '../../../src/providers/provider.ts'
import { rehearsalProvider } from '../../../src/providers/rehearsal/stream.ts'
import type { Session } from '../../../src/session/session.ts'
import { value } from '../../support/log/story.ts'
import { verified } from '../../support/resources/resource-events.ts'
import { picture, sampleFile, say } from '../../support/resources/sample-files.ts'
import { harnessPlace } from '../../support/session/harness-place.ts'

const BEGIN = { provider: 'rehearsal', model: 'rehearsal', permissionMode: 'auto' } as const
const LOOP = Array.from({ length: 6 }, (_, at) => `read part${at}.txt`).join(' and then ')
const BYTES_A_TOKEN = 4

/** The offline model behind a prompt cache that stores a prefix after each segment, as one key and one machine. */
function cachedModel() {
  const cache = new PromptCache({ clock: { monotonicMs: () => 0 } })
  const reads = new Map<string, number[]>()
  const model = rehearsalProvider({ chunk: 4096, delayMs: 0 })
  const provider: Provider = {
    ...model,
    delivery: ({ session, model: name, body, segments }) => {
      const blocks = segments.map(({ bracket, bytes }) => Buffer.concat([bracket, bytes]))
      const marks = blocks.map((_, at) => at + 1)
      const { cached_read } = cache.use({ key: 'family', model: name, blocks, marks })
      reads.set(session, [...(reads.get(session) ?? []), cached_read])
      return { transport: 'in-process', stream: (signal) => model.stream(body, signal) }
    },
  }
  return { provider, readsOf: ({ id }: Session) => reads.get(id) ?? [] }
}

/** What the body has around its segments, which no cache counts. A request that extends another shares all of that one. */
const AROUND = '{"dialect":"rehearsal","segments":[]}'.length

/** What the Log predicts for the requests of a Session after Event `seq`, in tokens. */
function predicted({ events }: Session, seq = -1): number[] {
  return events.flatMap((event) => {
    if (event.type !== 'provider_request' || event.seq <= seq) return []
    const { shared_prefix_bytes: shared, prefix_break } = event.data
    const bytes = prefix_break === undefined ? Math.max(0, shared - AROUND) : shared
    return [Math.ceil(bytes / BYTES_A_TOKEN)]
  })
}

test.each(['attach-turn', 'window', 'cost-aware'] as const satisfies readonly Replay[])(
  '%s: what a cache reads again around three images, long tool loops and a fork is what the Log predicts, to the token',
  async (replay) => {
    const { provider, readsOf } = cachedModel()
    const place = await harnessPlace({ model: { replay, providerOf: async () => ok(provider) } })
    for (let at = 0; at < 6; at += 1)
      await writeFile(
        join(place.workspace, `part${at}.txt`),
        `Part ${at}: ${'tide '.repeat(400)}\n`,
      )
    const image = async (name: string, hue: number) =>
      (await sampleFile(place.workspace, name, picture(hue))).input
    const session = value(await place.harness.create(BEGIN))
    const turns = [
      [LOOP, [await image('one.png', 1)]],
      [LOOP, [await image('two.png', 2)]],
      ['What do you see?', []],
    ] as const
    for (const [text, attachments] of turns)
      expect(await say(session, text, { attachments })).toBe('completed')
    const first = predicted(session)
    expect(first.length).toBeGreaterThan(12)
    expect(readsOf(session)).toEqual(first)

    const forked = value(await place.harness.fork(session.id, { turn: 2 }))
    const child = value(await place.harness.open(forked.session_id))
    const more = [
      ['What do you see?', []],
      [LOOP, [await image('three.png', 3)]],
      [LOOP, []],
    ] as const
    for (const [text, attachments] of more)
      expect(await say(child, text, { attachments })).toBe('completed')
    const own = predicted(child, forked.at_seq)
    expect(own.length).toBeGreaterThan(12)
    const [begun = 0, ...others] = readsOf(child)
    expect(others).toEqual(own.slice(1))
    // The parent has sent the first request of the fork already: all of it is cached, and at least what the Log knows of.
    expect(begun).toBeGreaterThanOrEqual(own[0] ?? Infinity)
    for (const one of [session, child]) {
      await one.close()
      await verified(place, one)
    }
  },
)

test.each(['attach-turn', 'window', 'cost-aware'] as const satisfies readonly Replay[])(
  '%s: a fork at the end of a Session with images reads again exactly what the Log predicts, its first request included',
  async (replay) => {
    const { provider, readsOf } = cachedModel()
    const place = await harnessPlace({ model: { replay, providerOf: async () => ok(provider) } })
    for (let at = 0; at < 6; at += 1)
      await writeFile(
        join(place.workspace, `part${at}.txt`),
        `Part ${at}: ${'tide '.repeat(400)}\n`,
      )
    const image = async (name: string, hue: number) =>
      (await sampleFile(place.workspace, name, picture(hue))).input
    const session = value(await place.harness.create(BEGIN))
    for (const [name, hue] of [
      ['one.png', 1],
      ['two.png', 2],
    ] as const)
      expect(await say(session, LOOP, { attachments: [await image(name, hue)] })).toBe('completed')
    const forked = value(await place.harness.fork(session.id))
    const child = value(await place.harness.open(forked.session_id))
    expect(await say(child, 'What do you see?')).toBe('completed')
    const attachments = [await image('three.png', 3)]
    expect(await say(child, LOOP, { attachments })).toBe('completed')
    expect(await say(child, LOOP)).toBe('completed')
    const own = predicted(child, forked.at_seq)
    expect(own.length).toBeGreaterThan(12)
    expect(readsOf(child)).toEqual(own)
    for (const one of [session, child]) {
      await one.close()
      await verified(place, one)
    }
  },
)

test('the first request of a fork reads again what its parent sent up to the fork, to the token', async () => {
  const { provider, readsOf } = cachedModel()
  const place = await harnessPlace({ model: { providerOf: async () => ok(provider) } })
  for (let at = 0; at < 6; at += 1)
    await writeFile(join(place.workspace, `part${at}.txt`), `Part ${at}: ${'tide '.repeat(400)}\n`)
  const session = value(await place.harness.create(BEGIN))
  expect(await say(session, LOOP)).toBe('completed')
  const forked = value(await place.harness.fork(session.id))
  const child = value(await place.harness.open(forked.session_id))
  expect(await say(child, 'Who are you?')).toBe('completed')
  expect(readsOf(child)).toEqual(predicted(child, forked.at_seq))
  const last = session.events.findLast(({ type }) => type === 'provider_request')
  const sent = last?.type === 'provider_request' ? (last.data.request_bytes ?? 0) : 0
  expect((readsOf(child)[0] ?? 0) * BYTES_A_TOKEN).toBeGreaterThan(0.98 * sent)
  for (const one of [session, child]) {
    await one.close()
    await verified(place, one)
  }
})
