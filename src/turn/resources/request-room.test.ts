import { EventEmitter, once } from 'node:events'
import { expect, test } from 'vitest'
import { random, type Random } from '../../../test/support/host/random.ts'
import { SAMPLE_SESSION } from '../../../test/support/history/log-generator.ts'
import { overBudget } from '../../context/over-budget.ts'
import { sumOf, visibleBytes } from '../../history/visible-bytes.ts'
import { Descriptor } from '../../model/descriptor.ts'
import type { EventDraft, WholeEvent } from '../../model/events/event.ts'
import { BlobKey, EventId, TurnId } from '../../model/ids.ts'
import { LIMITS } from '../../model/limits.ts'
import type { Replay } from '../../model/modes.ts'
import { RequestRoom } from './request-room.ts'

const REPLAYS: readonly Replay[] = ['attach-turn', 'window', 'cost-aware']
const MOST = LIMITS.request_resource_bytes

/** A Session with random attachments, views and interrupts, decided as in a Turn. */
class MadeSession {
  readonly events: WholeEvent[] = []
  readonly #chance: Random
  readonly #replay: Replay
  readonly #resources: Descriptor[] = []
  #turn = turnId(0)
  #turns = 0
  /** What each request showed, and what was retired before it although everything fitted. */
  readonly shown: number[] = []
  readonly needless: string[] = []
  refused = 0
  retired = 0
  visibleAgain = 0

  constructor(seed: number, replay: Replay) {
    this.#chance = random(seed)
    this.#replay = replay
  }

  turn(): void {
    this.#turns += 1
    this.#turn = turnId(this.#turns)
    this.#add({ type: 'turn_started', data: { source: { presenter: 'test' } } })
    this.#attach()
    const before = this.#visible()
    const over = overBudget(before)
    if (over.length > 0 && sumOf(before) <= MOST) this.needless.push(`Turn ${this.#turns}`)
    this.retired += over.length
    for (const { resource } of over)
      this.#add({ type: 'resource_retired', data: { resource_id: resource, why: 'over_budget' } })
    const calls = 1 + this.#chance.below(3)
    for (let call = 0; call < calls; call += 1) {
      this.#request(call)
      // An interrupt: there is no answer.
      if (this.#chance.below(3) === 0) return
      this.#answer(call)
      this.#views()
    }
  }

  #attach(): void {
    const resources: Descriptor[] = []
    let left: number = LIMITS.turn_attachment_bytes
    for (let count = this.#chance.below(4); count > 0; count -= 1) {
      const size = 1 + this.#chance.below(Math.min(left, LIMITS.attachment_bytes))
      left -= size
      if (left <= 0) break
      resources.push(this.#resource(size))
    }
    this.#add({ type: 'user_message', data: { text: '', prompt_mode: 'blocks', resources } })
  }

  /** The calls of one answer share one budget, and are recorded when all of them have run. */
  #views(): void {
    const log = { events: () => this.events, turn: this.#turn }
    const room = new RequestRoom({ log, model: { surface: this.#surface() } })
    const drafts: EventDraft[] = []
    const count = this.#resources.length === 0 ? 0 : this.#chance.below(4)
    for (let view = 0; view < count; view += 1) {
      const descriptor = this.#chance.pick(this.#resources)
      if (descriptor.kind === 'link') continue
      const { resource_id, handle, blob, size_bytes: size } = descriptor
      const part = this.#chance.below(3) === 0 ? 1 + this.#chance.below(size) : undefined
      const shown = part === undefined ? blob : blobKey(1_000_000 + part)
      const bytes = part ?? size
      const answer = room.take(descriptor, { blob: shown, size: bytes, whole: part === undefined })
      const form = part === undefined ? {} : { variant: shown, shown_bytes: bytes }
      if (answer.outcome === 'over_images') throw new Error('there is no limit of images')
      if (answer.outcome === 'over_budget') this.refused += 1
      if (answer.outcome === 'visible') this.visibleAgain += 1
      drafts.push({
        type: 'resource_view',
        data: {
          resource_id,
          handle,
          by: 'model',
          ...(answer.outcome === 'projected' ? form : {}),
          content_sha256: descriptor.content_sha256,
          outcome: answer.outcome,
        },
      })
    }
    for (const draft of drafts) this.#add(draft)
  }

  #request(call_index: number): void {
    const visible = this.#visible()
    this.shown.push(sumOf(visible))
    const copies = visible.length - new Set(visible.map(({ blob }) => blob)).size
    if (copies > 0) this.needless.push(`a second copy in Turn ${this.#turns}`)
    this.#add({
      type: 'provider_request',
      data: {
        call_index,
        attempt: 0,
        dialect: 'messages',
        model: 'm',
        contract_version: 'hw1',
        cache_key: 'hw1',
        request_sha256: '0'.repeat(64),
        request_bytes: 1,
        shared_prefix_bytes: 0,
        transport: 'http-sse',
      },
    })
  }

  #answer(call_index: number): void {
    const usage = { input: 1, cached_read: 0, cache_write: 0, output: 1, reasoning: 0 }
    const ended = { latency_ms: 1, pressure: 'unavailable', stop_reason: 'end' } as const
    this.#add({ type: 'provider_usage', data: { call_index, usage, ...ended } })
  }

