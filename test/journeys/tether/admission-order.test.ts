import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { acquireLog } from '../../../src/log/open.ts'
import { ok } from '../../../src/model/errors.ts'
import { Harness } from '../../../src/session/harness.ts'
import { sessionFold } from '../../../src/session/live/state.ts'
import { gatedModel } from '../../support/session/gated-model.ts'
import { openParts } from '../../support/session/harness-parts.ts'
import { value } from '../../support/log/story.ts'
import { eventsOf, guestScene } from '../../support/tether/guest-scene.ts'
import { envelope } from '../../support/tether/host-end.ts'
import { copied } from '../../support/tether/stopped-place.ts'

const NAMES = ['m1', 'm2', 'm3', 'm4']

/** The records of a guest that was killed while the model was silent about `m1`. */
async function killedGuest(): Promise<string> {
  const silent = gatedModel()
  const changes = { model: { providerOf: async () => ok(silent.provider) } }
  const { host, root } = await guestScene({ changes })
  host.message('m1', { text: 'What is a hull?' })
  await silent.asked
  const left = await copied(root)
  silent.open()
  return left
}

test.each([300, 310, 325, 345])(
  'messages are admitted in their order, whenever the old guest lets go of the Session (%i ms)',
  async (ms) => {
    const root = await copied(await killedGuest())
    const { parts, close } = await openParts(root)
    const [session] = await new Harness(parts).list()
    if (session === undefined) throw new Error('no Session')
    const keep = async () => {
      throw new Error('nothing is kept')
    }
    const held = value(await acquireLog(parts.log.place, session.id, { fold: sessionFold, keep }))
    const { host } = await guestScene({ root })
    for (const name of NAMES) {
      host.write({ ...envelope(name, 'default'), type: 'guest.resend' })
      host.message(name, { text: 'What is a hull?' })
    }
    await sleep(ms)
    await held.release()
    for (const name of NAMES)
      expect(await host.ended(name)).toMatchObject({ payload: { status: 'completed' } })
    const all = [...(await eventsOf(root)).values()].flat()
    const keys = all.flatMap((event) =>
      event.type === 'turn_started' ? [event.data.source.message_key] : [],
    )
    expect(keys).toEqual(NAMES)
    await close()
  },
)
