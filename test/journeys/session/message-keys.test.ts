import { asFilePlace } from '../../support/log/file-place.ts'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ok } from '../../../src/model/errors.ts'
import type { EventDraft } from '../../../src/model/events/event.ts'
import { LIMITS } from '../../../src/model/limits.ts'
import { logName } from '../../../src/log/files/names.ts'
import { rehearsalProvider } from '../../../src/providers/rehearsal/stream.ts'
import type { AdmitOptions } from '../../../src/session/admission/admit-options.ts'
import type { Session } from '../../../src/session/session.ts'
import { NO_USAGE } from '../../../src/turn/usage.ts'
import { CANARY_KEY } from '../../support/host/canary.ts'
import { recordCheckpoint } from '../../support/pressure/hand-checkpoint.ts'
import type { Changes } from '../../support/session/harness-parts.ts'
import { harnessPlace, type HarnessPlace } from '../../support/session/harness-place.ts'
import { linesOf, overwrite, rawLog } from '../../support/log/raw-log.ts'
import { registerDamage } from '../../support/log/registered-damage.ts'
import { value } from '../../support/log/story.ts'

const REHEARSAL = { provider: 'rehearsal', model: 'rehearsal' } as const
const KEY = { messageKey: 'message 1' } as const

async function place(root?: string) {
  return harnessPlace(LIMITED, root)
}

const LIMITED: Changes = { person: { limits: { waiting_turns: 8, question_ms: 60_000 } } }

/** A model that answers only after `open`. `asked` resolves when it was asked. */
function gate() {
  let [wasAsked, open] = [() => {}, () => {}]
  const asked = new Promise<void>((resolve) => {
    wasAsked = resolve
  })
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  const base = rehearsalProvider({ chunk: 16, delayMs: 0 })
  const provider: typeof base = {
    ...base,
    stream: async function* (body, signal) {
      wasAsked()
      await opened
      yield* base.stream(body, signal)
    },
  }
  const changes: Changes = { ...LIMITED, model: { providerOf: async () => ok(provider) } }
  return { asked, open: () => open(), changes }
}

/** Admits a message and waits for the end of its Turn. */
async function send(session: Session, text: string, options: AdmitOptions = {}) {
  const { turn, done, repeated = false } = value(await session.admit(text, options))
  return { turn, repeated, ended: value(await done) }
}

/** The Turns of the Log with this key. */
async function turnsWith({ harness }: HarnessPlace, { id }: Session, key: string) {
  const turns: string[] = []
  value(
    await harness.read(id, {}, ({ event }) => {
      if (event?.type === 'turn_started' && event.data.source.message_key === key)
        turns.push(event.turn_id ?? '')
    }),
  )
  return turns
}

test('a message with the key of an earlier one returns the Turn of that one', async () => {
  const here = await place()
  const session = value(await here.harness.create(REHEARSAL))
  const first = await send(session, 'Hello', KEY)
  expect(first).toMatchObject({ repeated: false, ended: { status: 'completed' } })
  const next = session.nextSeq
  expect(await send(session, 'Hello', KEY)).toEqual({ ...first, repeated: true })
  expect(await send(session, 'Another text', KEY)).toEqual({ ...first, repeated: true })
  expect(session.nextSeq).toBe(next)
  expect(await turnsWith(here, session, KEY.messageKey)).toEqual([first.turn])
})

test('messages with different keys or without one all run', async () => {
  const session = value(await (await place()).harness.create(REHEARSAL))
  const options = [KEY, { messageKey: 'Message 1' }, { messageKey: 'message 1 ' }, {}, {}]
  const turns: string[] = []
  for (const one of options) {
    const { turn, repeated } = await send(session, 'Hello', one)
    expect(repeated).toBe(false)
    turns.push(turn)
  }
  expect(new Set(turns).size).toBe(options.length)
})

