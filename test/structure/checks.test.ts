import { expect, test } from 'vitest'
import {
  chainsToPackage,
  foldersImportingEachOther,
  importCycles,
  importsOutsideTheTable,
  loadedAtOnce,
  packagesOutsideTheTable,
  sourcesWithoutImporter,
  tablePathsWithoutFile,
} from './checks.ts'
import { IMPORT_TABLE } from './import-table.ts'
import type { Tree } from './source.ts'

const planted = (files: Record<string, string>): Tree => new Map(Object.entries(files))
const importing = (path: string, specifier: string): Tree =>
  planted({ [path]: `import { x } from '${specifier}'\nexport const y = x\n` })

test.each([
  ['src/model/ids.ts', '../encoding/hash.ts', 'src/encoding/hash.ts'],
  ['src/encoding/hash.ts', '../model/ids.ts', 'src/model/ids.ts'],
  ['src/host/clock.ts', '../encoding/hash.ts', 'src/encoding/hash.ts'],
  ['src/history/fold.ts', '../host/clock.ts', 'src/host/clock.ts'],
  ['src/policy/decide.ts', '../history/fold.ts', 'src/history/fold.ts'],
  ['src/prompt/surface.ts', '../history/fold.ts', 'src/history/fold.ts'],
  ['src/history/fold.ts', '../prompt/surface.ts', 'src/prompt/surface.ts'],
  ['src/context/plan.ts', '../prompt/surface.ts', 'src/prompt/surface.ts'],
  ['src/encoding/hash.ts', '../prompt/words/notes.ts', 'src/prompt/words/notes.ts'],
  ['src/policy/decide.ts', '../prompt/words/notes.ts', 'src/prompt/words/notes.ts'],
  ['src/log/append.ts', '../blobs/store.ts', 'src/blobs/store.ts'],
  ['src/blobs/store.ts', '../log/append.ts', 'src/log/append.ts'],
  ['src/resources/ingest.ts', '../log/append.ts', 'src/log/append.ts'],
  ['src/skills/plan.ts', '../history/fold.ts', 'src/history/fold.ts'],
  ['src/providers/chat/stream.ts', '../../blobs/store.ts', 'src/blobs/store.ts'],
  ['src/tools/read.ts', '../log/append.ts', 'src/log/append.ts'],
  ['src/turn/run.ts', '../providers/chat/stream.ts', 'src/providers/chat/stream.ts'],
  ['src/turn/run.ts', '../session/harness.ts', 'src/session/harness.ts'],
  ['src/session/admit.ts', '../providers/call.ts', 'src/providers/call.ts'],
  ['src/session/admit.ts', '../tools/tool.ts', 'src/tools/tool.ts'],
  ['src/tether/relay.ts', '../turn/run.ts', 'src/turn/run.ts'],
  ['src/presenters/acp/serve.ts', '../http/serve.ts', 'src/presenters/http/serve.ts'],
  ['src/presenters/acp/serve.ts', '../../log/append.ts', 'src/log/append.ts'],
  ['src/index.ts', './log/append.ts', 'src/log/append.ts'],
  ['src/index.ts', './main.ts', 'src/main.ts'],
  ['src/compose/workspace.ts', '../presenters/cli/program.ts', 'src/presenters/cli/program.ts'],
  ['src/compose/workspace.ts', '../main.ts', 'src/main.ts'],
  [
    'src/compose/workspace.test.ts',
    '../presenters/cli/program.ts',
    'src/presenters/cli/program.ts',
  ],
  ['bin/hawser.ts', '../src/model/ids.ts', 'src/model/ids.ts'],
  ['bench/open.bench.ts', '../test/contract/log.ts', 'test/contract/log.ts'],
  ['scripts/build.mjs', '../src/main.ts', 'src/main.ts'],
  ['src/log/append.ts', '../../test/support/host/folder.ts', 'test/support/host/folder.ts'],
  ['src/log/append.test.ts', '../blobs/store.ts', 'src/blobs/store.ts'],
  ['src/log/append.test.ts', '../../test/contract/log.ts', 'test/contract/log.ts'],
  ['src/index.ts', './compose/relay.ts', 'src/compose/relay.ts'],
  ['src/compose/rehearsal.ts', '../../rehearse/src/serve.ts', 'rehearse/src/serve.ts'],
  ['src/main.ts', '../rehearse/src/serve.ts', 'rehearse/src/serve.ts'],
  ['src/main.test.ts', '../rehearse/src/serve.ts', 'rehearse/src/serve.ts'],
  ['rehearse/src/serve.ts', '../../src/host/ids.ts', 'src/host/ids.ts'],
  ['rehearse/src/serve.ts', '../../src/session/harness.ts', 'src/session/harness.ts'],
  ['rehearse/src/serve.ts', '../../src/providers/provider.ts', 'src/providers/provider.ts'],
  ['rehearse/src/serve.ts', '../../test/support/host/folder.ts', 'test/support/host/folder.ts'],
])('%s may not import %s', (path, specifier, target) => {
  expect(importsOutsideTheTable(importing(path, specifier))).toEqual([
    `${path} may not import ${target}`,
  ])
})

