import { expect, test } from 'vitest'
import { CANARY_KEY } from '../../../test/support/host/canary.ts'
import { envelope } from '../../../test/support/tether/host-end.ts'
import { revealsKey } from '../../../test/support/session/keyed-place.ts'
import { KEY_PLACEHOLDER, Redactor } from '../../encoding/redaction.ts'
import { systemClock } from '../../host/clock.ts'
import { systemIds } from '../../host/ids.ts'
import { LIMITS } from '../../model/limits.ts'
import { Frame, type FrameToHost } from '../../model/tether/frame.ts'
import { RedactedFrames } from './redacted-frames.ts'

const ids = systemIds(systemClock)

function redacting(keys: readonly string[] = [CANARY_KEY]) {
  const passed: FrameToHost[] = []
  const frames = new RedactedFrames(new Redactor(keys), ids, async (frame) => {
    passed.push(frame)
  })
  let count = 0
  const take = (type: string, payload: object, to = 'm1') => {
    count += 1
    const frame = { ...envelope(`g${count}`, 'default'), in_reply_to: to, type, payload }
    return frames.take(frame as FrameToHost)
  }
  const text = (type: string, to = 'm1') =>
    passed
      .filter((frame) => frame.type === type && frame.in_reply_to === to)
      .map(({ payload }) => ('text' in payload ? payload.text : ''))
      .join('')
  return { passed, take, text }
}

const DONE = { text: 'Done.', status: 'completed' }

test('a key that is split over deltas in any way is redacted', async () => {
  const said = `It is ${CANARY_KEY}, really.`
  for (let size = 1; size <= said.length; size += 1) {
    const { passed, take, text } = redacting()
    for (let at = 0; at < said.length; at += size)
      await take('assistant.delta', { text: said.slice(at, at + size) })
    await take('assistant.done', { ...DONE, text: said })
    expect(text('assistant.delta')).toBe(`It is ${KEY_PLACEHOLDER}, really.`)
    expect(text('assistant.done')).toBe(`It is ${KEY_PLACEHOLDER}, really.`)
    expect(new Set(passed.map(({ msg_id }) => msg_id)).size).toBe(passed.length)
  }
})

test('answers that are streamed at the same time do not mix', async () => {
  const { take, text } = redacting()
  const [one, other] = [CANARY_KEY.slice(0, 15), CANARY_KEY.slice(15)]
  await take('assistant.delta', { text: one }, 'm1')
  await take('reasoning.delta', { text: one }, 'm1')
  await take('assistant.delta', { text: 'a harmless text' }, 'm2')
  await take('assistant.delta', { text: other }, 'm1')
  await take('reasoning.delta', { text: 'another end' }, 'm1')
  await take('assistant.done', DONE, 'm2')
  await take('assistant.done', DONE, 'm1')
  expect(text('assistant.delta', 'm1')).toBe(KEY_PLACEHOLDER)
  expect(text('reasoning.delta', 'm1')).toBe(`${one}another end`)
  expect(text('assistant.delta', 'm2')).toBe('a harmless text')
})

test.each([
  ['error', { kind: 'network', message: 'It failed.', retryable: true }],
  ['assistant.done', { text: 'So far', status: 'interrupted' }],
])('the beginning of a key before an end by %s is redacted', async (type, payload) => {
  const { take, text, passed } = redacting()
  await take('assistant.delta', { text: `It is ${CANARY_KEY.slice(0, 20)}` })
  await take(type, payload)
  expect(text('assistant.delta')).toBe(`It is ${KEY_PLACEHOLDER}`)
  expect(passed.map((frame) => frame.type)).toEqual(['assistant.delta', 'assistant.delta', type])
})

test('every other frame is redacted, also where a guest cut it', async () => {
  const half = CANARY_KEY.slice(0, 20)
  const { take, passed } = redacting()
  await take('event.ack', { status: CANARY_KEY })
  await take('status.presence', { state: `tool: ${CANARY_KEY}` })
  await take('status.presence', { state: `tool: ${half}…` })
  await take('error', { kind: 'network', message: `no ${CANARY_KEY}: ${half}…`, retryable: true })
  await take('assistant.done', {
    text: `${CANARY_KEY} ${half}`,
    status: 'completed',
    truncated: true,
  })
  const notices = [{ code: 'retry', text: `${CANARY_KEY} ${half}…` }]
  await take('assistant.done', { ...DONE, notices })
  await take('error', { kind: 'network', message: 'no', retryable: true, notices })
  expect(passed).toHaveLength(7)
  expect(revealsKey(JSON.stringify(passed))).toBe(false)
})

test('a notice is not longer than a frame may have, whatever a placeholder replaces', async () => {
  const { take, passed } = redacting()
  const text = `${'x'.repeat(LIMITS.frame_notice_bytes - 15)}${CANARY_KEY.slice(0, 12)}…`
  await take('assistant.done', { ...DONE, notices: [{ code: 'retry', text }] })
  const [frame] = passed
  expect(Frame.safeParse({ ...frame, seq: 1 }).success).toBe(true)
  expect(revealsKey(JSON.stringify(passed))).toBe(false)
})

test('without a key, every frame passes as it is', async () => {
  const { take, passed } = redacting([])
  await take('assistant.delta', { text: '' })
  await take('assistant.done', DONE)
  expect(passed.map(({ payload }) => payload)).toEqual([{ text: '' }, DONE])
})