test('clients that send the same key at once share one Turn', async () => {
  const here = await place()
  const one = value(await here.harness.create(REHEARSAL))
  const two = value(await here.harness.open(one.id))
  const sent = await Promise.all([one, two, one, two].map((client) => send(client, 'Hello', KEY)))
  const [first, ...others] = sent
  expect(first?.repeated).toBe(false)
  for (const other of others) expect(other).toEqual({ ...first, repeated: true })
  expect(await turnsWith(here, one, KEY.messageKey)).toEqual([first?.turn])
})

test.each(['refuse', 'queue', 'replace'] as const)(
  'while a message runs, one with the same key and %s joins it',
  async (whenBusy) => {
    const model = gate()
    const here = await harnessPlace(model.changes)
    const one = value(await here.harness.create(REHEARSAL))
    const two = value(await here.harness.open(one.id))
    const first = send(one, 'Hello', KEY)
    await model.asked
    const second = value(await two.admit('Hello', { ...KEY, whenBusy }))
    model.open()
    const { turn, ended } = await first
    expect(ended.status).toBe('completed')
    expect([second.turn, second.repeated]).toEqual([turn, true])
    expect(value(await second.done)).toEqual(ended)
    expect(await turnsWith(here, one, KEY.messageKey)).toEqual([turn])
  },
)

test('while a message waits for another Turn, one with the same key joins it', async () => {
  const model = gate()
  const here = await harnessPlace(model.changes)
  const one = value(await here.harness.create(REHEARSAL))
  const two = value(await here.harness.open(one.id))
  const running = send(one, 'Hello')
  await model.asked
  const queued = { ...KEY, whenBusy: 'queue' } as const
  const waiting = [send(one, 'Next', queued), send(two, 'Next', queued), send(two, 'Next', KEY)]
  model.open()
  expect((await running).ended.status).toBe('completed')
  const [first, ...others] = await Promise.all(waiting)
  expect(first).toMatchObject({ repeated: false, ended: { status: 'completed' } })
  for (const other of others) expect(other).toEqual({ ...first, repeated: true })
  expect(await turnsWith(here, one, KEY.messageKey)).toEqual([first?.turn])
})

test('while a message waits for a permission, one with the same key joins it', async () => {
  const here = await place()
  const asking = { ...REHEARSAL, permissionMode: 'ask' } as const
  const one = value(await here.harness.create(asking, { answers: true }))
  const two = value(await here.harness.open(one.id, { answers: true }))
  const requested = new Promise<string>((resolve) => {
    one.openQuestions.listen((change) => {
      if (change.kind === 'requested') resolve(change.question.request_id)
    })
  })
  const text = 'Write "calm" to a.txt.'
  const first = send(one, text, KEY)
  const request_id = await requested
  const second = value(await two.admit(text, KEY))
  expect(two.questions.map((question) => question.request_id)).toEqual([request_id])
  value(await here.harness.answer(request_id, { choice: 1 }))
  const { turn, ended } = await first
  expect(ended.status).toBe('completed')
  expect([second.turn, second.repeated]).toEqual([turn, true])
  expect(value(await second.done)).toEqual(ended)
  expect(one.events.filter(({ type }) => type === 'tool_result')).toHaveLength(1)
})

test('an interrupted message is not run again', async () => {
  const model = gate()
  const here = await harnessPlace(model.changes)
  const session = value(await here.harness.create(REHEARSAL))
  const sent = send(session, 'Hello', KEY)
  await model.asked
  session.interrupt()
  model.open()
  const first = await sent
  expect(first.ended.status).toBe('interrupted')
  expect(await send(session, 'Hello', KEY)).toEqual({ ...first, repeated: true })
})

test('another process returns the Turn, and is refused while it runs', async () => {
  const model = gate()
  const here = await harnessPlace(model.changes)
  const there = await place(here.root)
  const session = value(await here.harness.create(REHEARSAL))
  const other = value(await there.harness.open(session.id))
  const running = send(session, 'Hello', KEY)
  await model.asked
  expect(await other.admit('Hello', KEY)).toMatchObject({ error: { kind: 'session_busy' } })
  value(await other.catchUp())
  expect(await other.admit('Hello', KEY)).toMatchObject({ error: { kind: 'session_busy' } })
  model.open()
  const first = await running
  expect(first.ended.status).toBe('completed')
  expect(await send(other, 'Hello', KEY)).toEqual({ ...first, repeated: true })
  // The lock is free again.
  expect((await send(session, 'Next')).ended.status).toBe('completed')
  const later = value(await (await place(here.root)).harness.open(session.id))
  expect(await send(later, 'Hello', KEY)).toEqual({ ...first, repeated: true })
  expect(await turnsWith(here, session, KEY.messageKey)).toEqual([first.turn])
})

