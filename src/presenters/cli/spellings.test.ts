import { expect, test } from 'vitest'
import { COMMANDS } from './command-table.ts'
import { commandElsewhere, isPrompt, withCommand } from './spellings.ts'

test.each([
  [
    ['run', '-p'],
    ['run', '-p'],
  ],
  [['help'], ['--help']],
  [
    ['help', 'log', 'export'],
    ['log', 'export', '--help'],
  ],
  [['--help'], ['--help']],
  [['--json'], ['--json']],
  [
    ['-p', 'Hello'],
    ['run', 'Hello'],
  ],
  [
    ['-c', '--print', 'Hello', '--output', 'json'],
    ['run', '-c', 'Hello', '--output', 'json'],
  ],
  [['-c'], ['chat', '-c']],
  [['-r'], ['chat', '-r']],
  [
    ['-r', 'latest', 'Go on'],
    ['chat', '-r', 'latest', 'Go on'],
  ],
  [
    ['-r', 'Go on'],
    ['chat', 'Go on', '--resume'],
  ],
  [
    ['-r', '-p', 'Hello'],
    ['run', 'Hello', '--resume'],
  ],
  [
    ['--model', 'demo', 'Fix it'],
    ['chat', '--model', 'demo', 'Fix it'],
  ],
  [
    ['-p', '--', '-p'],
    ['run', '--', '-p'],
  ],
])('%j means %j', (argv, expected) => {
  expect(withCommand(argv)).toEqual(expected)
})

test('several words are a prompt, one word or a misspelled command is a mistake', () => {
  const prompts = [['Fix the tests'], ['Fix', 'the', 'tests'], ['two\nlines', '--mode', 'plan']]
  expect(prompts.map((argv) => isPrompt(argv, undefined))).toEqual([true, true, true])
  const mistakes = [['xyzzy'], ['xyzzy', '--fast'], [' xyzzy '], ['login', 'now'], []]
  expect(mistakes.map((argv) => isPrompt(argv, undefined))).toEqual(mistakes.map(() => false))
  expect(isPrompt(['sesions', 'delete', 'latest'], 'sessions')).toBe(false)
  expect(isPrompt(['sesions delete latest'], 'sessions')).toBe(true)
  expect(isPrompt(['What', 'happened?'], 'chat')).toBe(true)
})

test('a command of another program is refused with what to type here, which exists', () => {
  const names = COMMANDS.map(({ name }) => name.split(' ')[0])
  for (const word of ['login', 'update', 'serve', 'resume', 'export', 'toString']) {
    const refused = commandElsewhere(word)
    if (word === 'toString') {
      expect(refused).toBeUndefined()
      continue
    }
    expect(names).not.toContain(word)
    expect(refused?.error.message).toMatch(new RegExp(`^There is no command "${word}"\\. \\S`))
    const command = refused?.error.next_actions?.[0]?.command ?? ''
    const [program, first = 'chat'] = command.split(' ')
    expect([program === 'hawser' || program === 'npm', first]).toEqual([true, expect.any(String)])
    if (program === 'hawser' && !first.startsWith('-')) expect(names).toContain(first)
  }
})