test.each([
  ['src/log/append.ts', './lock.ts'],
  ['src/log/append.ts', '../host/clock.ts'],
  ['src/turn/run.ts', '../providers/provider.ts'],
  ['src/turn/run.ts', '../tools/tool.ts'],
  ['src/session/admit.ts', '../providers/provider.ts'],
  ['src/presenters/acp/wire/frames.ts', '../../../session/harness.ts'],
  ['src/presenters/acp/wire/frames.ts', '../translate.ts'],
  ['src/main.ts', './presenters/cli/help.ts'],
  ['src/index.ts', './session/harness.ts'],
  ['src/index.ts', './compose/workspace.ts'],
  ['src/compose/workspace.ts', '../session/harness.ts'],
  ['src/compose/providers.ts', '../providers/messages/encode.ts'],
  ['src/history/fold.ts', '../prompt/words/notes.ts'],
  ['src/providers/chat/encode.ts', '../../prompt/words/labels.ts'],
  ['rehearse/src/words.ts', '../../src/prompt/words/results.ts'],
  ['bin/hawser.ts', '../src/main.ts'],
  ['src/log/append.test.ts', '../../test/support/host/folder.ts'],
  ['src/main.test.ts', './main.ts'],
  ['test/contract/log.ts', '../../src/log/append.ts'],
  ['bench/open.bench.ts', '../test/support/host/folder.ts'],
  ['bench/open.bench.ts', '../rehearse/src/serve.ts'],
  ['test/support/server.ts', '../../rehearse/src/serve.ts'],
  ['rehearse/src/serve.ts', '../../src/host/net/http-server.ts'],
  ['rehearse/src/serve.ts', '../../src/providers/rehearsal/brain.ts'],
  ['rehearse/src/serve.test.ts', '../../test/support/host/folder.ts'],
])('%s may import %s', (path, specifier) => {
  expect(importsOutsideTheTable(importing(path, specifier))).toEqual([])
})

test.each([
  ['an import', `import '../log/append.ts'`],
  ['a type import', `import type { A } from '../log/append.ts'`],
  ['a re-export', `export { a } from '../log/append.ts'`],
  ['a re-export of everything', `export * from '../log/append.ts'`],
  ['a re-export of a type', `export type { A } from '../log/append.ts'`],
  ['a dynamic import', `export const a = () => import('../log/append.ts')`],
  ['a dynamic import of a template', 'export const a = () => import(`../log/append.ts`)'],
  ['an import inside a type', `export type A = import('../log/append.ts').A`],
  ['an import assignment', `import a = require('../log/append.ts')`],
])('%s counts as an import', (_, text) => {
  expect(importsOutsideTheTable(planted({ 'src/model/ids.ts': text }))).toEqual([
    'src/model/ids.ts may not import src/log/append.ts',
  ])
})

test('of the program, only main.ts imports a presenter', () => {
  const units = Object.keys(IMPORT_TABLE).filter((unit) => !OUTSIDE.has(unit))
  const paths = units
    .filter((unit) => unit !== 'presenters/*')
    .map((unit) => (unit.endsWith('.ts') ? `src/${unit}` : `src/${unit}/planted.ts`))
  const importers = paths.filter((path) => {
    const specifier = path.split('/').length === 2 ? PRESENTER : `.${PRESENTER}`
    return importsOutsideTheTable(importing(path, specifier)).length === 0
  })
  expect(importers).toEqual(['src/main.ts'])
})

/** Rows of the table for folders outside the program, and for the launcher. */
const OUTSIDE = new Set(['bin', 'rehearse', 'test', 'bench', 'scripts'])
const PRESENTER = './presenters/cli/program.ts'

test('text that only looks like an import does not count', () => {
  const text = `// import '../log/append.ts'\nexport const a = "import '../log/append.ts'"\n`
  expect(importsOutsideTheTable(planted({ 'src/model/ids.ts': text }))).toEqual([])
})

