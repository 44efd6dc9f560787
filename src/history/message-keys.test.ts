import { expect, test } from 'vitest'
import { generatedEvents } from '../../test/support/history/generated-requests.ts'
import { random } from '../../test/support/host/random.ts'
import { wholeEvents } from '../../test/support/history/sample-resources.ts'
import type { EventData, EventDraft, WholeEvent } from '../model/events/event.ts'
import { EventId, TurnId, type TurnId as Turn } from '../model/ids.ts'
import { compactionsInForce, historyOf } from './history.ts'
import { turnOfKey } from './message-keys.ts'
import { stateBefore, stateFits } from './resume-state.ts'

/** A Log of Turns with message keys. */
class KeyedLog {
  readonly events: WholeEvent[] = []
  readonly used = new Map<string, Turn>()

  /** A Turn, or one whose message was lost. */
  turn(message_key?: string, isLost = false): void {
    const turn_id = TurnId.parse(`trn_01kg8m2q3r4s5t6v7w8x9y${this.#idEnd()}`)
    const source = { presenter: 'test', ...(message_key === undefined ? {} : { message_key }) }
    this.add({ type: 'turn_started', turn_id, data: { source } })
    if (isLost) return
    if (message_key !== undefined) this.used.set(message_key, turn_id)
    this.add({ type: 'user_message', turn_id, data: { text: 'x', prompt_mode: 'string' } })
  }

  /** A checkpoint that leaves the last `turns` Turns raw. */
  checkpoint(turns: number, hasState = true): void {
    const starts = historyOf(this.events).events.filter(({ type }) => type === 'turn_started')
    const from_seq = starts[starts.length - turns]?.seq ?? this.events.length
    if (from_seq === 0) return
    const data: EventData<'history_compaction'> = {
      trigger: 'manual',
      strategy: 'test',
      range: { from_seq: 0, to_seq: from_seq - 1 },
      tail: { from_seq, turns, tokens: 1 },
      tokens_before: 2,
      tokens_after: 1,
      ...(hasState ? { state: stateBefore(this.events, from_seq) } : {}),
    }
    this.add({ type: 'history_compaction', data })
  }

  undo(): void {
    const last = compactionsInForce(this.events).at(-1)
    if (last === undefined) return
    const data = { compaction_event_id: last.id, reason: 'test' }
    this.add({ type: 'compaction_undone', data })
  }

  add(draft: EventDraft): void {
    const id = EventId.parse(`evt_01kg8m2q3r4s5t6v7w8x9y${this.#idEnd()}`)
    const seq = this.events.length
    this.events.push(...wholeEvents([draft]).map((event) => ({ ...event, seq, id })))
  }

  #idEnd(): string {
    return String(this.events.length).padStart(4, '0')
  }
}

/** The Events that a process may have in memory: all, those of a resumed Session, and those from any tail on. */
function listsOf(events: readonly WholeEvent[]): (readonly WholeEvent[])[] {
  const tails = events.flatMap((event) =>
    event.type === 'history_compaction' && event.data.range !== undefined
      ? [event.data.tail.from_seq]
      : [],
  )
  return [events, historyOf(events).events, ...tails.map((from) => events.slice(from))]
}

/** Expects every used key to be found, and returns how many lists do not rule out a key that was never used. */
function expectAllFound(events: readonly WholeEvent[], used: ReadonlyMap<string, Turn>): number {
  const lists = listsOf(events)
  for (const list of lists) {
    const known = new Set(list.map(({ turn_id }) => turn_id))
    const wrong = [...used].filter(
      ([key, turn]) => turnOfKey(list, key) !== (known.has(turn) ? turn : 'maybe_earlier'),
    )
    expect(wrong).toEqual([])
  }
  const complete = lists.filter(([first]) => (first?.seq ?? 0) <= tailOf(events))
  return complete.filter((list) => turnOfKey(list, `fresh ${events.length}`) !== undefined).length
}

function tailOf(events: readonly WholeEvent[]): number {
  return historyOf(events).checkpoint?.data.tail.from_seq ?? 0
}

