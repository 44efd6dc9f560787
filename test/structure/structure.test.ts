import { nodeReachableFrom } from './browser/browser-checks.ts'
import { beforeAll, expect, test } from 'vitest'
import * as check from './checks.ts'
import { contextOffences, pathsThatDoNotExist, scriptsWithoutRow } from './document-checks.ts'
import { detailReads } from './error-checks.ts'
import { avoidedInComments, avoidedWords } from './language-checks.ts'
import { layerOffences } from './layer-checks.ts'
import { budgetOffences } from './size/line-budgets.ts'
import * as file from './file-checks.ts'
import { participleNames } from './name-checks.ts'
import {
  lockOffences,
  runtimePackagesOf,
  machineTraces,
  versionsNotExact,
  versionsThatDiffer,
} from './package-checks.ts'
import type { Tree } from './source.ts'
import { machineFolders, readTree } from './tree.ts'

let tree: Tree
beforeAll(async () => {
  tree = await readTree()
})

test('no file imports what its row of the import table forbids', () => {
  expect(check.importsOutsideTheTable(tree)).toEqual([])
})

test('every path in the import table exists', () => {
  expect(check.tablePathsWithoutFile(tree)).toEqual([])
})

test('the program imports only packages that are installed with it, and only from their owners', () => {
  expect(check.packagesOutsideTheTable(tree, runtimePackagesOf(tree))).toEqual([])
})

test('no source file is imported by tests only', () => {
  expect(check.sourcesWithoutImporter(tree)).toEqual([])
})

test('there is no import cycle', () => {
  expect(check.importCycles(tree)).toEqual([])
})

test('nothing that the app for browsers loads needs Node', () => {
  expect(nodeReachableFrom(tree, 'web/src/')).toEqual([])
})

test('no two folders import each other, at any depth', () => {
  expect(check.foldersImportingEachOther(tree)).toEqual([])
})

test('the command line is parsed before the validator is loaded', () => {
  expect(check.chainsToPackage(tree, 'bin/hawser.ts', 'zod')).toEqual([])
  expect(check.chainsToPackage(tree, 'src/presenters/cli/program.ts', 'zod')).toEqual([])
})

test('only the local server loads the HTTP framework', () => {
  for (const start of [
    'bin/hawser.ts',
    'src/presenters/cli/program.ts',
    'src/compose/workspace.ts',
  ]) {
    for (const name of ['hono', '@hono/node-server']) {
      expect(check.chainsToPackage(tree, start, name)).toEqual([])
    }
  }
  const chain = check.chainsToPackage(tree, 'src/presenters/http/serve.ts', 'hono')
  expect(chain.length).toBeGreaterThan(0)
})

test('the package that compares texts is loaded with no file', () => {
  for (const start of ['src/main.ts', 'src/compose/workspace.ts', 'src/tools/file-change.ts'])
    expect(check.chainsToPackage(tree, start, 'diff')).toEqual([])
})

test('the server that plays vendors is loaded only on demand', () => {
  expect(check.loadedAtOnce(tree, 'hawser-rehearse')).toEqual([])
})

test('rehearse has at most 5,000 lines without its tests', () => {
  const lines = file.linesUnder(tree, 'rehearse')
  console.log(`${lines} lines in rehearse`)
  expect(lines).toBeGreaterThan(3_000)
  expect(lines).toBeLessThanOrEqual(5_000)
})

test('no folder of the source has more lines than its budget', () => {
  expect(budgetOffences(tree)).toEqual([])
})

test('no source file is longer than 400 lines', () => {
  expect(file.filesTooLong(tree)).toEqual([])
})

test('no folder of the source or of test has more than 25 files', () => {
  const { files, median, p90, max } = file.fileSizes(tree)
  console.log(`${files} source files; lines: median ${median}, 90th percentile ${p90}, most ${max}`)
  expect(file.crowdedFolders(tree)).toEqual([])
})

test('no file has a meaningless name', () => {
  expect(file.meaninglessNames(tree)).toEqual([])
})

test('no two files of the source export a type of the same name', () => {
  expect(file.typesExportedTwice(tree)).toEqual([])
})

test('no file only re-exports names', () => {
  expect(file.barrels(tree)).toEqual([])
})

