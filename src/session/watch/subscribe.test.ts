import { expect, test } from 'vitest'
import type { LogLine } from '../../log/line.ts'
import { EventId, SessionId } from '../../model/ids.ts'
import { Watchers, type WatcherUpdate } from './subscribe.ts'

const session_id = SessionId.parse('ses_01kg8m2q3r4s5t6v7w8x9y0z12')

function line(seq: number, bytes = 100): LogLine {
  const event = {
    v: 1 as const,
    seq,
    id: EventId.parse('evt_01kg8m2q3r4s5t6v7w8x9y0z12'),
    session_id,
    ts: '2026-01-31T12:00:00.000Z',
    type: 'x',
    data: {},
    prev: null,
    crc: '00000000',
  }
  const content = { isKnown: false, why: 'unknown_type', event } as const
  return { content, seq, offset: 0, hash: '', next: { offset: bytes, seq: seq + 1, prev: '' } }
}

test('a watcher receives lines and ephemeral events in order, until it is closed', async () => {
  const watchers = new Watchers()
  const watching = watchers.subscribe(-1)
  watchers.line(line(0))
  watchers.publish({ type: 'text_delta', session_id, data: { text: 'a' } })
  watchers.line(line(1))
  const seen: string[] = []
  for await (const one of watching) {
    seen.push(one.kind === 'line' ? `line ${one.line.seq}` : one.kind)
    if (seen.length === 3) watching.close()
  }
  expect(seen).toEqual(['line 0', 'ephemeral', 'line 1'])
})

test('only a watcher that is too slow is disconnected, and it is given the position to read from', async () => {
  const watchers = new Watchers()
  const slow = watchers.subscribe(7)
  const quick = watchers.subscribe(7)
  const seen: WatcherUpdate[] = []
  const reading = (async () => {
    for await (const one of quick) if (seen.push(one) === 50) break
  })()
  for (let seq = 8; seq < 58; seq++) {
    watchers.line(line(seq, 100_000))
    await new Promise(setImmediate)
  }
  await reading
  expect(seen.length).toBe(50)
  const received: WatcherUpdate[] = []
  for await (const one of slow) received.push(one)
  expect(received).toEqual([{ kind: 'resync', after_seq: 7 }])
})
