import { expect, test } from 'vitest'
import { wholeEvents } from '../../../../../test/support/history/sample-resources.ts'
import { TurnId } from '../../../../model/ids.ts'
import { answersIn, blockOf } from './copy-command.ts'

const ANSWER = [
  'First:',
  '```ts',
  'const a = 1',
  '```',
  'Then:',
  '~~~~',
  '```',
  'inside',
  '~~~~',
  '```sh',
  'open',
].join('\n')

test.each([
  [1, 'const a = 1'],
  [2, '```\ninside'],
  [3, 'open'],
  [undefined, 'open'],
  [4, undefined],
])('code block %j of an answer is found by its number, also one that does not end', (at, code) => {
  expect(blockOf(ANSWER, at)).toBe(code)
})

test('an answer is the last text of its Turn', () => {
  const said = (turn_id: string, text: string) =>
    ({
      type: 'assistant_message',
      turn_id: TurnId.parse(turn_id),
      data: { text },
    }) as const
  const events = wholeEvents([
    said('trn_01kg8m2q3r4s5t6v7w8x9y0z11', 'I will read it.'),
    said('trn_01kg8m2q3r4s5t6v7w8x9y0z11', 'It says hello.'),
    said('trn_01kg8m2q3r4s5t6v7w8x9y0z12', 'Done.'),
    said('trn_01kg8m2q3r4s5t6v7w8x9y0z12', ' '),
  ])
  expect(answersIn(events)).toEqual(['It says hello.', 'Done.'])
})