/** Records Turns with these keys that did nothing. */
async function recordTurns({ parts }: HarnessPlace, session: Session, keys: readonly string[]) {
  const drafts = keys.flatMap((message_key): EventDraft[] => {
    const turn_id = parts.log.place.ids.turn()
    const source = { presenter: 'test', message_key }
    const message = { text: 'Hello', prompt_mode: 'string' } as const
    const ended = { status: 'completed', usage_total: NO_USAGE } as const
    return [
      { type: 'turn_started', turn_id, data: { source } },
      { type: 'user_message', turn_id, data: message },
      { type: 'turn_ended', turn_id, data: ended },
    ]
  })
  value(await session.between(({ record }) => record(drafts)))
}

function keysFrom(first: number, count: number): string[] {
  return Array.from({ length: count }, (_, n) => `key ${first + n}`)
}

/** In this process and in a new one, each of these keys has its Turn, and an unused key runs. */
async function expectKnown(
  here: HarnessPlace & { root: string },
  session: Session,
  keys: string[],
) {
  const there = value(await (await place(here.root)).harness.open(session.id))
  for (const client of [session, there]) {
    for (const messageKey of keys) {
      const turns = await turnsWith(here, session, messageKey)
      const again = value(await client.admit('Hello', { messageKey }))
      expect([[again.turn], again.repeated]).toEqual([turns, true])
      expect(value(await again.done).status).toBe('completed')
    }
  }
  expect((await send(there, 'Hello', { messageKey: 'unused' })).repeated).toBe(false)
  expect((await send(session, 'Hello', { messageKey: 'unused' })).repeated).toBe(true)
}

test('a key is known after a checkpoint that replaced its Turn', async () => {
  const here = await place()
  const session = value(await here.harness.create(REHEARSAL))
  await send(session, 'Hello', KEY)
  await recordTurns(here, session, keysFrom(0, 3))
  await recordCheckpoint(here.parts, session, 1)
  await expectKnown(here, session, [KEY.messageKey, ...keysFrom(0, 3)])
})

test('a key is known after two checkpoints with more Turns than a checkpoint lists', async () => {
  const here = await place()
  const session = value(await here.harness.create(REHEARSAL))
  await send(session, 'Hello', KEY)
  await recordTurns(here, session, keysFrom(0, 300))
  await recordCheckpoint(here.parts, session, 0)
  await recordTurns(here, session, keysFrom(300, 300))
  await recordCheckpoint(here.parts, session, 1)
  await expectKnown(here, session, [KEY.messageKey, 'key 0', 'key 299', 'key 300', 'key 599'])
})

test('a key is known after a checkpoint was undone', async () => {
  const here = await place()
  const session = value(await here.harness.create(REHEARSAL))
  await send(session, 'Hello', KEY)
  await recordTurns(here, session, keysFrom(0, 3))
  await recordCheckpoint(here.parts, session, 1)
  await recordTurns(here, session, keysFrom(3, 1))
  value(await session.undoCompaction())
  await expectKnown(here, session, [KEY.messageKey, ...keysFrom(0, 4)])
})

test('a refused message stays refused, for the same reason and without a new Turn', async () => {
  const here = await place()
  const session = value(await here.harness.create(REHEARSAL))
  const missing = { from: 'path', path: join(here.workspace, 'missing.png') } as const
  const options = { ...KEY, attachments: [missing] }
  const refused = await session.admit('', options)
  if (refused.ok) expect.fail('the message has nothing to send')
  const { kind, message } = refused.error
  const there = value(await (await place(here.root)).harness.open(session.id))
  for (const client of [session, there]) {
    const again = await client.admit('', options)
    // The Log does not have the details, which contain paths of the client.
    expect(again).toMatchObject({ error: { kind, message, details: {} } })
  }
  expect(await turnsWith(here, session, KEY.messageKey)).toHaveLength(1)
  // The lock is free again.
  expect((await send(there, 'Next')).ended.status).toBe('completed')
})

