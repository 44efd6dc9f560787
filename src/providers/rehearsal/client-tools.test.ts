import { expect, test } from 'vitest'
import { thinkOf, user } from '../../../test/support/rehearsal-request.ts'
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
