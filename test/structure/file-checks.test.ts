import { expect, test } from 'vitest'
import {
  barrels,
  blobPaths,
  clockReads,
  crowdedFolders,
  draftsMissing,
  draftsOutOfPlace,
  fileSizes,
  filesTooLong,
  linesUnder,
  looseServers,
  meaninglessNames,
  silencedBoundaries,
  typesExportedTwice,
} from './file-checks.ts'
import type { Tree } from './source.ts'

const planted = (files: Record<string, string>): Tree => new Map(Object.entries(files))
const lines = (count: number): string => 'export {}\n'.repeat(count)

test('a source file may have at most 400 lines', () => {
  const tree = planted({
    'src/log/a.ts': lines(400),
    'src/log/b.ts': lines(401),
    'test/pins/c.test.ts': lines(401),
    'bench/d.bench.ts': lines(401),
    'bin/e.ts': lines(401),
    'rehearse/src/j.ts': lines(401),
    'scripts/f.mjs': lines(401),
    'scripts/g.sh': lines(401),
    '.ci/run': lines(401),
    'test/vectors/h.ts': lines(401),
    'docs/spec/i.md': lines(401),
  })
  expect(filesTooLong(tree).map((offence) => offence.split(' ')[0])).toEqual([
    'src/log/b.ts',
    'test/pins/c.test.ts',
    'bench/d.bench.ts',
    'bin/e.ts',
    'rehearse/src/j.ts',
    'scripts/f.mjs',
    'scripts/g.sh',
    '.ci/run',
  ])
})

test('a folder may have at most 25 files: of the source without its tests, of test with them', () => {
  const files = (folder: string, count: number) =>
    Array.from({ length: count }, (_, at) => [`${folder}/file-${at}.ts`, lines(1)])
  const tree = new Map([
    ...files('src/log', 25),
    ...files('src/host', 26),
    ...files('src/host/net', 25),
    ...files('test/journeys', 25),
    ...files('test/journeys/cli', 25),
    ...files('test/faults/log', 25),
    ...files('test/vectors', 26),
    ...files('rehearse/src', 26),
    ['src/log/file-0.test.ts', lines(1)],
    ['test/journeys/cli/file-0.test.ts', lines(1)],
    ['test/faults/log/README.md', lines(1)],
  ] as [string, string][])
  expect(crowdedFolders(tree)).toEqual([
    'src/host has 26 files; divide it by subject',
    'test/journeys/cli has 26 files; divide it by subject',
    'rehearse/src has 26 files; divide it by subject',
  ])
})

test('only one file of the source may export a type of a given name', () => {
  const tree = planted({
    'src/log/a.ts': 'export interface Verdict {}\nexport type Piece = string\ninterface Own {}\n',
    'src/host/b.ts': 'export type Verdict = boolean\nexport class Own {}\n',
    'src/host/c.ts': 'export class Piece {}\n',
    'src/host/d.ts': 'export const Word = 1\nexport type Word = typeof Word\n',
    'src/index.ts': "export type { Word } from './host/d.ts'\n",
    'rehearse/src/f.ts': 'export type Word = string\n',
    'src/log/a.test.ts': 'export interface Word {}\n',
    'test/support/e.ts': 'export interface Word {}\n',
  })
  expect(typesExportedTwice(tree)).toEqual([
    'src/log/a.ts and src/host/b.ts export a type Verdict; name each meaning once',
    'src/log/a.ts and src/host/c.ts export a type Piece; name each meaning once',
    'src/host/d.ts and rehearse/src/f.ts export a type Word; name each meaning once',
  ])
})

test('the lines of a folder include its data, but not its tests', () => {
  const tree = planted({
    'rehearse/src/a.ts': lines(10),
    'rehearse/src/a.test.ts': lines(99),
    'rehearse/vendor-schemas/b.json': lines(5),
    'rehearsed/c.ts': lines(99),
  })
  expect(linesUnder(tree, 'rehearse')).toBe(15)
})

test('sizes are counted in lines of source files, without tests', () => {
  const tree = planted({
    'src/log/a.ts': lines(10),
    'src/log/b.ts': lines(30),
    'src/log/c.ts': lines(20),
    'src/log/c.test.ts': lines(99),
    'test/journeys/d.ts': lines(99),
  })
  expect(fileSizes(tree)).toEqual({ files: 3, median: 20, p90: 20, max: 30 })
})

test.each([
  'src/log/utils.ts',
  'src/log/string-utils.ts',
  'src/utils/text.ts',
  'test/support/helpers.ts',
  'src/model/common.ts',
  'src/session/session-manager.ts',
  'scripts/misc.mjs',
  'src/log/index.ts',
  'test/support/index.ts',
])('%s is a meaningless name', (path) => {
  expect(meaninglessNames(planted({ [path]: '' }))).toHaveLength(1)
})

test.each(['src/index.ts', 'src/log/append.ts', 'src/log/derived-index.ts', 'src/main.test.ts'])(
  '%s is a good name',
  (path) => {
    expect(meaninglessNames(planted({ [path]: '' }))).toEqual([])
  },
)

