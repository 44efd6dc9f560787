import { expect, test } from 'vitest'
import { opening, thinkOf, user } from '../../../test/support/providers/rehearsal-request.ts'
import type { RehearsalSegment } from './schema.ts'

test('tools of other clients are called by their own names and arguments', () => {
  const tool = (name: string, ...properties: string[]): RehearsalSegment => ({
    role: 'tool',
    name,
    description: '',
    parameters: { properties: Object.fromEntries(properties.map((key) => [key, {}])) },
  })
  const calls = (say: string, ...tools: RehearsalSegment[]) => thinkOf(...tools, user(say)).calls
  expect(calls('read a.txt', tool('Read', 'file_path', 'offset', 'limit'))).toEqual([
    { name: 'Read', arguments: { file_path: 'a.txt' } },
  ])
  expect(calls('read lines 3 to 5 of a.txt', tool('read', 'path', 'offset', 'limit'))).toEqual([
    { name: 'read', arguments: { path: 'a.txt', offset: 3, limit: 3 } },
  ])
  expect(calls('read a.txt', tool('exec_command', 'cmd'))).toEqual([
    { name: 'exec_command', arguments: { cmd: 'cat a.txt' } },
  ])
  expect(
    calls('replace "a" with "b" in c.ts', tool('Edit', 'file_path', 'old_string', 'new_string')),
  ).toEqual([{ name: 'Edit', arguments: { file_path: 'c.ts', old_string: 'a', new_string: 'b' } }])
  expect(calls('write "x" to a.txt', tool('exec_command', 'cmd'))).toEqual([])
})

test('an edit has the form that the offered tool describes', () => {
  const tool = (properties: Readonly<Record<string, unknown>>): RehearsalSegment => ({
    role: 'tool',
    name: 'edit',
    description: '',
    parameters: { properties },
  })
  const call = (properties: Readonly<Record<string, unknown>>) =>
    thinkOf(tool(properties), user('replace "a" with "b" in c.ts everywhere')).calls
  const replacement = { old_text: 'a', new_text: 'b', replace_all: true }
  expect(call({ path: {}, edits: {} })).toEqual([
    { name: 'edit', arguments: { path: 'c.ts', edits: [replacement] } },
  ])
  expect(call({ path: {}, old_text: {}, new_text: {}, replace_all: {} })).toEqual([
    { name: 'edit', arguments: { path: 'c.ts', ...replacement } },
  ])
  const items = { properties: { oldText: {}, newText: {} } }
  expect(call({ path: {}, edits: { items } })).toEqual([
    { name: 'edit', arguments: { path: 'c.ts', edits: [{ oldText: 'a', newText: 'b' }] } },
  ])
})

test('an edit is described in the same words, whatever the form of its call', () => {
  const old_text = 'a'
  const announce = (args: Readonly<Record<string, unknown>>, name = 'edit') => {
    const call = { call_id: '1', name, arguments: JSON.stringify(args) }
    const result = { call_id: '1', name, outcome: 'ok' as const, output: 'Edited.' }
    return thinkOf(
      ...opening('replace "a" with "b" in c.ts', [name]),
      { role: 'tool_call', ...call },
      { role: 'tool_result', ...result },
    ).text
  }
  const words = 'Done: replace “a” with “b” in c.ts\n> Edited.'
  expect(announce({ path: 'c.ts', edits: [{ old_text, new_text: 'b' }] })).toBe(words)
  expect(announce({ path: 'c.ts', old_text, new_text: 'b' })).toBe(words)
  expect(announce({ path: 'c.ts', edits: [{ oldText: 'a', newText: 'b' }] })).toBe(words)
  expect(announce({ file_path: 'c.ts', old_string: 'a', new_string: 'b' }, 'Edit')).toBe(words)
  const two = [
    { old_text, new_text: 'b' },
    { old_text: 'c', new_text: 'd' },
  ]
  expect(announce({ path: 'c.ts', edits: two })).toBe(
    'Done: make 2 replacements in c.ts\n> Edited.',
  )
})

test('a call of another client is announced as what it does', () => {
  const tool = (name: string, argument: string): RehearsalSegment => ({
    role: 'tool',
    name,
    description: '',
    parameters: { properties: { [argument]: {} } },
  })
  const read = [tool('Read', 'file_path'), tool('exec_command', 'cmd')]
  expect(thinkOf(...read, user('read a.txt')).text).toBe('I will read a.txt.')
  expect(thinkOf(...read, user('run `make`')).text).toBe('I will run “make”.')
})
