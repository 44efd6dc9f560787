import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { logName } from '../../../src/log/files/names.ts'
import { ok } from '../../../src/model/errors.ts'
import type { WholeEvent } from '../../../src/model/events/event.ts'
import type { AdmitOptions } from '../../../src/session/admission/admit-options.ts'
import type { Session } from '../../../src/session/session.ts'
import { verifyRequests } from '../../../src/session/queries/verify-requests.ts'
import { DIALECTS } from '../../support/providers/dialects.ts'
import { linesOf } from '../../support/log/raw-log.ts'
import { picture as drawnPicture } from '../../support/resources/sample-files.ts'
import {
  callAnswer,
  copied,
  KEYED,
  pausedAnswer,
  reopened,
  replyingPlace,
  stepsOf,
  stoppedPlace,
  textAnswer,
  type Reply,
  type StoppedPlace,
} from '../../support/tether/stopped-place.ts'
import { value } from '../../support/log/story.ts'

const AGAIN = { ...KEYED, continues: () => true } as const

async function next(
  left: StoppedPlace,
  replies: readonly Reply[] = [],
  dialect = 'messages' as const,
) {
  const place = await replyingPlace(dialect, replies, { root: left.root })
  return { place, session: await reopened(place, left.id) }
}

async function send(session: Session, options: AdmitOptions = AGAIN) {
  const {
    done,
    repeated = false,
    continued = false,
  } = value(await session.admit('Is the sea calm?', options))
  return { repeated, continued, ended: value(await done) }
}

function requestsOf(events: readonly WholeEvent[]) {
  return events.flatMap((e) => (e.type === 'provider_request' ? [e.data] : []))
}

test.each(['rehearsal', 'messages', 'responses', 'chat'] as const)(
  'a Turn of which nothing was answered continues with the same request, byte for byte: %s',
  async (dialect) => {
    const earlier = ['Hello.', 'What is a hull?']
    const replies = [textAnswer('Hi.'), textAnswer('A body.'), 'silent'] as const
    const left = await stoppedPlace(dialect, replies, { earlier })
    const place = await replyingPlace(dialect, [], { root: left.root })
    const session = await reopened(place, left.id)
    expect(await send(session)).toMatchObject({
      repeated: false,
      continued: true,
      ended: { status: 'completed', usage: { calls: 1, unknown_calls: 1 } },
    })
    expect(place.requests).toEqual([left.requests.at(-1)])
    const steps = stepsOf(session.events)
    expect(steps.slice(steps.indexOf('request 0.0'))).toEqual([
      'request 0.0',
      'resent_after_crash',
      'request 0.1',
      'assistant_message',
      'provider_usage',
      'turn_ended',
    ])
    expect(steps.filter((step) => step === 'turn_started')).toHaveLength(1)
    const [first, again] = requestsOf(session.events).slice(-2)
    expect(again?.request_sha256).toBe(first?.request_sha256)
    expect(again?.shared_prefix_bytes).toBe(first?.request_bytes)
    expect(value(await verifyRequests(place.parts, session.events)).mismatches).toEqual([])
    // The next Turn continues after the answer.
    value(await value(await session.admit('Thanks.')).done)
    expect(value(await verifyRequests(place.parts, session.events)).mismatches).toEqual([])
    // The message is known.
    expect(await send(session)).toMatchObject({ repeated: true, ended: { status: 'completed' } })
  },
)

test('a Turn ends as before if its message was not accepted durably, or something of it was shown', async () => {
  const left = await stoppedPlace('messages', ['silent'])
  for (const options of [KEYED, { ...KEYED, continues: () => false }]) {
    const { place, session } = await next({ ...left, root: await copied(left.root) })
    expect(await send(session, options)).toMatchObject({
      repeated: true,
      continued: false,
      ended: {
        status: 'interrupted',
        crash_recovered: true,
        usage: { calls: 0, unknown_calls: 1 },
      },
    })
    expect(place.requests).toEqual([])
  }
})

test('another message never continues a Turn', async () => {
  const left = await stoppedPlace('messages', ['silent'])
  const { session } = await next(left)
  const other = { ...AGAIN, messageKey: 'm2' }
  expect(await send(session, other)).toMatchObject({ continued: false, repeated: false })
  expect(stepsOf(session.events).slice(-2)).toEqual(['request 0.0', 'turn_ended'])
  expect(await send(session)).toMatchObject({ repeated: true, ended: { status: 'interrupted' } })
})

test('a Turn whose tool ran is never continued', async () => {
  const call = callAnswer('write', { path: 'a.txt', content: 'a' })
  const left = await stoppedPlace('messages', [call, 'silent'])
  const { place, session } = await next(left)
  expect(await send(session)).toMatchObject({
    repeated: true,
    ended: { status: 'interrupted', usage: { calls: 1, unknown_calls: 1 } },
  })
  expect(place.requests).toEqual([])
})