test('a file that only re-exports names is a barrel, except src/index.ts', () => {
  const passing = `import { a } from './a.ts'\nexport { b } from './b.ts'\nexport { a }\n`
  const tree = planted({
    'src/index.ts': passing,
    'src/log/log.ts': passing,
    'src/log/types.ts': `export type { A } from './a.ts'\n`,
    'src/log/append.ts': `${passing}export const c = 1\n`,
    'src/log/start.ts': `import './a.ts'\n`,
  })
  expect(barrels(tree).map((offence) => offence.split(' ')[0])).toEqual([
    'src/log/log.ts',
    'src/log/types.ts',
  ])
})

test('names are exported one by one, in src/index.ts too', () => {
  expect(barrels(planted({ 'src/index.ts': `export * from './model/errors.ts'\n` }))).toEqual([
    'src/index.ts exports everything of a file; export names one by one',
  ])
})

test('only the host, the launcher and tests may read the clock', () => {
  const reading = 'export const a = [new Date(), Date(), new Date]\nexport const b = new Date(0)\n'
  const tree = planted({
    'src/log/append.ts': reading,
    'src/host/clock.ts': reading,
    'src/log/append.test.ts': reading,
    'rehearse/src/cache.ts': 'export const a = new Date()\n',
    'bin/hawser.ts': reading,
    'test/support/clock.ts': reading,
  })
  expect(clockReads(tree)).toEqual([
    ...Array<string>(3).fill('src/log/append.ts:1 reads the clock; take the time from src/host'),
    'rehearse/src/cache.ts:1 reads the clock; take the time from src/host',
  ])
})

test('a comment may silence lint, but not at a boundary', () => {
  const tree = planted({
    'src/log/a.ts': '\n// oxlint-disable-next-line no-restricted-imports -- just once\n',
    'src/log/b.ts': '/* eslint-disable no-console */\n',
    'src/log/c.ts': '// oxlint-disable-next-line no-control-regex -- names are shown escaped\n',
    'src/log/d.test.ts': '/* oxlint-disable no-console */\n',
  })
  expect(silencedBoundaries(tree)).toEqual([
    'src/log/a.ts:2 silences a boundary; pass the world in instead',
    'src/log/b.ts:1 silences a boundary; pass the world in instead',
  ])
})

test('only the blob store may build the path of a blob', () => {
  const tree = planted({
    'src/request/load-parts.ts':
      "import { a } from '../blobs/store.ts'\nexport const b = `${a}/blobs/${a}`\n",
    'src/tools/attach.ts': "export const path = ['.hawser', 'blobs']\n",
    'src/blobs/store.ts': "export const a = 'blobs'\n",
    'src/host/workspace.ts': "export const a = 'blobs'\n",
    'src/presenters/http/routes.ts': "export const route = '/instances/:id/blobs/:key'\n",
    'src/presenters/http/blobs.ts': "export const at = 'GET /v1/instances/:id/blobs/:key'\n",
  })
  expect(blobPaths(tree)).toEqual([
    'src/request/load-parts.ts:2 knows where blobs lie; take a key to the store',
    'src/tools/attach.ts:1 knows where blobs lie; take a key to the store',
  ])
})

test('a test that starts the rehearsal server itself is an offence', () => {
  const start = 'export const server = await rehearsalServer({ clock })\n'
  const tree = planted({
    'test/support/providers/strict-server.ts': start,
    'test/support/place.ts': `\n${start}`,
    'test/vectors/story.ts': start,
    'src/session/a.test.ts': 'export const server = await composeRehearsal()\n',
    'bench/b.bench.ts': 'export const server = await serveRehearsal()\n',
    'src/compose/workspace.ts': start,
  })
  const take = 'starts a lenient server; take test/support/providers/strict-server.ts'
  expect(looseServers(tree)).toEqual([
    `test/support/place.ts:2 ${take}`,
    `test/vectors/story.ts:1 ${take}`,
    `src/session/a.test.ts:1 ${take}`,
    `bench/b.bench.ts:1 ${take}`,
  ])
})

test('a Turn is opened and ended in one place: a draft of those Events elsewhere is an offence', () => {
  const tree = planted({
    'src/turn/end.ts': "export const end = { type: 'turn_ended', data: {} }\n",
    'src/turn/open.ts':
      "export const open = [{ type: 'turn_started', data: {} }, { type: 'late_context', data: {} }]\n",
    'src/turn/run.ts': "\nexport const end = { type: 'turn_ended' as const, data: {} }\n",
    'src/session/queries/preview.ts':
      "export const late = (at: object) => ({ ...at, data: {}, type: 'late_context' })\n",
    'src/presenters/cli/chat/translate.ts': "export const colours = { type: 'turn_ended' }\n",
    'src/turn/run.test.ts': "export const end = { type: 'turn_ended', data: {} }\n",
    'test/support/log/story.ts': "export const end = { type: 'turn_ended', data: {} }\n",
  })
  expect(draftsOutOfPlace(tree)).toEqual([
    'src/turn/run.ts:2 makes a turn_ended Event; src/turn/end.ts does that',
    'src/session/queries/preview.ts:1 makes a late_context Event; src/turn/open.ts does that',
  ])
  expect(draftsMissing(tree)).toEqual([])
  expect(draftsMissing(planted({ 'src/turn/open.ts': '', 'src/turn/end.ts': '' }))).toEqual([
    'src/turn/open.ts makes 0 turn_started Events instead of one',
    'src/turn/open.ts makes 0 late_context Events instead of one',
    'src/turn/end.ts makes 0 turn_ended Events instead of one',
  ])
})
