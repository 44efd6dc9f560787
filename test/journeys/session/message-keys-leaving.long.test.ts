import { expect, test } from 'vitest'
import type { AdmitOptions } from '../../../src/session/admission/admit-options.ts'
import { ok } from '../../../src/model/errors.ts'
import type { Session } from '../../../src/session/session.ts'
import { gatedModel } from '../../support/session/gated-model.ts'
import { recordCheckpoint } from '../../support/pressure/hand-checkpoint.ts'
import { harnessPlace } from '../../support/session/harness-place.ts'
import { value } from '../../support/log/story.ts'

// Clients that leave while a message with a key is on its way, and the order of messages.

const REHEARSAL = { provider: 'rehearsal', model: 'rehearsal' } as const

/** `looked up`: only the Log can tell whether the key was used, which takes time. */
const KINDS: [string, AdmitOptions, boolean][] = [
  ['no key', {}, false],
  ['a new key', { messageKey: 'message 1' }, false],
  ['a key that is looked up', { messageKey: 'message 1' }, true],
]

async function openedSession(isLookedUp: boolean) {
  const place = await harnessPlace()
  const session = value(await place.harness.create(REHEARSAL))
  value(await value(await session.admit('Hello')).done)
  if (isLookedUp) {
    await recordCheckpoint(place.parts, session, 0, (data) =>
      data.state === undefined
        ? data
        : { ...data, state: { ...data.state, message_keys: { newest: [], filter: '' } } },
    )
  }
  return { place, session }
}

function messages({ events }: Session): (string | undefined)[] {
  return events.flatMap((event) => (event.type === 'user_message' ? [event.data.text] : []))
}

test.each(KINDS)(
  'with %s, a client that attaches after the sender left shares the Turn',
  async (_, options, isLookedUp) => {
    const { place, session } = await openedSession(isLookedUp)
    const sent = session.admit('Next', options)
    await session.detach()
    const again = value(await place.harness.open(session.id))
    const last = again.admit('Last', { whenBusy: 'queue' })
    expect(value(await value(await sent).done).status).toBe('completed')
    expect(value(await value(await last).done).status).toBe('completed')
    expect(messages(again)).toEqual(expect.arrayContaining(['Next', 'Last']))
  },
)

test.each(KINDS)(
  'with %s, no Turn runs after the last client has closed',
  async (_, options, isLookedUp) => {
    const { place, session } = await openedSession(isLookedUp)
    const sent = session.admit('Next', options)
    await session.close()
    const { nextSeq } = session
    const admitted = await sent
    const ended = admitted.ok ? value(await admitted.value.done).status : admitted.error.kind
    expect(ended).toBe('interrupted')
    expect(session.nextSeq).toBe(nextSeq)
    expect(place.harness.openSessions).toBe(0)
    const again = value(await place.harness.open(session.id))
    expect(value(await value(await again.admit('Last')).done).status).toBe('completed')
  },
)

test('messages with and without keys run in the order in which they arrive', async () => {
  const { provider, open } = gatedModel()
  const { harness } = await harnessPlace({ model: { providerOf: async () => ok(provider) } })
  const session = value(await harness.create(REHEARSAL))
  const queue = { whenBusy: 'queue' } as const
  const sent = [
    session.admit('1', { ...queue, messageKey: 'one' }),
    session.admit('2', queue),
    session.admit('3', { ...queue, messageKey: 'three' }),
    session.admit('4', queue),
  ]
  open()
  for (const one of sent) value(await value(await one).done)
  expect(messages(session)).toEqual(['1', '2', '3', '4'])
})