test('a Turn with recorded text is never continued', async () => {
  const left = await stoppedPlace('messages', [pausedAnswer('The sea'), 'silent'])
  const { place, session } = await next(left)
  expect(stepsOf(session.events)).toContain('assistant_message')
  expect(await send(session)).toMatchObject({ repeated: true })
  expect(place.requests).toEqual([])
})

test('a Turn that never gets an answer is continued twice, and then ends with what is known', async () => {
  const { id, requests, root } = await stoppedPlace('messages', ['silent'])
  let left = root
  for (let times = 0; times < 2; times += 1) {
    const { place, session } = await next({ id, requests, root: left }, ['silent'])
    expect(value(await session.admit('Is the sea calm?', AGAIN)).continued).toBe(true)
    await place.silent
    left = await copied(left)
  }
  const { place, session } = await next({ id, requests, root: left })
  expect(await send(session)).toMatchObject({
    repeated: true,
    ended: { status: 'interrupted', crash_recovered: true, usage: { unknown_calls: 3 } },
  })
  expect(place.requests).toEqual([])
  expect(stepsOf(session.events).filter((step) => step.startsWith('request'))).toEqual([
    'request 0.0',
    'request 0.1',
    'request 0.2',
  ])
  expect(value(await verifyRequests(place.parts, session.events)).mismatches).toEqual([])
})

test('an interrupt ends a continued Turn', async () => {
  const left = await stoppedPlace('messages', ['silent'])
  const { place, session } = await next(left, ['silent'])
  const { done } = value(await session.admit('Is the sea calm?', AGAIN))
  await place.silent
  session.interrupt()
  expect(value(await done)).toMatchObject({
    status: 'interrupted',
    usage: { calls: 0, unknown_calls: 1 },
  })
})

/** As a kill before the write of the last request leaves it. */
async function cutRequest({ root, id }: StoppedPlace): Promise<void> {
  const path = join(root, 'workspace/.hawser/sessions', logName(id))
  const lines = linesOf(await readFile(path))
  const at = lines.findLastIndex((line) => line.includes('"type":"provider_request"'))
  await writeFile(path, Buffer.concat(lines.slice(0, at)))
}

/** A file that must not be sent: the decision about it is recorded before the first request. */
function withheld() {
  const changes = { person: { upload: { upload: 'deny' } } } as const
  const picture = drawnPicture(3)
  const attachments = [{ from: 'bytes', name: 'a.png', bytes: picture }] as const
  return { changes, options: { attachments } }
}

test('decisions that were recorded before the first request are not made again', async () => {
  const { changes, options } = withheld()
  const first = await stoppedPlace('messages', ['silent'], { changes, options })
  const place = await replyingPlace('messages', [], { root: first.root, changes })
  const session = await reopened(place, first.id)
  expect(await send(session, { ...AGAIN, ...options })).toMatchObject({ continued: true })
  const steps = stepsOf(session.events)
  expect(steps.filter((step) => step === 'permission_decision')).toHaveLength(1)
  expect(place.requests).toEqual([first.requests[0]])
})

test('a Turn without a request continues, and decides nothing twice', async () => {
  const { changes, options } = withheld()
  const first = await stoppedPlace('messages', ['silent'], { changes, options })
  await cutRequest(first)
  const place = await replyingPlace('messages', [], { root: first.root, changes })
  const session = await reopened(place, first.id)
  expect(stepsOf(session.events)).not.toContain('request 0.0')
  expect(await send(session, { ...AGAIN, ...options })).toMatchObject({
    continued: true,
    ended: { status: 'completed', usage: { calls: 1 } },
  })
  const steps = stepsOf(session.events)
  expect(steps.filter((step) => /decision|request|after_crash/.test(step))).toEqual([
    'permission_decision',
    'continued_after_crash',
    'request 0.0',
  ])
  expect(value(await verifyRequests(place.parts, session.events)).mismatches).toEqual([])
})

test('a request that cannot be composed as it was sent is not sent again', async () => {
  const left = await stoppedPlace('messages', ['silent'])
  const base = DIALECTS.messages
  const place = await replyingPlace('messages', [], { root: left.root })
  const changed: typeof base.buildBody = (segments, options) =>
    Buffer.concat([base.buildBody(segments, options), Buffer.from(' ')])
  const other = await replyingPlace('messages', [], {
    root: left.root,
    changes: { model: { providerOf: async () => ok({ ...place.provider, buildBody: changed }) } },
  })
  const session = await reopened(other, left.id)
  expect(await send(session)).toMatchObject({
    ended: { status: 'interrupted', crash_recovered: true, usage: { unknown_calls: 1 } },
  })
  expect(place.requests).toEqual([])
  expect(stepsOf(session.events).at(-1)).toBe('turn_ended')
})
