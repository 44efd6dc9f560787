import { IMPORT_TABLE, PACKAGE_OWNERS, TESTS_MAY_ALSO_IMPORT } from './import-table.ts'
import {
  codeOf,
  COMPUTED,
  isRelative,
  isTest,
  loadedWith,
  resolve,
  specifiersOf,
  type Tree,
} from './source.ts'

/** Every check takes files by path and returns one sentence per offence. */

export function importsOutsideTheTable(tree: Tree): string[] {
  return [...codeOf(tree)].flatMap(([path, text]) => {
    const row = rowOf(path)
    if (row === undefined) return [`${path} lies in no unit of the import table`]
    return specifiersOf(path, text)
      .filter(isRelative)
      .map((specifier) => resolve(path, specifier))
      .filter(
        (target) => unitOf(target) !== unitOf(path) && !row.some((entry) => covers(entry, target)),
      )
      .map((target) => `${path} may not import ${target}`)
  })
}

export function packagesOutsideTheTable(tree: Tree, runtimePackages: readonly string[]): string[] {
  return [...codeOf(tree)].flatMap(([path, text]) =>
    specifiersOf(path, text)
      .filter((specifier) => !isRelative(specifier) && !specifier.startsWith('node:'))
      .filter((specifier) => !mayUsePackage(path, specifier, runtimePackages))
      .map((specifier) => `${path} may not import ${specifier}`),
  )
}

export function importCycles(tree: Tree): string[] {
  const graph = importGraph(tree)
  const cycles: string[] = []
  const finished = new Set<string>()
  const trail: string[] = []

  function walk(path: string): void {
    const seenAt = trail.indexOf(path)
    if (seenAt >= 0) cycles.push([...trail.slice(seenAt), path].join(' -> '))
    if (seenAt >= 0 || finished.has(path)) return
    trail.push(path)
    for (const target of graph.get(path) ?? []) walk(target)
    trail.pop()
    finished.add(path)
  }

  for (const path of graph.keys()) walk(path)
  return cycles
}

/**
 * Two sibling folders import each other if any file below one imports any file below the other. The files directly in
 * a folder count as a sibling of its subfolders. Tests are excluded: `test/support` may import a folder whose
 * tests import `test/support`.
 */
export function foldersImportingEachOther(tree: Tree): string[] {
  const edges = new Set<string>()
  for (const [path, targets] of importGraph(tree)) {
    if (isTest(path)) continue
    for (const target of targets) {
      const [from, to] = divergingFolders(path, target)
      if (from !== to) edges.add(`${from} ${to}`)
    }
  }
  return [...edges].flatMap((edge) => {
    const [from = '', to = ''] = edge.split(' ')
    return from < to && edges.has(`${to} ${from}`) ? [`${from} and ${to} import each other`] : []
  })
}

/** How importing `path` loads the package: the chain of files to each file that imports it. */
export function chainsToPackage(tree: Tree, path: string, name: string): string[] {
  const chains: string[] = []
  const seen = new Set<string>()
  function walk(at: string, trail: readonly string[]): void {
    if (seen.has(at)) return
    seen.add(at)
    const text = tree.get(at)
    if (text === undefined) return
    for (const specifier of loadedWith(at, text)) {
      if (specifier === name) chains.push([...trail, at, name].join(' -> '))
      if (isRelative(specifier)) walk(resolve(at, specifier), [...trail, at])
    }
  }
  walk(path, [])
  return chains
}

/** The two folders in the deepest common folder of the files; `src/log/*` for a file directly in `src/log`. */
function divergingFolders(path: string, target: string): [string, string] {
  const from = path.split('/')
  const to = target.split('/')
  const depth = from.findIndex((segment, at) => segment !== to[at])
  const folder = (segments: string[]) =>
    depth < segments.length - 1
      ? segments.slice(0, depth + 1).join('/')
      : [...segments.slice(0, depth), '*'].join('/')
  return depth < 0 ? ['', ''] : [folder(from), folder(to)]
}

function importGraph(tree: Tree): Map<string, string[]> {
  const code = codeOf(tree)
  return new Map(
    [...code].map(([path, text]) => [
      path,
      specifiersOf(path, text)
        .filter(isRelative)
        .map((specifier) => resolve(path, specifier))
        .filter((target) => code.has(target)),
    ]),
  )
}

/** `src/log/append.ts` -> `log`, `src/presenters/acp/serve.ts` -> `presenters/acp`, `bin/hawser.ts` -> `bin`. */
function unitOf(path: string): string {
  const segments = path.split('/')
  if (segments[0] !== 'src') return segments[0] ?? ''
  if (segments[1] === 'presenters' && segments.length > 3) return `presenters/${segments[2]}`
  return (segments[1] ?? '').replace(/\.test\.ts$/, '.ts')
}

function rowOf(path: string): readonly string[] | undefined {
  const unit = unitOf(path)
  const row = IMPORT_TABLE[unit.startsWith('presenters/') ? 'presenters/*' : unit]
  return row !== undefined && isTest(path) ? [...row, ...TESTS_MAY_ALSO_IMPORT.folders] : row
}

function covers(entry: string, target: string): boolean {
  const root = /^(src|test|bench|scripts|bin)(\/|$)/.test(entry) ? entry : `src/${entry}`
  return target === root || target.startsWith(`${root}/`)
}

function mayUsePackage(
  path: string,
  specifier: string,
  runtimePackages: readonly string[],
): boolean {
  if (!path.startsWith('src/') && !path.startsWith('bin/')) return true
  const name = specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
  if (specifier === COMPUTED) return false
  if (isTest(path) && TESTS_MAY_ALSO_IMPORT.packages.some((allowed) => allowed === name))
    return true
  const owner = PACKAGE_OWNERS[name]
  return runtimePackages.includes(name) && (owner === undefined || owner === unitOf(path))
}
