import { expect, test } from 'vitest'
import { failed, ok } from '../../../src/model/errors.ts'
import { Harness } from '../../../src/session/harness.ts'
import { gatedModel } from '../../support/session/gated-model.ts'
import { recordCheckpoint } from '../../support/pressure/hand-checkpoint.ts'
import { withChanges, type Changes } from '../../support/session/harness-parts.ts'
import { ASKING } from '../../support/session/live-parts.ts'
import { livePlace } from '../../support/session/live-place.ts'
import { value } from '../../support/log/story.ts'
import { until } from '../../support/host/virtual-clock.ts'
import { questionOf } from '../../support/session/watching.ts'

// Clients that come, send or leave while something else closes, fails or is looked up.

function gate() {
  const { provider, open } = gatedModel()
  const changes: Changes = { model: { providerOf: async () => ok(provider) } }
  return { open, changes }
}

test('once the Harness closes, no client attaches and no message is admitted', async () => {
  const { harness } = await livePlace()
  const client = value(await harness.create(ASKING, { answers: true }))
  const other = value(await harness.create(ASKING))
  await other.close()
  const { done } = value(await client.admit('Write "a" to a.txt'))
  await questionOf(client)
  const waiting = client.admit('Before', { whenBusy: 'queue' })
  const closing = harness.close()
  const refused = await Promise.all([
    waiting,
    client.admit('After', { whenBusy: 'queue' }),
    harness.open(client.id),
    harness.open(other.id),
    harness.create(ASKING),
  ])
  await closing
  expect(refused.map((one) => (one.ok ? 'ok' : one.error.kind))).toEqual(
    refused.map(() => 'interrupted'),
  )
  expect(value(await done).status).toBe('interrupted')
  expect(harness.openSessions).toBe(0)
  await client.close()
})

test('a client that detaches does not wait for a message whose key is looked up', async () => {
  const { open, changes } = gate()
  const place = await livePlace({ changes })
  const session = value(await place.harness.create(ASKING))
  await recordCheckpoint(place.parts, session, 0, (data) =>
    data.state === undefined
      ? data
      : { ...data, state: { ...data.state, message_keys: { newest: [], filter: '' } } },
  )
  const sent = session.admit('Next', { messageKey: 'message 1' })
  await session.detach()
  open()
  expect(value(await value(await sent).done).status).toBe('completed')
  await until(() => place.harness.openSessions === 0)
})

test('a client that cannot attach does not interrupt a Turn that continues without clients', async () => {
  const place = await livePlace()
  const { heads } = place.parts.log.place
  let broken = false
  const read: typeof heads.read = async (id) =>
    broken ? failed('storage_failed', 'It cannot be read.') : heads.read(id)
  const failing = { ...heads, read }
  const { parts } = place
  const harness = new Harness(
    withChanges(parts, { log: { place: { ...parts.log.place, heads: failing } } }),
  )
  const client = value(await harness.create(ASKING, { answers: true }))
  const { done } = value(await client.admit('Write "a" to a.txt'))
  const { request_id } = await questionOf(client)
  await client.detach()
  broken = true
  expect(await harness.open(client.id)).toMatchObject({ ok: false })
  broken = false
  value(await harness.answer(request_id, { choice: 1 }))
  expect(value(await done).status).toBe('completed')
  await until(() => harness.openSessions === 0)
})
