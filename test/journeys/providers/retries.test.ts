import { expect, test } from 'vitest'
import type { Session } from '../../../src/session/session.ts'
import { VENDOR_DIALECTS } from '../../support/providers/dialects.ts'
import { value } from '../../support/log/story.ts'
import { eventsOf, sseOf, type VendorAnswer } from '../../support/providers/vendor-answer.ts'
import { recordingClock, vendorPlace } from '../../support/providers/vendor-place.ts'
import { scriptedServer, type ScriptedAnswer } from '../../support/providers/vendor-server.ts'
import type { VendorDialect } from '../../support/providers/vendor-schemas.ts'

const RETRIES = 4
const NOW = Date.UTC(2026, 5, 1)

/** A Turn against a server that returns these answers in order and then repeats the last one. */
async function turn(
  dialect: VendorDialect,
  ...answers: readonly [ScriptedAnswer, ...ScriptedAnswer[]]
) {
  let next = 0
  const server = await scriptedServer(() => answers[Math.min(next++, answers.length - 1)] ?? 'cut')
  const clock = recordingClock(() => NOW)
  const { harness } = await vendorPlace(server, { retries: RETRIES, clock })
  const session = value(await harness.create({ provider: dialect, model: 'a-model' }))
  const ended = value(await value(await session.admit('Good morning.')).done)
  const { requests } = value(await harness.verify(session.id, { requests: true }))
  expect(requests?.mismatches).toEqual([])
  expect(requests?.requests).toBe(server.requests.length)
  return { ended, session, sent: server.requests.length, waits: clock.waits, server }
}

function refusal(
  dialect: VendorDialect,
  status: number,
  { type = 'error', code = null, headers = {} }: Refusing = {},
): ScriptedAnswer {
  const message = 'No.'
  const error = dialect === 'messages' ? { type, message } : { type, message, code, param: null }
  const body = dialect === 'messages' ? { type: 'error', error } : { error }
  return { status, headers, body: JSON.stringify(body) }
}

interface Refusing {
  readonly type?: string
  readonly code?: string | null
  readonly headers?: Readonly<Record<string, string>>
}

function answering(
  dialect: VendorDialect,
  answer: VendorAnswer = { text: 'Good morning.' },
): ScriptedAnswer {
  return { body: sseOf(dialect, answer) }
}

function attempts(session: Session): number[] {
  return session.events.flatMap((e) => (e.type === 'provider_request' ? [e.data.attempt] : []))
}

const PASSING = [
  { status: 429, type: 'rate_limit_error', kind: 'rate_limited' },
  { status: 529, type: 'overloaded_error', kind: 'overloaded' },
  { status: 503, type: 'server_error', kind: 'overloaded' },
  { status: 500, type: 'api_error', kind: 'overloaded' },
] as const

const EACH = VENDOR_DIALECTS.flatMap((dialect) => PASSING.map((one) => ({ dialect, ...one })))

test.each(EACH)(
  '$dialect: $status is retried, and the later answer counts',
  async ({ dialect, status, type, kind }) => {
    const { ended, sent, waits, session } = await turn(
      dialect,
      refusal(dialect, status, { type }),
      answering(dialect),
    )
    expect([ended.status, sent, waits.length]).toEqual(['completed', 2, 1])
    expect(attempts(session)).toEqual([0, 1])
    const notices = session.events.flatMap((e) => (e.type === 'notice' ? [e.data.text] : []))
    expect(notices).toEqual([`Trying again after ${kind} (retry 1 of 4): No.`])
  },
)

test.each(EACH)(
  '$dialect: a permanent $status ends the Turn after four retries, each after a longer wait',
  async ({ dialect, status, type, kind }) => {
    const { ended, sent, waits } = await turn(dialect, refusal(dialect, status, { type }))
    expect([ended.status, ended.error?.kind, sent]).toEqual(['failed', kind, RETRIES + 1])
    expect(waits).toEqual([375, 750, 1500, 3000])
  },
)