test('source outside every unit of the table is an offence', () => {
  const tree = planted({ 'src/extras/a.ts': '', 'src/loose.ts': '', 'src/presenters/all.ts': '' })
  expect(importsOutsideTheTable(tree)).toEqual([
    'src/extras/a.ts lies in no unit of the import table',
    'src/loose.ts lies in no unit of the import table',
    'src/presenters/all.ts lies in no unit of the import table',
  ])
})

test('the program may import a package only if it is installed with it', () => {
  const tree = planted({
    'src/model/ids.ts': `import * as z from 'zod/v4'`,
    'src/model/events.ts': `import fc from 'fast-check'`,
    'src/model/events.test.ts': `import fc from 'fast-check'\nimport { test } from 'vitest'`,
    'src/model/ids.test.ts': `import { build } from 'rolldown'`,
    'test/contract/log.ts': `import { test } from 'vitest'`,
  })
  expect(packagesOutsideTheTable(tree, ['zod'])).toEqual([
    'src/model/events.ts may not import fast-check',
    'src/model/ids.test.ts may not import rolldown',
  ])
})

test('a path in the import table that no file has is an offence', () => {
  const tree = planted({
    'src/log/append.ts': '',
    'src/providers/provider.ts': '',
    'src/presenters/cli/serve.ts': '',
    'test/support/x.ts': '',
  })
  const table = {
    log: ['providers/provider.ts', 'providers/engine.ts', 'test/support'],
    'presenters/*': ['log', 'history'],
  }
  expect(tablePathsWithoutFile(tree, table, { yaml: 'skills' })).toEqual([
    'the import table names providers/engine.ts, which does not exist',
    'the import table names history, which does not exist',
    'the import table names skills, which does not exist',
  ])
})

test('only its owner may import a package that has an owner', () => {
  const tree = planted({
    'src/host/lock.ts': `import { lock } from 'fs-native-extensions'`,
    'src/log/lock.ts': `import { lock } from 'fs-native-extensions'`,
    'src/encoding/markdown/parse.ts': `import { Lexer } from 'marked'`,
    'src/encoding/quote.ts': `import { Lexer } from 'marked'`,
  })
  expect(packagesOutsideTheTable(tree, ['fs-native-extensions', 'marked'])).toEqual([
    'src/log/lock.ts may not import fs-native-extensions',
    'src/encoding/quote.ts may not import marked',
  ])
})

test('the package hawser-rehearse may import only packages of its own package.json', () => {
  const tree = planted({
    'rehearse/package.json': '{"devDependencies":{"ajv":"8.0.0"}}',
    'rehearse/src/check.ts': `import { Ajv } from 'ajv'`,
    'rehearse/src/serve.ts': `import { Hono } from 'hono'`,
    'src/model/check.ts': `import { Ajv } from 'ajv'`,
  })
  expect(packagesOutsideTheTable(tree, ['hono'])).toEqual([
    'rehearse/src/serve.ts may not import hono',
    'src/model/check.ts may not import ajv',
  ])
})

test('a package that is loaded on demand may not be loaded with a file of the program', () => {
  const tree = planted({
    'src/compose/rehearsal.ts': `export const load = () => import('hawser-rehearse')`,
    'src/session/probe.ts': `import type { A } from 'hawser-rehearse'\nexport type B = A`,
    'src/main.ts': `import { serve } from 'hawser-rehearse'\nexport const a = serve`,
    'test/support/serve.ts': `import { serve } from 'hawser-rehearse'\nexport const a = serve`,
  })
  expect(loadedAtOnce(tree, 'hawser-rehearse')).toEqual([
    'src/main.ts loads hawser-rehearse at once; import it where it is used',
  ])
  expect(packagesOutsideTheTable(tree, ['hawser-rehearse'])).toEqual([
    'src/session/probe.ts may not import hawser-rehearse',
    'src/main.ts may not import hawser-rehearse',
  ])
})

test('an import that is known only at run time is an offence in the program', () => {
  const tree = planted({ 'src/main.ts': 'export const load = (name: string) => import(name)' })
  expect(packagesOutsideTheTable(tree, [])).toEqual(['src/main.ts may not import <computed>'])
})

test('an import cycle is reported file by file', () => {
  const tree = planted({
    'src/log/a.ts': `import './b.ts'`,
    'src/log/b.ts': `import type { C } from './c.ts'`,
    'src/log/c.ts': `export { a } from './a.ts'`,
    'src/log/d.ts': `import './a.ts'`,
  })
  expect(importCycles(tree)).toEqual([
    'src/log/a.ts -> src/log/b.ts -> src/log/c.ts -> src/log/a.ts',
  ])
})

