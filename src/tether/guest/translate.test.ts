import { expect, test } from 'vitest'
import { sampleDescriptor } from '../../../test/support/history/sample-resources.ts'
import { LIMITS } from '../../model/limits.ts'
import { FrameToHost } from '../../model/tether/frame.ts'
import { frameText } from '../frames/frame-text.ts'
import type { TurnResult } from '../../session/admission/admit-options.ts'
import { endOf } from './translate.ts'

const RESULT: TurnResult = {
  turn_id: 'trn_01kg8m2q3r4s5t6v7w8x9y0z12',
  status: 'completed',
  text: 'Done.',
  resources: [],
  usage: { input: 0, cached_read: 0, cache_write: 0, output: 0, reasoning: 0, calls: 0 },
  notices: [],
  denied: 0,
}

test('an attachment that cannot travel with the answer is named in it', () => {
  const images = [1, 2, 3, 4, 5].map((n) => sampleDescriptor(`@img${n}`))
  const report = sampleDescriptor('@pdf6', {
    kind: 'pdf',
    name: 'report.pdf',
    media_type: 'application/pdf',
    blob: `${'ab'.repeat(32)}.pdf`,
    content_sha256: 'ab'.repeat(32),
  })
  const end = endOf({ ...RESULT, resources: [report, ...images] })
  expect(end.type === 'done' && end.images.length).toBe(LIMITS.frame_images)
  expect(
    end.notices?.map(({ code, text }) => [code, text.split(' ').slice(0, 2).join(' ')]),
  ).toEqual([
    ['attachment_not_sent', '@pdf6 report.pdf'],
    ['attachment_not_sent', '@img5 img5.png'],
  ])
})

test('a failed message tells its notices too', () => {
  const notices = [{ code: 'retry', text: 'Trying again.' }]
  expect(endOf({ ...RESULT, status: 'failed', notices })).toMatchObject({ type: 'error', notices })
})

test('many long notices fit into a frame beside the longest text, and the last one counts the others', () => {
  const notices = Array.from({ length: 50 }, (_, n) => ({
    code: `code${n}`,
    text: '\u0001'.repeat(5_000),
  }))
  const end = endOf({ ...RESULT, notices })
  expect(end.notices).toHaveLength(LIMITS.frame_notices)
  expect(end.notices?.at(-1)).toEqual({
    code: 'more_notices',
    text: '31 more notices are in the Log of the Session.',
  })
  const told = JSON.stringify({ notices: end.notices })
  const { text } = frameText('\u0001'.repeat(300_000), Buffer.byteLength(told))
  const frame = FrameToHost.parse({
    v: 1,
    type: 'assistant.done',
    ts: '2026-01-31T12:00:00.000Z',
    session: { channel: 'host', id: 'default' },
    msg_id: 'm',
    payload: { text, status: 'completed', truncated: true, notices: end.notices },
  })
  expect(Buffer.byteLength(JSON.stringify(frame))).toBeLessThanOrEqual(LIMITS.frame_bytes)
})

test('an interrupted message says why, after what was answered before', () => {
  const error = { kind: 'interrupted', message: 'Hawser stopped during this Turn.' } as const
  expect(endOf({ ...RESULT, status: 'interrupted', text: 'The sea ', error })).toMatchObject({
    type: 'done',
    text: 'The sea \n\n[Hawser stopped during this Turn.]',
  })
})
