import { expect, test } from 'vitest'
import { virtualClock } from '../../../../test/support/host/virtual-clock.ts'
import { systemClock } from '../../../host/clock.ts'
import { nextRound } from '../../../host/wait.ts'
import { completedWord, withSuggestion } from './completed-word.ts'
import { FileIndex } from './file-index.ts'
import { candidate, fuzzyMatches } from './fuzzy.ts'
import { OutsideFolder } from './outside-folder.ts'
import { Suggestions, type SuggestionSources } from './suggestions.ts'

function best(query: string, ...paths: string[]): readonly string[] {
  return fuzzyMatches(paths.map(candidate), query, 5)
}

test('the best matches come first, and letters may be missing in between', () => {
  const paths = ['src/main.ts', 'main.ts', 'src/domain.ts', 'main/a.ts', 'src/m/a/i/n', 'README.md']
  expect(best('main', ...paths)).toEqual([
    'main.ts',
    'main/a.ts',
    'src/main.ts',
    'src/domain.ts',
    'src/m/a/i/n',
  ])
  expect(best('MAIN.TS', ...paths)[0]).toBe('main.ts')
  expect(best('rdme', ...paths)).toEqual(['README.md'])
  expect(best('xyz', ...paths)).toEqual([])
})

test('an exact match wins over a longer one', () => {
  expect(best('permission', 'permissions', 'permission')).toEqual(['permission', 'permissions'])
})

test.each([
  ['look at @src/in', 'path', 'src/in', 8],
  ['@"a b', 'path', 'a b', 0],
  ['@lib/@types/$in', 'path', 'lib/@types/$in', 0],
  ['/he', 'command', 'he', 0],
  ['/', 'command', '', 0],
  ['use $rev', 'skill', 'rev', 4],
])('%j completes a %s', (text, kind, query, from) => {
  expect(completedWord({ text, cursor: text.length })).toEqual({ kind, query, from })
})

test.each([
  ['/sessions ses_', 'sessions', 'ses_', 10],
  ['/model anthropic cl', 'model anthropic', 'cl', 17],
  ['/review the tides --with fo', 'review the tides --with', 'fo', 25],
])('%j completes an argument', (text, command, query, from) => {
  const word = { kind: 'argument', command, query, from }
  expect(completedWord({ text, cursor: text.length })).toEqual(word)
})

test.each(['a@b.c', '/review the tides now', 'no word ', 'a /help', '@done '])(
  '%j has nothing to complete',
  (text) => {
    expect(completedWord({ text, cursor: text.length })).toBeUndefined()
  },
)

test('a suggestion replaces the word at the cursor, and a path with spaces is quoted', () => {
  const completed = (text: string, cursor: number, path: string) => {
    const word = completedWord({ text, cursor })
    const chosen = { kind: 'path', text: path } as const
    return word === undefined ? undefined : withSuggestion({ text, cursor }, word, chosen)
  }
  expect(completed('see @in now', 7, 'src/index.ts')).toEqual({
    text: 'see @src/index.ts now',
    cursor: 18,
  })
  expect(completed('@a', 2, 'a b.ts')).toEqual({ text: '@"a b.ts" ', cursor: 10 })
  expect(completed('@sr', 3, 'src/')).toEqual({ text: '@src/', cursor: 5 })
  expect(completed('@"a', 3, 'a b/')).toEqual({ text: '@"a b/', cursor: 6 })
})

const none = () => []

/** A list over these files, when their scan has ended. */
function listOver(...paths: string[]): Promise<Suggestions> {
  return listWith(paths, () => {})
}

async function listWith(paths: readonly string[], changed: () => void): Promise<Suggestions> {
  let done: () => void = () => {}
  const scanned = new Promise<void>((resolve) => {
    done = resolve
  })
  const files = new FileIndex(
    async ({ onPaths }) => void onPaths(paths),
    systemClock,
    () => {
      if (files.progress === undefined) done()
    },
  )
  const sources: SuggestionSources = {
    files,
    handles: () => [{ name: 'img1', about: 'harbour.png' }],
    commands: () => [{ name: 'help', about: 'list commands' }],
    skills: none,
    arguments: none,
  }
  files.refresh()
  await scanned
  return new Suggestions(sources, changed)
}

/** An index over these paths. The test ends each scan, and advances the clock. */
function slowIndex(paths: readonly string[]) {
  const clock = virtualClock()
  const ends: (() => void)[] = []
  const files = new FileIndex(
    ({ onPaths }) => {
      onPaths([...paths])
      return new Promise((resolve) => {
        ends.push(resolve)
      })
    },
    clock,
    () => {},
  )
  const end = async () => {
    ends.shift()?.()
    await nextRound()
  }
  const names = () => files.paths.map(({ text }) => text)
  return { clock, files, end, names, isScanning: () => ends.length > 0 }
}

test.each([
  ['right after a scan', false, 0],
  ['right after a scan that took long', false, 500],
  ['during a scan', true, 0],
  ['during a scan that takes long', true, 500],
])('a file that is created %s is found without another key', async (_, isDuring, ms) => {
  const paths = ['a.ts']
  const { clock, files, end, names, isScanning } = slowIndex(paths)
  files.refresh()
  clock.advance(ms)
  if (!isDuring) await end()
  paths.push('b.ts')
  files.refresh()
  files.refresh()
  if (isDuring) await end()
  expect([isScanning(), names()]).toEqual([false, ['a.ts']])
  // At most a tenth of the time, and at most once a second.
  clock.advance(Math.max(1_000, ms * 10) - 1)
  expect(isScanning()).toBe(false)
  clock.advance(1)
  // The list stays as it is meanwhile.
  expect([isScanning(), files.progress]).toEqual([true, undefined])
  await end()
  expect(names()).toEqual(['a.ts', 'b.ts'])
  // A scan for that word is not followed by another one: the workspace would be listed without end.
  files.refresh()
  clock.advance(10_000)
  expect(isScanning()).toBe(false)
})

