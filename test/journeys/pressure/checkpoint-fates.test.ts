import { expect, test } from 'vitest'
import { rehearsalProvider } from '../../../src/providers/rehearsal/stream.ts'
import { ok } from '../../../src/model/errors.ts'
import type { WholeEvent } from '../../../src/model/events/event.ts'
import type { Session } from '../../../src/session/session.ts'
import type { Ask } from '../../support/session/asked-harness.ts'
import { recordCheckpoint } from '../../support/pressure/hand-checkpoint.ts'
import { harnessPlace } from '../../support/session/harness-place.ts'
import { verified } from '../../support/resources/resource-events.ts'
import { picture, sampleFile, say } from '../../support/resources/sample-files.ts'
import { value } from '../../support/log/story.ts'

// What happened to a Resource before a checkpoint holds after it, in a new process too.

const REHEARSAL = { provider: 'rehearsal', model: 'rehearsal' } as const
const HANDLES = ['@img1', '@img2', '@img3', '@img4']

/** Asks about every upload. The second picture is denied, all others are allowed once. */
function askingPerson() {
  const asked: string[] = []
  const ask: Ask = async ({ upload }) => {
    const handle = upload?.handle ?? ''
    asked.push(handle)
    return { allowed: handle !== '@img2', scope: 'once' }
  }
  return { asked, changes: { person: { ask, upload: { upload: 'ask' } } } as const }
}

/** Four pictures: one stays, one is denied, one is quarantined, one is dropped. Then a view of each, after `between`. */
async function viewsAfter(
  between: (place: Awaited<ReturnType<typeof harnessPlace>>, session: Session) => Promise<void>,
) {
  const person = askingPerson()
  const place = await harnessPlace(person.changes)
  const session = value(await place.harness.create(REHEARSAL))
  const files = await Promise.all(
    HANDLES.map((_, n) => sampleFile(place.workspace, `${n}.png`, picture(n + 1))),
  )
  const attachments = files.map(({ input }) => input)
  expect(await say(session, 'What do you see?', { attachments })).toBe('completed')
  const third = value(await session.resourceNamed('@img3'))?.descriptor.resource_id
  if (third === undefined) expect.fail('the third picture is unknown')
  const refusal = { message: 'too blue' }
  const quarantine = { resource_id: third, dialect: 'rehearsal', provider_error: refusal } as const
  value(
    await session.between(({ record }) =>
      record([{ type: 'resource_quarantined', data: quarantine }]),
    ),
  )
  value(await session.dropResource('@img4'))
  await between(place, session)
  await session.close()
  const later = askingPerson()
  const again = await harnessPlace(later.changes, place.root)
  const resumed = value(await again.harness.open(session.id))
  const seq = resumed.events.at(-1)?.seq ?? 0
  expect(await say(resumed, 'Look again', { views: HANDLES })).toBe('completed')
  for (const handle of HANDLES) expect(await say(resumed, `View ${handle}`)).toBe('completed')
  await resumed.close()
  await verified(again, resumed)
  const views = resumed.events.flatMap((event) =>
    event.type === 'resource_view' && event.seq > seq
      ? [[event.data.handle, event.data.by, event.data.outcome]]
      : [],
  )
  return { views, asked: later.asked }
}

test('quarantined, denied, asked and dropped Resources stay so across a checkpoint', async () => {
  const without = await viewsAfter(async () => {})
  const across = await viewsAfter(({ parts }, session) => recordCheckpoint(parts, session, 0))
  expect(across).toEqual(without)
  expect(across.views.slice(0, 4)).toEqual([
    ['@img1', 'person', 'projected'],
    ['@img2', 'person', 'denied'],
    ['@img3', 'person', 'quarantined'],
    ['@img4', 'person', 'denied'],
  ])
  expect(across.asked).toEqual(['@img1', '@img2', '@img1', '@img2'])
})

test('a call id from before a checkpoint is not used again, even if the server repeats it', async () => {
  const provider = rehearsalProvider({ chunk: 64, delayMs: 0 })
  const repeating: typeof provider = {
    ...provider,
    stream: async function* (body, signal) {
      for await (const event of provider.stream(body, signal)) {
        if (event.type === 'item' && event.item.kind === 'tool_call')
          yield { ...event, item: { ...event.item, call_id: 'call_0' } }
        else yield event
      }
    },
  }
  const changes = { model: { providerOf: async () => ok(repeating) } }
  const place = await harnessPlace(changes)
  await sampleFile(place.workspace, 'notes.txt', Buffer.from('The tide turns at six.\n'))
  const session = value(await place.harness.create(REHEARSAL))
  expect(await say(session, 'Read notes.txt')).toBe('completed')
  await recordCheckpoint(place.parts, session, 0)
  await session.close()
  const again = await harnessPlace(changes, place.root)
  const resumed = value(await again.harness.open(session.id))
  expect(await say(resumed, 'Read notes.txt')).toBe('completed')
  await recordCheckpoint(again.parts, resumed, 0)
  expect(await say(resumed, 'Read notes.txt')).toBe('completed')
  await resumed.close()
  const calls: string[] = []
  value(
    await again.harness.read(session.id, { types: ['tool_call'] }, ({ event }) => {
      if (isCall(event)) calls.push(event.data.call_id)
    }),
  )
  expect([calls.length, new Set(calls).size, calls[0]]).toEqual([3, 3, 'call_0'])
  await verified(again, resumed)
})

function isCall(event: WholeEvent | undefined): event is WholeEvent<'tool_call'> {
  return event?.type === 'tool_call'
}
