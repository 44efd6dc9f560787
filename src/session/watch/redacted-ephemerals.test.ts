import { expect, test } from 'vitest'
import { random } from '../../../test/support/host/random.ts'
import { KEY_PLACEHOLDER, Redactor } from '../../encoding/redaction.ts'
import type { EphemeralEvent, EventDraft } from '../../model/events/event.ts'
import { SessionId } from '../../model/ids.ts'
import { RedactedEphemerals } from './redacted-ephemerals.ts'

const KEY = 'sk-canary-1234'
const session_id = SessionId.parse('ses_01jz0000000000000000000000')

function scene() {
  const seen: EphemeralEvent[] = []
  const ephemerals = new RedactedEphemerals(new Redactor([KEY]), (event) => void seen.push(event))
  const progress = (call_id: string, text: string) =>
    ephemerals.publish({ type: 'tool_progress', session_id, data: { call_id, text } })
  const textOf = (type: string, call_id?: string) =>
    seen
      .flatMap((event) => {
        if (event.type !== type || !('text' in event.data)) return []
        return 'call_id' in event.data && event.data.call_id !== call_id ? [] : [event.data.text]
      })
      .join('')
  return { seen, ephemerals, progress, textOf }
}

function resultOf(call_id: string): EventDraft {
  return {
    type: 'tool_result',
    data: { call_id, name: 'bash', outcome: 'ok', output: '', duration_ms: 0 },
  }
}

test('a key split over ephemerals of one call is redacted, even with ephemerals of another call in between', () => {
  for (let seed = 0; seed < 200; seed += 1) {
    const chance = random(seed)
    const { ephemerals, progress, textOf } = scene()
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
    ephemerals.endWith([resultOf('a'), resultOf('b')])
    expect(textOf('tool_progress', 'a')).toBe(`1 ${KEY_PLACEHOLDER} 2 ${KEY_PLACEHOLDER}`)
    expect(textOf('tool_progress', 'b')).toBe(`${KEY_PLACEHOLDER}sk-ca`)
  }
})

test('held-back text of an answer is emitted before the Event with the whole', () => {
  const { seen, ephemerals, textOf } = scene()
  ephemerals.publish({ type: 'text_delta', session_id, data: { text: 'the sk-can' } })
  ephemerals.publish({ type: 'reasoning_delta', session_id, data: { text: 's' } })
  expect(textOf('text_delta')).toBe('the ')
  ephemerals.endWith([{ type: 'assistant_message', data: { text: 'the sk-can' } }])
  expect([textOf('text_delta'), textOf('reasoning_delta')]).toEqual(['the sk-can', 's'])
  const count = seen.length
  ephemerals.endWith([{ type: 'assistant_message', data: { text: 'again' } }])
  expect(seen.length).toBe(count)
})

test('the result of one call does not end the stream of another', () => {
  const { ephemerals, progress, textOf } = scene()
  progress('a', KEY.slice(0, 6))
  ephemerals.endWith([resultOf('b')])
  progress('a', KEY.slice(6))
  ephemerals.endWith([resultOf('a')])
  expect(textOf('tool_progress', 'a')).toBe(KEY_PLACEHOLDER)
})

test('any other ephemeral event is redacted as a whole', () => {
  const { seen, ephemerals } = scene()
  ephemerals.publish({ type: 'status', session_id, data: { text: `waiting for ${KEY}` } })
  expect(seen).toEqual([
    { type: 'status', session_id, data: { text: `waiting for ${KEY_PLACEHOLDER}` } },
  ])
})