test('only the host reads the clock', () => {
  expect(file.clockReads(tree)).toEqual([])
})

test('only the blob store knows where blobs are stored [TI-011]', () => {
  expect(file.blobPaths(tree)).toEqual([])
})

test('our own requests are read strictly in every test', () => {
  expect(file.looseServers(tree)).toEqual([])
})

test('no code branches on a field of the details of an error', () => {
  expect(detailReads(tree)).toEqual([])
})

test('text for people uses no avoided word', () => {
  expect(avoidedWords(tree)).toEqual([])
})

test('no comment and no title of a test uses an avoided word', () => {
  expect(avoidedInComments(tree)).toEqual([])
})

test('no type, function, constant or field of the source is named by a bare participle', () => {
  expect(participleNames(tree)).toEqual([])
})

test('a Turn is opened in one place and ended in one place', () => {
  expect(file.draftsOutOfPlace(tree)).toEqual([])
  expect(file.draftsMissing(tree)).toEqual([])
})

test('no comment disables a boundary check', () => {
  expect(file.silencedBoundaries(tree)).toEqual([])
})

test('every benchmark and fault script is described in the README of its folder', () => {
  expect(scriptsWithoutRow(tree)).toEqual([])
})

test('every path in the documents exists', () => {
  expect(pathsThatDoNotExist(tree)).toEqual([])
})

test('src/README.md describes every layer, with the imports of the table and a file to read first', () => {
  expect(layerOffences(tree)).toEqual([])
})

test('CONTEXT.md is short and defines every word of the glossary [SR-037]', () => {
  expect(contextOffences(tree)).toEqual([])
})

test('every package.json requires exact versions', () => {
  expect(versionsNotExact(tree)).toEqual([])
})

test('both packages have one version, which hawser names, and agree on the versions of others', () => {
  expect(versionsThatDiffer(tree)).toEqual([])
})

test('package-lock.json is complete and does not contain package addresses', () => {
  expect(lockOffences(tree)).toEqual([])
})

test('no file reveals the machine it was written on', () => {
  expect(machineTraces(tree, machineFolders())).toEqual([])
})

test('.ci/run includes the check, the whole suite and the dry probe of the built program [PC-074]', () => {
  const proof = tree.get('.ci/run') ?? ''
  const steps = [...proof.matchAll(/^step '([^']+)' \d+ (.*?)(?: --reporter.*| \|\| finish)?$/gm)]
  expect(steps.map(([, name, command]) => `${name}: ${command}`)).toEqual(
    expect.arrayContaining([
      'check: npm run --silent check',
      'test: npm test --',
      'long tests: npm run test:long --',
      'build: npm run --silent build',
      "smoke on this Node: bash -c 'smoke node'",
    ]),
  )
  const smoke = /^smoke\(\) \{\n(.*?)^\}/ms.exec(proof)?.[1]
  expect(smoke).toContain(
    "const probe = JSON.parse(run('cache', 'probe', '--dry-run', '--json'))\n",
  )
  expect(smoke).toContain("spawn(process.argv[2], ['dist/hawser.cjs', 'rehearse', '--json']")
  expect(smoke).toMatch(/^ +if \(!probe\.ok \|\| !probe\.dry_run\) throw /m)
  expect(JSON.parse(tree.get('package.json') ?? '')).toMatchObject({
    scripts: {
      check: 'node scripts/check.mjs',
      test: 'vitest run',
      'test:long': 'node scripts/build.mjs --if-stale && vitest run --config vitest.long.config.ts',
      build: 'node scripts/build.mjs',
    },
  })
  // The whole suite excludes only what the long one runs, so it includes the suites of providers, Turns and compaction.
  const config = tree.get('vitest.config.ts') ?? ''
  const listed = (name: string) => new RegExp(`^ +${name}: \\[(.*?)\\]`, 'm').exec(config)?.[1]
  expect(listed('include')).toBe(
    "'src/**/*.test.ts', 'rehearse/src/**/*.test.ts', 'test/**/*.test.ts'",
  )
  const left = "'node_modules/**', 'dist/**', 'web/**', '**/*.long.test.ts'"
  expect(listed('exclude')).toBe(left)
})