  #resource(size_bytes: number): Descriptor {
    const descriptor = textFile(this.#resources.length + 1, size_bytes)
    this.#resources.push(descriptor)
    return descriptor
  }

  #visible() {
    const { replay, limits } = this.#surface().params
    return visibleBytes(this.events, { turn: this.#turn, replay, limits })
  }

  #surface() {
    return { params: { replay: this.#replay, limits: {} } }
  }

  #add(draft: EventDraft): void {
    this.events.push({
      v: 1,
      seq: this.events.length,
      id: EventId.parse(idOf('evt', this.events.length)),
      session_id: SAMPLE_SESSION,
      turn_id: this.#turn,
      ts: '2026-01-31T12:00:00.000Z',
      prev: null,
      crc: '00000000',
      ...draft,
    })
  }
}

test.each(REPLAYS)(
  'with %s, no request exceeds its budget or shows any bytes twice, and nothing is retired while everything fits',
  (replay) => {
    const counts = { refused: 0, retired: 0, visibleAgain: 0, requests: 0 }
    for (let seed = 1; seed <= 60; seed += 1) {
      const session = new MadeSession(seed, replay)
      for (let turn = 0; turn < 8; turn += 1) session.turn()
      expect([seed, session.shown.filter((bytes) => bytes > MOST)]).toEqual([seed, []])
      expect([seed, session.needless]).toEqual([seed, []])
      counts.requests += session.shown.length
      counts.refused += session.refused
      counts.retired += session.retired
      counts.visibleAgain += session.visibleAgain
    }
    // Each of these cases must occur; otherwise the test proves nothing about it.
    expect(Object.values(counts).filter((count) => count < 20)).toEqual([])
  },
)

test('room is granted in the order of calls, whichever call asks first', async () => {
  const log = { events: () => [], turn: turnId(1) }
  const params = { replay: 'attach-turn', limits: {} } as const
  const room = new RequestRoom({ log, model: { surface: { params } } })
  const answers: string[] = []
  const gates = [1, 2, 3].map(() => new EventEmitter())
  const calls = gates.map((gate, at) =>
    room.forCall(async ({ take }) => {
      const number = at + 1
      const size = MOST / 2 + 1
      const loaded = once(gate, 'loaded')
      const recorded = once(gate, 'recorded')
      await loaded
      const view = { blob: blobKey(number), size, whole: true }
      answers.push(`${number} ${(await take(textFile(number, size), view)).outcome}`)
      await recorded
    }),
  )
  for (const gate of gates.toReversed()) gate.emit('loaded')
  await expect.poll(() => answers).toEqual(['1 projected'])
  for (const gate of gates) gate.emit('recorded')
  await Promise.all(calls)
  expect(answers).toEqual(['1 projected', '2 over_budget', '3 over_budget'])
})

function textFile(number: number, size_bytes: number): Descriptor {
  const blob = blobKey(number)
  return Descriptor.parse({
    resource_id: idOf('res', number),
    handle: `@txt${number}`,
    name: `${number}.txt`,
    source: 'cli',
    kind: 'text',
    media_type: 'text/plain',
    size_bytes,
    content_sha256: blob.slice(0, 64),
    blob,
    rehydratable: true,
  })
}

function turnId(number: number): TurnId {
  return TurnId.parse(idOf('trn', number))
}

function blobKey(number: number): BlobKey {
  return BlobKey.parse(`${String(number).padStart(64, '0')}.txt`)
}

function idOf(prefix: string, number: number): string {
  return `${prefix}_01kg8m${String(number).padStart(20, '0')}`
}
