import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { array, assert, boolean, constantFrom, property } from 'fast-check'
import { expect, test } from 'vitest'
import { ignoreRules } from './ignore-rules.ts'

const PIECE = constantFrom(
  ...'* ** ? / / a b ab . [ab] [!a] [a-b] \\* \\a A ! # [[:alpha:]] []a] é'.split(' '),
  ' ',
)
// `git check-ignore` takes the last name of `a/` for an empty one, which a line of spaces matches.
const PATTERN = array(PIECE, { minLength: 1, maxLength: 6 })
  .map((parts) => parts.join(''))
  .filter((line) => !/^[! ]*$/.test(line))
const NAME = constantFrom('a', 'b', 'ab', 'aab', 'A', '.a', 'a*', 'b.a', 'é', '!a', '#', 'a b')
const PATH = array(NAME, { minLength: 1, maxLength: 4 }).map((names) => names.join('/'))

test('rules decide as git does', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ignore-'))
  try {
    execFileSync('git', ['init', '-q', folder])
    assert(
      property(array(PATTERN, { maxLength: 4 }), PATH, boolean(), (lines, path, isFolder) => {
        const text = `${lines.join('\n')}\n`
        writeFileSync(join(folder, '.gitignore'), text)
        expect([text, path, isFolder, ignoredHere(text, path, isFolder)]).toEqual([
          text,
          path,
          isFolder,
          ignoredByGit(folder, path, isFolder),
        ])
      }),
      { numRuns: 250 },
    )
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

/** From the top down, as a walk asks: nothing below an excluded folder is asked about. */
function ignoredHere(text: string, path: string, isFolder: boolean): boolean {
  const rules = ignoreRules(Buffer.from(text))
  const names = path.split('/')
  return names.some((_name, at) => {
    const isLast = at === names.length - 1
    return rules?.decide(names.slice(0, at + 1).join('/'), isLast ? isFolder : true) === true
  })
}

function ignoredByGit(folder: string, path: string, isFolder: boolean): boolean {
  const args = [
    '-c',
    'core.excludesFile=/dev/null',
    'check-ignore',
    '-q',
    '--no-index',
    '--stdin',
    '-z',
  ]
  const input = `${path}${isFolder ? '/' : ''}\0`
  return spawnSync('git', args, { cwd: folder, input }).status === 0
}
