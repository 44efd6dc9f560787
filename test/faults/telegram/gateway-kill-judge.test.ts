import { expect, test } from 'vitest'
import type { WholeEvent } from '../../../src/model/events/event.ts'
import type { Frame } from '../../../src/model/tether/frame.ts'
import { gatewayVerdict, type ChatEvidence, type GatewayEvidence } from './gateway-kill-judge.ts'

const SENT = ['one', 'two'].map((word) => ({ word, key: `1/7/${word}` }))

/** A frame or an Event, as far as the judge looks. */
const frame = (type: string, of: string, fields: object) =>
  ({ type, session: { channel: 'telegram', id: '7' }, ...fields, of }) as unknown as Frame
const message = (word: string) => frame('user.message', word, { msg_id: `1/7/${word}` })
const answer = (word: string) =>
  frame('assistant.done', word, { in_reply_to: `1/7/${word}`, payload: { text: `about ${word}` } })
const turn = (word: string) =>
  ({ type: 'turn_started', data: { source: { message_key: `1/7/${word}` } } }) as WholeEvent
const shown = (word: string, era = 0) => ({ text: `about ${word}`, era })

const GOOD: GatewayEvidence & { readonly chats: readonly [ChatEvidence] } = {
  chats: [{ chat: 7, sent: SENT, shown: [shown('one'), shown('two')] }],
  stored: [message('one'), answer('one'), message('two'), answer('two')],
  events: [turn('one'), turn('two')],
}
const showing = (...texts: ChatEvidence['shown']): GatewayEvidence => ({
  ...GOOD,
  chats: [{ ...GOOD.chats[0], shown: texts }],
})

test('messages that ran once and are shown once are in order', () => {
  expect(gatewayVerdict(GOOD)).toEqual({ offences: [], doubled: 0, interrupted: 0 })
})

test('a message that is shown by two processes is a double, and counted', () => {
  const evidence = showing(shown('one', 0), shown('one', 1), shown('two', 1))
  expect(gatewayVerdict(evidence)).toEqual({ offences: [], doubled: 1, interrupted: 0 })
})

const PLANTED: Readonly<Record<string, GatewayEvidence>> = {
  'a message that ran twice': { ...GOOD, events: [turn('one'), turn('one'), turn('two')] },
  'a message that did not run': { ...GOOD, events: [turn('one')] },
  'a message that is stored twice': { ...GOOD, stored: [message('one'), ...GOOD.stored] },
  'a message that ended twice': { ...GOOD, stored: [...GOOD.stored, answer('two')] },
  'a message that is lost': { ...GOOD, stored: GOOD.stored.slice(0, 2) },
  'an answer that is lost': showing(shown('one')),
  'answers out of order': showing(shown('two'), shown('one')),
  'an answer that one process shows twice': showing(shown('one'), shown('one'), shown('two')),
  'an answer that comes again later': showing(shown('one'), shown('two'), shown('one', 1)),
  'an unknown answer': showing(shown('one'), shown('two'), { text: 'hello', era: 0 }),
}

test.each(Object.entries(PLANTED))('%s is caught', (_, evidence) => {
  expect(gatewayVerdict(evidence).offences).not.toEqual([])
})