test.each(EACH)(
  '$dialect: after $status there is no retry before the time that the server set',
  async ({ dialect, status, type }) => {
    const seconds = refusal(dialect, status, { type, headers: { 'retry-after': '7' } })
    const soon = new Date(NOW + 60_000).toUTCString()
    const date = refusal(dialect, status, { type, headers: { 'retry-after': soon } })
    const { waits, sent } = await turn(dialect, seconds, date, answering(dialect))
    expect([sent, waits]).toEqual([3, [7_125, 60_250]])
  },
)

const FINAL = [
  { status: 401, type: 'authentication_error', kind: 'auth' },
  { status: 403, type: 'permission_error', kind: 'auth' },
  { status: 402, type: 'billing_error', kind: 'usage_limit' },
  { status: 400, type: 'invalid_request_error', kind: 'invalid_args' },
  { status: 404, type: 'not_found_error', kind: 'not_found' },
] as const

test.each(VENDOR_DIALECTS.flatMap((dialect) => FINAL.map((one) => ({ dialect, ...one }))))(
  '$dialect: $status is not retried',
  async ({ dialect, status, type, kind }) => {
    const headers = { 'request-id': 'req_7', 'x-request-id': 'req_7' }
    const refused = refusal(dialect, status, { type, headers })
    const { ended, sent, waits } = await turn(dialect, refused)
    expect([ended.status, ended.error?.kind, sent, waits]).toEqual(['failed', kind, 1, []])
    const says = `No. (${dialect}, status ${status}, request req_7)`
    expect(ended.error?.message.endsWith(says) ? says : ended.error?.message).toBe(says)
  },
)

test.each(
  VENDOR_DIALECTS.flatMap((dialect) => [301, 302, 307, 308].map((status) => ({ dialect, status }))),
)(
  '$dialect: a redirect with status $status is not followed and not tried again',
  async ({ dialect, status }) => {
    const headers = { location: 'http://127.0.0.1:9/elsewhere' }
    const { ended, sent, waits } = await turn(dialect, { status, headers, body: '' })
    expect([ended.error?.kind, sent, waits]).toEqual(['not_configured', 1, []])
  },
)

test.each(VENDOR_DIALECTS)(
  '%s: an unreadable answer is requested a second time, and not a third',
  async (dialect) => {
    const garbage = { body: 'data: {rubbish\n\n' }
    const { ended, sent, session } = await turn(dialect, garbage)
    expect([ended.error?.kind, sent, attempts(session)]).toEqual(['invalid_response', 2, [0, 1]])
    const second = await turn(dialect, garbage, answering(dialect))
    expect([second.ended.status, second.sent]).toEqual(['completed', 2])
    const overloaded = refusal(dialect, 529, { type: 'overloaded_error' })
    const mixed = await turn(dialect, overloaded, garbage, overloaded, garbage, answering(dialect))
    expect([mixed.ended.error?.kind, mixed.sent]).toEqual(['invalid_response', 4])
  },
)

test.each(VENDOR_DIALECTS)(
  '%s: a spend limit is not retried, although it has the status of a rate limit',
  async (dialect) => {
    const { ended, sent } = await turn(
      dialect,
      refusal(dialect, 429, { type: 'insufficient_quota', code: 'insufficient_quota' }),
    )
    expect([ended.error?.kind, sent]).toEqual(['usage_limit', 1])
  },
)

test.each(VENDOR_DIALECTS)(
  '%s: a prompt that is too long is recognized, and not retried',
  async (dialect) => {
    const message = 'prompt is too long: 300000 tokens > 200000 maximum'
    const error = {
      type: 'invalid_request_error',
      message,
      code: 'context_length_exceeded',
      param: null,
    }
    const body = JSON.stringify(dialect === 'messages' ? { type: 'error', error } : { error })
    const { ended, sent } = await turn(dialect, { status: 400, body })
    expect([ended.error?.kind, sent]).toEqual(['context_overflow', 1])
  },
)

const REFUSED: Readonly<Record<VendorDialect, string>> = {
  messages: 'refusal',
  responses: 'content_filter',
  chat: 'content_filter',
}

