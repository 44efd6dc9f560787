import { beforeAll, expect, test } from 'vitest'
import * as check from './checks.ts'
import { contextOffences, pathsThatDoNotExist } from './document-checks.ts'
import { detailReads } from './error-checks.ts'
import { avoidedWords } from './language-checks.ts'
import * as file from './file-checks.ts'
import {
  lockOffences,
  runtimePackagesOf,
  traitsOfAMachine,
  versionsNotExact,
} from './package-checks.ts'
import type { Tree } from './source.ts'
import { machineFolders, readTree } from './tree.ts'

let tree: Tree
beforeAll(async () => {
  tree = await readTree()
})

test('no file imports what its row of the import table does not allow', () => {
  expect(check.importsOutsideTheTable(tree)).toEqual([])
})

test('the program imports only packages that are installed with it, from where they belong', () => {
  expect(check.packagesOutsideTheTable(tree, runtimePackagesOf(tree))).toEqual([])
})

test('no files import each other in a circle', () => {
  expect(check.importCycles(tree)).toEqual([])
})

test('no two folders import each other, at any depth', () => {
  expect(check.foldersImportingEachOther(tree)).toEqual([])
})

test('no source file is longer than 400 lines', () => {
  expect(file.filesTooLong(tree)).toEqual([])
})

test('no folder of the source has more than 25 files', () => {
  const { files, median, p90, max } = file.fileSizes(tree)
  console.log(`${files} source files; lines: median ${median}, 90th percentile ${p90}, most ${max}`)
  expect(file.crowdedFolders(tree)).toEqual([])
})

test('no file has a name that says nothing', () => {
  expect(file.namesThatSayNothing(tree)).toEqual([])
})

test('no two files of the source export a type of the same name', () => {
  expect(file.typesExportedTwice(tree)).toEqual([])
})

test('no file only passes names on', () => {
  expect(file.barrels(tree)).toEqual([])
})

test('only the host reads the clock', () => {
  expect(file.clockReads(tree)).toEqual([])
})

test('only the blob store knows where blobs lie [TI-011]', () => {
  expect(file.blobPaths(tree)).toEqual([])
})

test('no code decides on a field of the details of an error', () => {
  expect(detailReads(tree)).toEqual([])
})

test('text for people uses no avoided word', () => {
  expect(avoidedWords(tree)).toEqual([])
})

test('a Turn is opened in one place and ended in one place', () => {
  expect(file.draftsOutOfPlace(tree)).toEqual([])
  expect(file.draftsMissing(tree)).toEqual([])
})

test('no comment silences a boundary', () => {
  expect(file.silencedBoundaries(tree)).toEqual([])
})

test('every path the documents name exists', () => {
  expect(pathsThatDoNotExist(tree)).toEqual([])
})

test('CONTEXT.md is short and defines every word of the glossary [SR-037]', () => {
  expect(contextOffences(tree)).toEqual([])
})

test('package.json asks for exact versions', () => {
  expect(versionsNotExact(tree)).toEqual([])
})

test('package-lock.json is complete and does not say where packages were fetched from', () => {
  expect(lockOffences(tree)).toEqual([])
})

test('no file tells on which machine it was written', () => {
  expect(traitsOfAMachine(tree, machineFolders())).toEqual([])
})

test('the least proof of a change runs the check, the whole suite and the dry probe of the built program [PC-074]', () => {
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
  expect(smoke).toContain("run('cache', 'probe', '--dry-run', '--json')")
  // The whole suite leaves out nothing but what the long one runs, so it holds those of providers, Turns and compaction.
  const include = /include: \[(.*?)\]/.exec(tree.get('vitest.config.ts') ?? '')?.[1]
  expect(include).toBe("'src/**/*.test.ts', 'test/**/*.test.ts'")
})
