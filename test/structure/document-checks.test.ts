import { expect, test } from 'vitest'
import { contextOffences, pathsThatDoNotExist, scriptsWithoutRow } from './document-checks.ts'
import { GLOSSARY } from './glossary.ts'
import type { Tree } from './source.ts'

const planted = (files: Record<string, string>): Tree => new Map(Object.entries(files))
const FILES = { 'src/log/append.ts': '', 'docs/spec/log.md': '', 'CONTEXT.md': '', '.ci/run': '' }
const glossary = (words: readonly string[]): string =>
  words.map((word) => `| ${word} | what it means |\n`).join('')

test.each([
  '`src/log/gone.ts`',
  '`src/gone/`',
  '`rehearse/src/gone.ts`',
  '`src/*/gone.ts`',
  '`docs/gone.md`',
  '`examples/gone`',
  '`.ci/gone`',
  '`CONTRIBUTING.md`',
  '`tsconfig.build.json`',
  '`src/log/gone.ts:12`',
  '[a](src/log/gone.ts)',
  '[a](docs/gone.md#part)',
  '[a](./gone.md "title")',
])('a document that names %s is reported, because the path does not exist', (mention) => {
  expect(pathsThatDoNotExist(planted({ ...FILES, 'README.md': `See ${mention}.` }))).toHaveLength(1)
})

test.each([
  '`src/log/append.ts`',
  '`src/log/append.ts:12`',
  '`src/log`',
  '`src/log/`',
  '`src/*/append.ts`',
  '`src/**/*.ts`',
  '`src/{log,blobs}/append.ts`',
  '`.ci/run`',
  '`CONTEXT.md`',
  '`npm test`',
  '`text/plain`',
  '`src/providers/<dialect>/stream.ts`',
  '[a](docs/spec/log.md#part)',
  '[a](#part)',
  '[a](https://example.org/src/gone.ts)',
  '[a](mailto:ada@example.org)',
])('a document may say %s', (mention) => {
  expect(pathsThatDoNotExist(planted({ ...FILES, 'README.md': `See ${mention}.` }))).toEqual([])
})

test('a link is resolved from the folder of its document, a path in backticks from the root', () => {
  const document = '[a](../spec/log.md) [b](../spec/gone.md) `src/log/append.ts`'
  expect(pathsThatDoNotExist(planted({ ...FILES, 'docs/adr/one.md': document }))).toEqual([
    'docs/adr/one.md names ../spec/gone.md, which does not exist',
  ])
})

test('paths inside a fenced block are ignored', () => {
  const document = '```sh\ncat `src/gone.ts`\n```\nand `src/lost.ts`'
  expect(pathsThatDoNotExist(planted({ ...FILES, 'SECURITY.md': document }))).toEqual([
    'SECURITY.md names src/lost.ts, which does not exist',
  ])
})

test('only documents are checked for paths', () => {
  const tree = planted({
    ...FILES,
    'src/log/append.ts': '// `src/gone.ts`',
    'NOTES.txt': '`src/a.ts`',
  })
  expect(pathsThatDoNotExist(tree)).toEqual([])
})

test('CONTEXT.md must exist', () => {
  expect(contextOffences(planted({}))).toEqual(['CONTEXT.md is missing'])
})

test('CONTEXT.md defines each word in a row or a list item', () => {
  const [first, second, third, ...rest] = GLOSSARY
  const text = `| **${first}** / \`${second}\` | two |\n- **${third}**: one\n${glossary(rest)}`
  expect(contextOffences(planted({ 'CONTEXT.md': text }))).toEqual([])
})

test('a word that CONTEXT.md only mentions is not defined', () => {
  const text = `${glossary(GLOSSARY.filter((word) => word !== 'Turn'))}A Turn is mentioned here.\n`
  expect(contextOffences(planted({ 'CONTEXT.md': text }))).toEqual([
    'CONTEXT.md does not define "Turn"',
  ])
})

test('CONTEXT.md has at most 150 lines', () => {
  const filled = (count: number): string =>
    glossary(GLOSSARY) + '\n'.repeat(count - GLOSSARY.length)
  expect(contextOffences(planted({ 'CONTEXT.md': filled(150) }))).toEqual([])
  expect(contextOffences(planted({ 'CONTEXT.md': filled(151) }))).toEqual([
    'CONTEXT.md has 151 lines, more than 150',
  ])
})

test('a benchmark or fault script without a row in the README of its folder is reported', () => {
  const readme = '# Benchmarks\n\n| `scan` | Scans. |\n'
  const files = { 'bench/README.md': readme, 'bench/scan.bench.ts': '', 'bench/scan.worker.ts': '' }
  expect(scriptsWithoutRow(planted(files))).toEqual([])
  const more = { ...files, 'bench/open.bench.ts': '', 'test/faults/log/kill.fault.ts': '' }
  expect(scriptsWithoutRow(planted(more))).toEqual([
    'bench/README.md does not describe open',
    'test/faults/README.md does not describe kill',
  ])
})
