import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { HISTORY, OWN_WORK, REMOTE, WORK } from '../../src/policy/repository-loss.ts'
import { lossesOf } from '../../src/policy/losses.ts'

/** Commands, and what each destroys of a repository as its text shows; with near misses. No command runs. */
const Vectors = z.object({
  vectors: z.array(
    z.object({
      command: z.string(),
      folder: z.string().optional(),
      /** `own work`: an Instance may discard it in its own workspace. */
      loses: z.enum(['history', 'work', 'own work', 'remote', 'none']),
    }),
  ),
})
const LOSSES = {
  history: HISTORY,
  work: WORK,
  'own work': OWN_WORK,
  remote: REMOTE,
  none: undefined,
}

const file = new URL('losses.json', import.meta.url)
const { vectors } = Vectors.parse(JSON.parse(readFileSync(file, 'utf8')))

test.each(vectors)('$command in $folder loses: $loses', ({ command, folder, loses }) => {
  expect(lossesOf(command, folder)[0]).toEqual(LOSSES[loses])
})

test('there are at least 150 different commands that lose something, and as many near misses', () => {
  const keys = vectors.map(({ command, folder }) => JSON.stringify([command, folder]))
  expect(new Set(keys).size).toBe(vectors.length)
  const losing = vectors.filter(({ loses }) => loses !== 'none').length
  expect(losing).toBeGreaterThanOrEqual(150)
  expect(vectors.length - losing).toBeGreaterThanOrEqual(150)
})

test.each([
  ['words of the list', /\.git\b|reset --hard|clean -f|push (?:-f|--force)|prune=now/],
  ['words of the list at the start', /^(?:rm -rf \.git|git (?:reset --hard|clean -f|push --force))/],
])('a search for %s fails the vectors', (_, naive) => {
  const wrong = vectors.filter(({ command, loses }) => naive.test(command) !== (loses !== 'none'))
  expect(wrong.filter(({ loses }) => loses === 'none')).not.toEqual([])
  expect(wrong.filter(({ loses }) => loses !== 'none').length).toBeGreaterThan(10)
})

test('every character, anywhere in a command, is judged without a failure', () => {
  const characters = Array.from({ length: 256 }, (_, code) => String.fromCodePoint(code))
  for (const one of [...characters, '\u2028', '\u3000', '\ufeff', '\ud800'])
    for (const text of [one, `a${one}b`, `rm ${one} x`, `"${one}`, `$(${one}`, `<${one}`])
      expect(lossesOf(text)).toEqual([])
  expect(lossesOf('a\u00a0b; rm -rf .git')).toEqual([HISTORY])
})

test.each([',', '*', '*?', '/', '$(', '`', '{', '"', '\\', '(', '<<x\n', ';', ' git', 'sh -c '])(
  'a command of 20,000 times %j is judged',
  (text) => {
    for (const start of ['', 'rm -rf ', 'rm -rf {', 'find . -name '])
      expect(lossesOf(`${start}${text.repeat(20_000)}!`).length).toBeLessThan(20_001)
  },
)

test('every beginning of every command is judged without a failure', () => {
  const judged = vectors.map(({ command }) =>
    Array.from(command, (_, end) => lossesOf(command.slice(0, end))),
  )
  expect(judged.length).toBe(vectors.length)
})
