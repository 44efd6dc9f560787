import { expect, test } from 'vitest'
import {
  configuredLocations,
  gitSettings,
  judgeConfiguration,
  locationIn,
} from './git-configuration.ts'

test('configuration as git writes it is read key by key', () => {
  const text =
    '[core]\n\tbare = false\n[remote "a \\"b\\""]\n\turl = "x;y"\n# end\n[core]\n\tFileMode\n'
  expect(gitSettings(text)).toEqual([
    { section: 'core', subsection: undefined, key: 'bare', value: 'false' },
    { section: 'remote', subsection: 'a "b"', key: 'url', value: 'x;y' },
    { section: 'core', subsection: undefined, key: 'filemode', value: 'true' },
  ])
})

test.each([
  '[core] bare = true',
  '[a.b]\n\tx = 1',
  'x = 1',
  '[core]\n\tx = a\\\n',
  '[core]\n\tx = "a" b',
  '[core]\n\tx = a # b',
  '\ufeff[core]\n',
  '[core]\r\n',
  '[core]\n\tx = a\0',
])('%j is ambiguous and is not parsed', (text) => {
  expect(gitSettings(text)).toBeUndefined()
  expect(judgeConfiguration(text).offending).toEqual(['?'])
})

test('a key that existed before does not count against a change', () => {
  const before = '[core]\n\tfsmonitor = mine\n'
  const judged = (text: string) => judgeConfiguration(text, before).offending
  expect(judged(`${before}[user]\n\tname = a\n`)).toEqual([])
  expect(judged('[core]\n\tfsmonitor = other\n')).toEqual(['core.fsmonitor'])
})

test('locations in git configuration are found, also in hand-written files', () => {
  const strict = '[core]\n\thooksPath = h\n[include]\n\tpath = "i"\n[includeIf "x"]\n\tpath = j\n'
  expect(configuredLocations(strict)).toEqual({ hooks: ['h'], includes: ['i', 'j'] })
  expect(configuredLocations('[core] hooksPath = h\r\n')).toEqual({ hooks: ['h'], includes: [] })
})

test('a location is one line', () => {
  expect(locationIn('gitdir: ../x\n', 'gitfile')).toBe('../x')
  expect(locationIn('../..\n', 'plain')).toBe('../..')
  expect([locationIn('../x', 'gitfile'), locationIn('a\nb', 'plain')]).toEqual([
    undefined,
    undefined,
  ])
})
