import { IMPORT_TABLE, PACKAGE_OWNERS, TESTS_MAY_ALSO_IMPORT } from './import-table.ts'
import { packagesOf } from './package-checks.ts'
import {
  codeOf,
  COMPUTED,
  isPackageSource,
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

/** A path in the table that no file has would allow an import that was not decided, once there is such a file. */
export function tablePathsWithoutFile(
  tree: Tree,
  table: Readonly<Record<string, readonly string[]>> = IMPORT_TABLE,
  owners: Readonly<Record<string, string>> = PACKAGE_OWNERS,
): string[] {
  const named = [...Object.keys(table), ...Object.values(table).flat(), ...Object.values(owners)]
  const paths = [...codeOf(tree).keys()]
  return [...new Set(named)]
    .filter((entry) => !paths.some((path) => covers(entry.replace(/\/\*$/, ''), path)))
    .map((entry) => `the import table names ${entry}, which does not exist`)
}

/** `installed`: the packages that are installed with hawser. */
export function packagesOutsideTheTable(tree: Tree, installed: readonly string[]): string[] {
  const bundled = packagesOf(tree, 'rehearse/package.json')
  const shown = packagesOf(tree, 'web/package.json')
  return [...codeOf(tree)].flatMap(([path, text]) =>
    specifiersOf(path, text)
      .filter((specifier) => !isRelative(specifier) && !specifier.startsWith('node:'))
      .filter((specifier) => {
        const ours = path.startsWith('web/') ? shown : installed
        const available = path.startsWith('rehearse/') ? bundled : ours
        return !mayUsePackage(path, specifier, available)
      })
      .map((specifier) => `${path} may not import ${specifier}`),
  )
}

/** Files of the program that load a package when they are loaded themselves. */
export function loadedAtOnce(tree: Tree, name: string): string[] {
  return [...codeOf(tree)]
    .filter(([path, text]) => /^(src|bin)\//.test(path) && loadedWith(path, text).includes(name))
    .map(([path]) => `${path} loads ${name} at once; import it where it is used`)
}

/** What a program or a package begins with. */
const ENTRIES = new Set(['src/index.ts', 'rehearse/src/rehearse.ts'])

/** What only its tests import runs in no program. */
export function sourcesWithoutImporter(tree: Tree): string[] {
  const source = [...codeOf(tree)].filter(
    ([path]) => isPackageSource(path) || path.startsWith('bin/'),
  )
  const imported = new Set(
    source.flatMap(([path, text]) =>
      specifiersOf(path, text)
        .filter(isRelative)
        .map((specifier) => resolve(path, specifier)),
    ),
  )
  return source
    .map(([path]) => path)
    .filter((path) => isPackageSource(path) && !path.endsWith('.d.ts'))
    .filter((path) => !ENTRIES.has(path) && !imported.has(path))
    .map((path) => `${path} is imported by tests only; remove it, or use it`)
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
  const root = /^(src|rehearse|web|test|bench|scripts|bin)(\/|$)/.test(entry)
    ? entry
    : `src/${entry}`
  return target === root || target.startsWith(`${root}/`)
}

function mayUsePackage(path: string, specifier: string, available: readonly string[]): boolean {
  if (!/^(src|bin|rehearse|web\/src)\//.test(path)) return true
  const name = specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
  if (specifier === COMPUTED) return false
  if (isTest(path) && TESTS_MAY_ALSO_IMPORT.packages.some((allowed) => allowed === name))
    return true
  // The app is a package of its own.
  const owner = path.startsWith('web/') ? undefined : PACKAGE_OWNERS[name]
  return available.includes(name) && (owner === undefined || covers(owner, path))
}
