import { basename, dirname } from 'node:path'
import {
  codeOf,
  isRelative,
  isTest,
  resolve,
  specifiersOf,
  type Tree,
} from '../structure/source.ts'

/** A test file that a change can affect; `distance` is the number of imports between the two, 0 for a changed test. */
export interface RelatedTest {
  readonly path: string
  readonly distance: number
}

/** The tests of the vectors, among data that is not code. */
const VECTOR_TEST = /^test\/vectors\/[^/]+\.ts$/

/**
 * The test files that a change of `changed` can affect, nearest first: by the number of imports, then by the folders that they
 * share with the change. A changed file that is not code concerns the code that mentions its name. Long tests are excluded.
 */
export function relatedTests(tree: Tree, changed: readonly string[]): RelatedTest[] {
  const code = new Map([...codeOf(tree), ...[...tree].filter(([path]) => VECTOR_TEST.test(path))])
  const importers = importersIn(code)
  const distances = new Map<string, number>()
  let edge = changed.flatMap((path) => (code.has(path) ? [path] : mentioning(code, path)))
  for (let distance = 0; edge.length > 0; distance += 1) {
    const next: string[] = []
    for (const path of edge) {
      if (distances.has(path)) continue
      distances.set(path, distance)
      next.push(...(importers.get(path) ?? []))
    }
    edge = next
  }
  const folders = changed.map((path) => dirname(path))
  return [...distances]
    .filter(([path]) => isTest(path) && !path.endsWith('.long.test.ts'))
    .map(([path, distance]) => ({ path, distance, shared: sharedDepth(path, folders) }))
    .toSorted(
      (a, b) => a.distance - b.distance || b.shared - a.shared || a.path.localeCompare(b.path),
    )
    .map(({ path, distance }) => ({ path, distance }))
}

/**
 * As many of the nearest tests as fit into `seconds` on `workers`; `durations` has the seconds of earlier runs. A changed test always
 * runs.
 */
export function testsWithin(
  related: readonly RelatedTest[],
  seconds: number,
  {
    workers,
    durations,
  }: { readonly workers: number; readonly durations: ReadonlyMap<string, number> },
): string[] {
  let left = seconds * workers
  return related
    .filter(({ path, distance }) => {
      const cost = durations.get(path) ?? unknownSeconds(path)
      if (distance > 0 && cost > left) return false
      left -= cost
      return true
    })
    .map(({ path }) => path)
}

/** A unit test takes milliseconds and a story takes seconds, by the runs so far. */
function unknownSeconds(path: string): number {
  return path.startsWith('test/') ? 4 : 1
}

function importersIn(code: Tree): Map<string, string[]> {
  const found = new Map<string, string[]>()
  for (const [path, text] of code)
    for (const specifier of specifiersOf(path, text).filter(isRelative)) {
      const target = resolve(path, specifier)
      found.set(target, [...(found.get(target) ?? []), path])
    }
  return found
}

/** A snapshot belongs to the test it is named after. A document is found by the structure tests, which always run. */
function mentioning(code: Tree, path: string): string[] {
  const name = basename(path).replace(/\.snap$/, '')
  if (name.endsWith('.md')) return []
  return [...code]
    .filter(([candidate, text]) => basename(candidate) === name || text.includes(name))
    .map(([candidate]) => candidate)
}

function sharedDepth(path: string, folders: readonly string[]): number {
  const own = dirname(path).split('/')
  const depths = folders.map((folder) => {
    const differs = folder.split('/').findIndex((segment, at) => segment !== own[at])
    return differs === -1 ? folder.split('/').length : differs
  })
  return Math.max(0, ...depths)
}
