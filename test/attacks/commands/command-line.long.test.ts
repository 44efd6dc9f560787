import { spawnSync } from 'node:child_process'
import { chmod, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { array, assert, asyncProperty, constantFrom } from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import { splitCommand } from '../../../src/policy/command-line.ts'
import { freshFolder } from '../../support/host/folder.ts'

const BASH = '/bin/bash'
let place = ''

/** A folder of programs that only record how they were called. */
beforeAll(async () => {
  place = await freshFolder()
  await mkdir(join(place, 'bin'))
  await mkdir(join(place, 'work'))
  for (const name of ['npm', 'rm', 'a', 'b', 'x']) {
    const file = join(place, 'bin', name)
    await writeFile(file, `#!${BASH}\nprintf '%s\\0' "\${0##*/}" "$@" '<end>' >> "$NOTES"\n`)
    await chmod(file, 0o755)
  }
})

/** The calls that bash actually makes for a command line, in no order; `undefined` if it is invalid. */
async function callsOf(command: string): Promise<string[] | undefined> {
  const notes = join(place, 'notes')
  await rm(notes, { force: true })
  const work = join(place, 'work')
  const { stderr } = spawnSync(BASH, ['-c', `${command}\nwait`], {
    cwd: work,
    env: { PATH: join(place, 'bin'), NOTES: notes, LC_ALL: 'C.UTF-8' },
    timeout: 10_000,
    input: '',
  })
  if (/syntax error|unexpected/.test(stderr.toString())) return undefined
  const text = await readFile(notes, 'utf8').catch(() => '')
  return text
    .split('<end>\0')
    .filter(Boolean)
    .map((call) => call.replace(/\0$/, ''))
}

const WORDS = ['npm', 'rm', 'a', 'b', 'test', ' ', ' ', ' ', '\t', '\n', ';', '&', '&&', '||', '|']
const SIGNS = [
  '"',
  "'",
  '\\',
  '\\\n',
  '#',
  '$',
  '`',
  '(',
  ')',
  '{',
  '}',
  '>',
  '<',
  '2>&1',
  '=',
  'A=1',
  '!',
]
const PIECES = WORDS.concat(SIGNS)

test('for every command line that is understood, bash calls only the programs and arguments that the parts name', async () => {
  let understood = 0
  await assert(
    asyncProperty(array(constantFrom(...PIECES), { maxLength: 14 }), async (pieces) => {
      const command = `npm test ${pieces.join('')}`
      const parts = splitCommand(command)
      if (parts === undefined || parts.some((part) => part.words.some(({ isFixed }) => !isFixed)))
        return
      const calls = await callsOf(command)
      if (calls === undefined) return
      understood += 1
      const named = new Set(parts.map(({ words }) => words.map(({ text }) => text).join('\0')))
      expect(calls.filter((call) => !named.has(call))).toEqual([])
    }),
    { numRuns: 500, seed: 14 },
  )
  expect(understood).toBeGreaterThan(20)
})

test('a command line that a character-based splitter takes for one part starts another program', async () => {
  for (const command of ['npm test $(rm x)', 'npm test "`rm x`"', 'npm test\nrm x']) {
    expect((await callsOf(command))?.some((call) => call.startsWith('rm'))).toBe(true)
  }
})

test('for the vectors that the rule `npm test` allows, bash starts only npm test and filters', async () => {
  const file = new URL('../../vectors/command-lines.json', import.meta.url)
  const { vectors } = JSON.parse(readFileSync(file, 'utf8')) as {
    vectors: readonly { rules: string; command: string; answer: string }[]
  }
  const allowed = vectors.filter(({ rules, answer }) => rules === 'npm test' && answer === 'allow')
  expect(allowed.length).toBeGreaterThan(30)
  for (const { command } of allowed) {
    const calls = (await callsOf(command)) ?? []
    expect([command, calls.filter((call) => !/^npm\0test(\0|$)/.test(call))]).toEqual([command, []])
  }
})