test('files that share a dependency are not a cycle', () => {
  const tree = planted({
    'src/log/a.ts': `import './b.ts'\nimport './c.ts'`,
    'src/log/b.ts': `import './c.ts'`,
    'src/log/c.ts': '',
  })
  expect(importCycles(tree)).toEqual([])
})

test('two folders that import each other are reported, even without a cycle of files', () => {
  const tree = planted({
    'src/log/a.ts': `import '../blobs/a.ts'`,
    'src/log/b.ts': '',
    'src/blobs/a.ts': '',
    'src/blobs/b.ts': `import '../log/b.ts'`,
  })
  expect(importCycles(tree)).toEqual([])
  expect(foldersImportingEachOther(tree)).toEqual(['src/blobs and src/log import each other'])
})

test.each([
  ['two folders side by side', 'src/host/net', 'src/host/files', 'src/host/files and src/host/net'],
  ['a folder and its subfolder', 'src/host', 'src/host/files', 'src/host/* and src/host/files'],
  ['folders below them', 'src/host/net/web', 'src/host/files', 'src/host/files and src/host/net'],
])('%s that import each other are named', (_, one, other, named) => {
  const tree = planted({
    [`${one}/a.ts`]: `import '/${other}/a.ts'`,
    [`${one}/b.ts`]: '',
    [`${other}/a.ts`]: '',
    [`${other}/b.ts`]: `import '/${one}/b.ts'`,
  })
  expect(foldersImportingEachOther(relative(tree))).toEqual([`${named} import each other`])
})

test('a folder may import its subfolder, and a subfolder may import its sibling', () => {
  const tree = planted({
    'src/host/a.ts': `import './files/a.ts'`,
    'src/host/net/a.ts': `import '../files/a.ts'`,
    'src/host/files/a.ts': '',
  })
  expect(foldersImportingEachOther(tree)).toEqual([])
})

test('a test does not make two folders import each other', () => {
  const tree = planted({
    'src/log/a.ts': '',
    'src/log/a.test.ts': `import '../../test/support/log.ts'`,
    'test/support/log.ts': `import '../../src/log/a.ts'`,
  })
  expect(foldersImportingEachOther(tree)).toEqual([])
})

/** Planted imports are written from the root, so that the rows of a table look alike at any depth. */
function relative(tree: Tree): Tree {
  const seen = [...tree].map(([path, text]): [string, string] => {
    const up = '../'.repeat(path.split('/').length - 1)
    return [path, text.replace(`'/`, `'${up}`)]
  })
  return new Map(seen)
}

test('a file that does not parse is a defect, not an empty file', () => {
  expect(() => importCycles(planted({ 'src/log/a.ts': 'import {' }))).toThrow('does not parse')
})

test('a package that a file loads through another one is found, with the files between', () => {
  const tree = planted({
    'src/main.ts': `import { a } from './a.ts'\nexport const b = a\n`,
    'src/a.ts': `import * as z from 'zod'\nexport const a = z\n`,
  })
  expect(chainsToPackage(tree, 'src/main.ts', 'zod')).toEqual(['src/main.ts -> src/a.ts -> zod'])
})

test.each([
  `import type { A } from './a.ts'\nexport type B = A\n`,
  `import type { A } from './a.ts'\nexport type B = A\n`,
  `export const a = () => import('./a.ts')\n`,
])('a package that is loaded later or only named in types is not found: %j', (text) => {
  const tree = planted({ 'src/main.ts': text, 'src/a.ts': `import * as z from 'zod'\n` })
  expect(chainsToPackage(tree, 'src/main.ts', 'zod')).toEqual([])
})

test('a source file that only tests import is reported, and not what a program begins with', () => {
  const tree = planted({
    'bin/hawser.ts': "import { main } from '../src/main.ts'\nmain()\n",
    'src/main.ts': "export const main = async () => import('./late.ts')\n",
    'src/late.ts': "import type { Used } from './used.ts'\nexport const late: Used = 1\n",
    'src/used.ts': 'export type Used = number\n',
    'src/index.ts': 'export const library = 1\n',
    'src/tested.ts': 'export const tested = 1\n',
    'src/tested.test.ts': "import { tested } from './tested.ts'\ntested\n",
    'rehearse/src/rehearse.ts': 'export const server = 1\n',
    'test/support/scene.ts': "import { tested } from '../../src/tested.ts'\ntested\n",
  })
  expect(sourcesWithoutImporter(tree)).toEqual([
    'src/tested.ts is imported by tests only; remove it, or use it',
  ])
})
