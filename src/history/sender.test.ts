import { expect, test } from 'vitest'
import { wholeEvents } from '../../test/support/history/sample-resources.ts'
import { TurnId } from '../model/ids.ts'
import type { WholeEvent } from '../model/events/event.ts'
import { Conversation } from './conversation.ts'

const turn = TurnId.parse('trn_01kg8m2q3r4s5t6v7w8x9y0z12')

function messages(name: string, steer: string): WholeEvent[] {
  const user = { id: '7', name }
  return wholeEvents([
    { type: 'turn_started', data: { source: { presenter: 'tether', channel: 'host', user } } },
    { type: 'user_message', data: { text: 'Hello', prompt_mode: 'string' } },
    { type: 'user_message', data: { text: steer, prompt_mode: 'string', steer: true } },
  ]).map((event) => ({ ...event, turn_id: turn }))
}

function texts(events: readonly WholeEvent[], shown = 0): unknown[] {
  return new Conversation(events, { turn, replay: 'window' }, shown)
    .items()
    .flatMap((item) => ('parts' in item ? item.parts : []))
    .map((part) => (part.type === 'text' ? part.text : part.type))
}

test('a message names its sender, also if the start of its Turn was shown before [TI-078]', () => {
  const events = messages('Alice', 'and more')
  expect(texts(events)).toEqual(['[Alice]: Hello', 'and more'])
  expect(texts(events, 1)).toEqual(['[Alice]: Hello', 'and more'])
})

test('a message without the name of its sender is its text', () => {
  expect(texts(messages('', 'and more'))).toEqual(['Hello', 'and more'])
})