test.each(VENDOR_DIALECTS)(
  '%s: a refusal of the model ends the Turn as refused',
  async (dialect) => {
    const { ended, sent } = await turn(dialect, answering(dialect, { stop: REFUSED[dialect] }))
    expect([ended.status, ended.error?.kind, sent]).toEqual(['failed', 'refused', 1])
  },
)

test.each(VENDOR_DIALECTS)(
  '%s: an answer that was partly shown is not requested again, and is kept as a partial answer',
  async (dialect) => {
    const bytes = sseOf(dialect, { text: 'It was a long and quiet morning.' })
    const events = eventsOf(dialect, { text: 'It was a long and quiet morning.' })
    expect(events.length).toBeGreaterThan(3)
    const cutAfter =
      bytes.indexOf('quiet') > 0 ? bytes.indexOf('quiet') : Math.floor(bytes.length * 0.6)
    const { ended, sent, session } = await turn(dialect, { body: bytes, cutAfter })
    expect([ended.status, ended.error?.kind, sent]).toEqual(['failed', 'network', 1])
    const partial = session.events.find((e) => e.type === 'assistant_message')
    expect(partial?.data).toMatchObject({ partial: true, text: expect.stringContaining('It was') })
  },
)

test.each(VENDOR_DIALECTS)(
  '%s: an error after the status is a failure like any other',
  async (dialect) => {
    const error = { type: 'overloaded_error', message: 'No.', code: 'server_is_overloaded' }
    const event = {
      messages: `event: error\ndata: ${JSON.stringify({ type: 'error', error })}\n\n`,
      responses: `event: error\ndata: ${JSON.stringify({ ...error, type: 'error', param: null })}\n\n`,
      chat: `data: ${JSON.stringify({ error })}\n\n`,
    }[dialect]
    const { ended, sent, waits } = await turn(dialect, { body: event }, answering(dialect))
    expect([ended.status, sent, waits.length]).toEqual(['completed', 2, 1])
  },
)

test('a text that arrived whole, without deltas, is not requested again either', async () => {
  const whole = sseOf('responses', { text: 'It was a long and quiet morning.' }).toString('utf8')
  const frames = whole.split('\n\n').filter((frame) => !frame.includes('output_text.delta'))
  const end = frames.findIndex((frame) => frame.includes('response.completed'))
  const body = frames
    .slice(0, end)
    .map((frame) => `${frame}\n\n`)
    .join('')
  const { ended, sent, session } = await turn('responses', { body })
  expect([ended.status, sent]).toEqual(['failed', 1])
  const kept = session.events.flatMap((e) => (e.type === 'assistant_message' ? [e.data] : []))
  expect(kept).toEqual([{ text: 'It was a long and quiet morning.', partial: true }])
})

test('an interrupt during a wait ends the Turn, and no further request is sent', async () => {
  const server = await scriptedServer(() => refusal('messages', 529, { type: 'overloaded_error' }))
  const { harness } = await vendorPlace(server, { retries: RETRIES })
  const session = value(await harness.create({ provider: 'messages', model: 'a-model' }))
  const watching = session.subscribe()
  const admitted = value(await session.admit('Good morning.'))
  for await (const seen of watching) {
    if (seen.kind === 'ephemeral' && seen.ephemeral.type === 'status') break
  }
  session.interrupt()
  expect(value(await admitted.done).status).toBe('interrupted')
  expect(server.requests.length).toBe(1)
})

test('the status counts the retries', async () => {
  const overloaded = refusal('messages', 529, { type: 'overloaded_error' })
  const server = await scriptedServer(() => overloaded)
  const { harness } = await vendorPlace(server, { retries: 2, clock: recordingClock() })
  const session = value(await harness.create({ provider: 'messages', model: 'a-model' }))
  const watching = session.subscribe()
  const { done } = value(await session.admit('Good morning.'))
  const seen: string[] = []
  for await (const update of watching) {
    if (update.kind === 'ephemeral' && update.ephemeral.type === 'status')
      seen.push(update.ephemeral.data.text)
    if (update.kind === 'line' && update.whole?.type === 'turn_ended') break
  }
  value(await done)
  expect(seen).toEqual(['overloaded: retry 1 of 2 in 0.4 s', 'overloaded: retry 2 of 2 in 0.8 s'])
})