test('a message that was not recorded does not use up its key', async () => {
  const model = gate()
  const here = await place()
  const busy = await harnessPlace(model.changes, here.root)
  const session = value(await here.harness.create(REHEARSAL))
  const other = value(await busy.harness.open(session.id))
  const kindOf = async (text: string, options: AdmitOptions = {}) => {
    const sent = await session.admit(text, { ...KEY, ...options })
    return sent.ok ? undefined : sent.error.kind
  }
  expect(await kindOf('x'.repeat(LIMITS.user_text_bytes + 1))).toBe('too_large')
  expect(await kindOf('')).toBe('invalid_args')
  expect(await kindOf('Hello', { skills: [{ name: 'unknown' }] })).toBe('not_found')
  expect(await kindOf('Hello', { views: ['@img9'] })).toBe('not_found')
  const running = send(other, 'Hello')
  await model.asked
  expect(await kindOf('Hello')).toBe('session_busy')
  model.open()
  await running
  expect(await send(session, 'Hello', KEY)).toMatchObject({
    repeated: false,
    ended: { status: 'completed' },
  })
  expect(await turnsWith(here, session, KEY.messageKey)).toHaveLength(1)
})

test.each([
  ['empty', ''],
  ['too long', 'x'.repeat(129)],
  ['too long in UTF-8', 'é'.repeat(65)],
  ['not Unicode', 'a\ud800'],
  ['an API key', CANARY_KEY],
  ['text with an API key', `a ${CANARY_KEY} b`],
])('a key that is %s is refused', async (_, messageKey) => {
  const here = await harnessPlace({ log: { secrets: [CANARY_KEY] } })
  const session = value(await here.harness.create(REHEARSAL))
  const next = session.nextSeq
  const sent = await session.admit('Hello', { messageKey })
  expect(sent).toMatchObject({ error: { kind: 'invalid_args' } })
  expect(session.nextSeq).toBe(next)
  expect((await send(session, 'Hello', { messageKey: 'é'.repeat(64) })).repeated).toBe(false)
})

test.each(['turn_ended', 'user_message'] as const)(
  'a salvaged Log without a %s knows the keys of its Turns',
  async (type) => {
    const here = await place()
    const session = value(await here.harness.create(REHEARSAL))
    const first = await send(session, 'Hello', KEY)
    const second = await send(session, 'Next', { messageKey: 'message 2' })
    await send(session, 'And then')
    await session.close()
    const { sessions } = asFilePlace(here.parts.log.place).folders
    const lines = linesOf(await rawLog(sessions, session.id))
    const lost = session.events.find((e) => e.type === type && e.turn_id === second.turn)
    lines[lost?.seq ?? 0]?.fill('x', 10, 20)
    await registerDamage(here.root, 'log', 'One line is damaged.')
    await registerDamage(here.root, 'events', 'The damaged line is missing in the salvaged Log.')
    await overwrite(sessions, logName(session.id), Buffer.concat(lines))
    const { session_id } = value(await here.harness.salvage(session.id))
    const salvaged = value(await here.harness.open(session_id))
    expect(await send(salvaged, 'Hello', KEY)).toEqual({ ...first, repeated: true })
    const again = value(await salvaged.admit('Next', { messageKey: 'message 2' }))
    expect([again.turn, again.repeated]).toEqual([second.turn, true])
    const done = await again.done
    const notices = [expect.objectContaining({ code: 'salvage_gap' })]
    if (type === 'user_message') expect(value(done)).toEqual({ ...second.ended, notices })
    else expect(done).toMatchObject({ error: { kind: 'log_damaged' } })
    expect((await send(salvaged, 'Hello', { messageKey: 'unused' })).repeated).toBe(false)
  },
)