function shown(list: Suggestions): string[] {
  return list.rows(80).map((row) => row.map(({ text }) => text).join(''))
}

test('the list has handles, folders and files; arrows choose, Tab accepts, Esc closes it for this word', async () => {
  const list = await listOver('src/image.ts', 'src/index.ts')
  const draft = { text: '@i', cursor: 2 }
  list.follow(draft)
  expect(shown(list)).toEqual(['› img1          harbour.png', '  src/image.ts', '  src/index.ts'])
  list.move('down')
  expect(list.accept(draft)).toEqual({ text: '@src/image.ts ', cursor: 14 })
  list.move('up')
  list.move('up')
  expect(shown(list).at(-1)).toBe('› src/index.ts')
  list.close()
  expect([list.isOpen, shown(list)]).toEqual([false, []])
  list.follow({ text: '@in', cursor: 3 })
  expect(list.isOpen).toBe(false)
  list.follow({ text: '@in @', cursor: 5 })
  expect(shown(list)[0]).toMatch(/^› img1 +harbour\.png$/)
})

test('a path that looks like a handle is quoted, the handle is not, and a path that no word can name is not listed', async () => {
  const list = await listOver('img1', 'img1', 'a"b/img1.ts', 'img1\n.ts', '---')
  const draft = { text: '@img1', cursor: 5 }
  list.follow(draft)
  expect(shown(list)).toEqual(['› img1  harbour.png', '  img1'])
  expect(list.accept(draft)?.text).toBe('@img1 ')
  list.move('down')
  expect(list.accept(draft)?.text).toBe('@"img1" ')
  list.follow({ text: '@-', cursor: 2 })
  expect(shown(list)).toEqual([])
})

test('a folder outside of the workspace is listed for what is typed by then', async () => {
  let listed: (names: readonly string[]) => void = () => {}
  const list = new Suggestions(
    {
      files: undefined,
      outside: new OutsideFolder(
        () =>
          new Promise((resolve) => {
            listed = resolve
          }),
      ),
      about: (path) => (path.endsWith('.png') ? 'PNG image' : ''),
      handles: none,
      commands: none,
      skills: none,
      arguments: none,
    },
    () => {},
  )
  for (const text of ['@~', '@~/', '@~/p', '@~/pi']) list.follow({ text, cursor: text.length })
  expect(shown(list)).toEqual([])
  listed(['notes.txt', 'pic.png'])
  await nextRound()
  expect(shown(list)).toEqual(['› ~/pic.png  PNG image'])
})

test('a row that does not fit ends with an ellipsis', () => {
  const commands = () => [
    { name: 'help', about: 'list commands and keys' },
    { name: 'a-name-that-is-longer-than-the-row', about: '' },
  ]
  const list = new Suggestions(
    { files: undefined, handles: none, commands, skills: none, arguments: none },
    () => {},
  )
  list.follow({ text: '/', cursor: 1 })
  expect(list.rows(24).map((row) => row.map(({ text }) => text).join(''))).toEqual([
    '› help          list co…',
    '  a-name-that-is-longer…',
  ])
})

test('a longer query is searched in what the shorter one found, with the same result', async () => {
  const paths = Array.from({ length: 300 }, (_, at) => `src/${at % 7}/file-${at}.ts`)
  const list = await listOver(...paths)
  for (const text of ['@f', '@fi', '@file-1', '@file-12', '@file-1', '@file-2', '@']) {
    list.follow({ text, cursor: text.length })
    const fresh = await listOver(...paths)
    fresh.follow({ text, cursor: text.length })
    expect(shown(list)).toEqual(shown(fresh))
  }
})

test('many files are searched in slices: a key does not wait, the next one ends the search, and Tab gets its result', async () => {
  let changes = 0
  const paths = Array.from({ length: 25_000 }, (_, at) => `src/file-${at}.ts`)
  let changed = () => {}
  const list = await listWith([...paths, 'zebra.ts', 'zoo.ts'], () => {
    changes += 1
    changed()
  })
  const followed = (text: string) => list.follow({ text, cursor: text.length })
  followed('@z')
  expect([shown(list), changes]).toEqual([[], 0])
  const found = new Promise<void>((resolve) => {
    changed = resolve
  })
  followed('@zo')
  await found
  expect([shown(list), changes]).toEqual([['› zoo.ts'], 1])
  followed('@z')
  // The former list is shown until the new one is complete.
  expect([shown(list), changes]).toEqual([['› zoo.ts'], 1])
  list.settle()
  expect([shown(list), changes]).toEqual([['› zoo.ts', '  zebra.ts'], 2])
  followed('@')
  list.close()
  await nextRound()
  await nextRound()
  expect([shown(list), changes]).toEqual([[], 2])
})

test('Enter sends a word that is complete', async () => {
  const list = await listOver('Makefile')
  list.follow({ text: '@Make', cursor: 5 })
  expect(list.isComplete).toBe(false)
  list.follow({ text: '@Makefile', cursor: 9 })
  expect(list.isComplete).toBe(true)
})