test('a used key is always found, with checkpoints, undone ones, and any number of keys', () => {
  let vain = 0
  let filters = 0
  for (let seed = 1; seed <= 20; seed += 1) {
    const chance = random(seed)
    const log = new KeyedLog()
    for (let n = 0; n < 150 + 15 * seed; n += 1) {
      log.turn(chance.below(5) === 0 ? undefined : `key ${seed} ${n}`)
      if (chance.below(40) === 0) log.checkpoint(chance.below(12))
      if (chance.below(90) === 0) log.undo()
      if (chance.below(150) === 0) vain += expectAllFound(log.events, log.used)
    }
    log.checkpoint(chance.below(3))
    vain += expectAllFound(log.events, log.used)
    if (historyOf(log.events).state.message_keys?.filter !== undefined) filters += 1
  }
  expect(filters).toBeGreaterThan(4)
  expect(vain).toBe(0)
})

test('a used key is found in generated Logs', async () => {
  let checkpoints = 0
  for (let seed = 1; seed <= 40; seed += 1) {
    const events = await generatedEvents(seed)
    const used = new Map<string, Turn>()
    for (const [at, event] of events.entries()) {
      const { type, turn_id, data } = event
      if (type === 'turn_started' && turn_id !== undefined && data.source.message_key !== undefined)
        used.set(data.source.message_key, turn_id)
      if (type !== 'history_compaction' && type !== 'compaction_undone') continue
      checkpoints += 1
      expect(expectAllFound(events.slice(0, at + 1), used)).toBe(0)
    }
  }
  expect(checkpoints).toBeGreaterThan(20)
})

test('of 5,000 earlier keys, less than six percent of new keys are looked up without a match', () => {
  const log = new KeyedLog()
  for (let n = 0; n < 4_900; n += 1) log.turn(`key ${n}`)
  log.checkpoint(0)
  const raw = historyOf(log.events).events
  const vain = Array.from({ length: 2_000 }, (_, n) => turnOfKey(raw, `fresh ${n}`))
  expect(vain.filter((answer) => answer !== undefined).length).toBeLessThan(120)
})

test('a state with keys fits if it fits without them, and then contains every key', () => {
  const fitting = [58_500, 55_000, 52_000, 40_000].map((bytes) => {
    const log = new KeyedLog()
    const paths = [{ path: 'x'.repeat(bytes), kind: 'file', id: '1:2' } as const]
    log.add({ type: 'command_watched', data: { call_id: 'c', paths } })
    for (let n = 0; n < 300; n += 1) log.turn(`key ${n}`)
    log.checkpoint(0)
    const { state, events } = historyOf(log.events)
    expect(stateFits(state)).toBe(true)
    const answers = [...log.used.keys()].map((key) => turnOfKey(events, key))
    expect(new Set(answers)).toEqual(new Set(['maybe_earlier']))
    expect(turnOfKey(events, 'fresh')).toBe(bytes === 58_500 ? 'maybe_earlier' : undefined)
    return state.message_keys?.newest.length ?? -1
  })
  expect(fitting[0]).toBe(0)
  expect(fitting.toSorted((a, b) => a - b)).toEqual(fitting)
  expect(fitting[3]).toBe(256)
})

test('while all keys fit, the state has no filter; without keys it has nothing', () => {
  const log = new KeyedLog()
  log.turn()
  expect(stateBefore(log.events, 2).message_keys).toBeUndefined()
  for (let n = 0; n < 256; n += 1) log.turn(`key ${n}`)
  const { message_keys } = stateBefore(log.events, log.events.length)
  expect(message_keys).toEqual({ newest: expect.any(Array) })
  expect(message_keys?.newest).toHaveLength(256)
})

test('behind a checkpoint without a state, any key may be earlier', () => {
  const log = new KeyedLog()
  log.turn('key 0')
  log.checkpoint(0, false)
  const { events } = historyOf(log.events)
  expect(turnOfKey(events, 'key 0')).toBe('maybe_earlier')
})

test('a Turn whose message was lost does not have the key, and a repetition of the message has it', () => {
  const log = new KeyedLog()
  log.turn('key', true)
  expect(turnOfKey(log.events, 'key')).toBeUndefined()
  log.turn('other')
  expect(turnOfKey(log.events, 'key')).toBeUndefined()
  log.turn('key')
  expect(turnOfKey(log.events, 'key')).toBe(log.used.get('key'))
})
