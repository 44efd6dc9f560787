import { expect, test } from 'vitest'
import { random } from '../../../test/support/host/random.ts'
import { KEY_PLACEHOLDER, Redactor } from '../../encoding/redaction.ts'
import type { EphemeralEvent, EventDraft } from '../../model/events/event.ts'
import { SessionId } from '../../model/ids.ts'
import { RedactedNotices } from './redacted-notices.ts'

const KEY = 'sk-canary-1234'
const session_id = SessionId.parse('ses_01jz0000000000000000000000')

function scene() {
  const seen: EphemeralEvent[] = []
  const notices = new RedactedNotices(new Redactor([KEY]), (notice) => void seen.push(notice))
  const progress = (call_id: string, text: string) =>
    notices.notice({ type: 'tool_progress', session_id, data: { call_id, text } })
  const textOf = (type: string, call_id?: string) =>
    seen
      .flatMap((notice) => {
        if (notice.type !== type || !('text' in notice.data)) return []
        return 'call_id' in notice.data && notice.data.call_id !== call_id ? [] : [notice.data.text]
      })
      .join('')
  return { seen, notices, progress, textOf }
}

function resultOf(call_id: string): EventDraft {
  return {
    type: 'tool_result',
    data: { call_id, name: 'bash', outcome: 'ok', output: '', duration_ms: 0 },
  }
}

test('a key split over notices of one call is redacted, even with notices of another call in between', () => {
  for (let seed = 0; seed < 200; seed += 1) {
    const chance = random(seed)
    const { notices, progress, textOf } = scene()
    const rest = new Map([
      ['a', `1 ${KEY} 2 ${KEY}`],
      ['b', `${KEY}${KEY.slice(0, 5)}`],
    ])
    while ([...rest.values()].some((text) => text !== '')) {
      const call = chance.pick(['a', 'b'])
      const text = rest.get(call) ?? ''
      const length = 1 + chance.below(9)
      if (text !== '') progress(call, text.slice(0, length))
      rest.set(call, text.slice(length))
    }
    notices.endWith([resultOf('a'), resultOf('b')])
    expect(textOf('tool_progress', 'a')).toBe(`1 ${KEY_PLACEHOLDER} 2 ${KEY_PLACEHOLDER}`)
    expect(textOf('tool_progress', 'b')).toBe(`${KEY_PLACEHOLDER}sk-ca`)
  }
})

test('held-back text of an answer is emitted before the Event with the whole', () => {
  const { seen, notices, textOf } = scene()
  notices.notice({ type: 'text_delta', session_id, data: { text: 'the sk-can' } })
  notices.notice({ type: 'reasoning_delta', session_id, data: { text: 's' } })
  expect(textOf('text_delta')).toBe('the ')
  notices.endWith([{ type: 'assistant_message', data: { text: 'the sk-can' } }])
  expect([textOf('text_delta'), textOf('reasoning_delta')]).toEqual(['the sk-can', 's'])
  const count = seen.length
  notices.endWith([{ type: 'assistant_message', data: { text: 'again' } }])
  expect(seen.length).toBe(count)
})

test('the result of one call does not end the stream of another', () => {
  const { notices, progress, textOf } = scene()
  progress('a', KEY.slice(0, 6))
  notices.endWith([resultOf('b')])
  progress('a', KEY.slice(6))
  notices.endWith([resultOf('a')])
  expect(textOf('tool_progress', 'a')).toBe(KEY_PLACEHOLDER)
})

test('any other notice is redacted as a whole', () => {
  const { seen, notices } = scene()
  notices.notice({ type: 'status', session_id, data: { text: `waiting for ${KEY}` } })
  expect(seen).toEqual([
    { type: 'status', session_id, data: { text: `waiting for ${KEY_PLACEHOLDER}` } },
  ])
})
