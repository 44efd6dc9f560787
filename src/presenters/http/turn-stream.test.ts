import { expect, test } from 'vitest'
import { Redactor } from '../../encoding/redaction.ts'
import { systemClock } from '../../host/clock.ts'
import type { Session } from '../../session/session.ts'
import type { SessionUpdate } from '../../session/watch/session-stream.ts'
import { followFromNow, turnResponse, type ServedTurn } from './turn-stream.ts'

const TURN = 'trn_01kg8m2q3r4s5t6v7w8x9y0z12'
const PIECE = 'x'.repeat(100_000)

/** A Turn that says more than may wait for a client, and then continues until it is interrupted. */
function servedTurn(onDisconnect: ServedTurn['onDisconnect']) {
  const calls: string[] = []
  let end = () => {}
  const done = new Promise((resolve) => {
    end = () => resolve({ ok: false, error: { kind: 'interrupted', message: '', details: {} } })
  })
  const session = {
    events: [{ type: 'turn_started', turn_id: TURN, seq: 0 }],
    state: { provider: 'rehearsal', model: 'rehearsal' },
    nextSeq: 1,
    interrupt: () => {
      calls.push('interrupt')
      end()
    },
    stream: async function* ({ signal }: { signal: AbortSignal }) {
      const raw = { type: 'turn_started', turn_id: TURN, seq: 0, data: {} }
      yield { kind: 'event', raw } as unknown as SessionUpdate
      for (let said = 0; said < 100 && !signal.aborted; said += 1) {
        const ephemeral = { type: 'text_delta', turn_id: TURN, data: { text: PIECE } }
        yield { kind: 'ephemeral', ephemeral } as SessionUpdate
      }
      calls.push(signal.aborted ? 'dropped' : 'sent')
    },
  }
  const leave = async (until?: Promise<unknown>) => {
    await until
    calls.push('left')
  }
  const following = followFromNow(session as unknown as Session)
  const admitted = { turn: TURN, done }
  const served = { session: { session, leave }, admission: admitted, following, onDisconnect }
  return { served: served as unknown as ServedTurn, calls, end }
}

test('a client that is dropped because it does not read interrupts its Turn if it asked for that', async () => {
  const parts = { clock: systemClock, onDefect: () => {}, redactor: new Redactor([]) }
  const { signal } = new AbortController()
  const interrupting = servedTurn('interrupt')
  const response = turnResponse(parts, signal, interrupting.served)
  await expect.poll(() => interrupting.calls).toEqual(['interrupt', 'dropped', 'left'])
  expect(await response.text()).toMatch(/event: resync\n.*\n\n$/s)
  const going = servedTurn('continue')
  turnResponse(parts, signal, going.served)
  await expect.poll(() => going.calls).toEqual(['dropped'])
  // The Turn continues, and holds the workspace until its end.
  going.end()
  await expect.poll(() => going.calls).toEqual(['dropped', 'left'])
})
