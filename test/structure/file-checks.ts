import { Visitor, type ESTree } from 'rolldown/utils'
import { codeOf, isPackageSource, isTest, lineOf, parse, type Tree } from './source.ts'

const LONGEST_FILE = 400
const MOST_FILES = 25
const PUBLIC_NAMES = 'src/index.ts'
const EMPTY_WORD = /^(utils?|helpers?|commons?|managers?|misc|v2|legacy)$/i
const SCRIPT = /^(scripts\/.*\.sh|\.ci\/.*)$/

export function filesTooLong(tree: Tree): string[] {
  const scripts = [...tree].filter(([path]) => SCRIPT.test(path))
  return [...codeOf(tree), ...scripts].flatMap(([path, text]) => {
    const lines = text.replace(/\n$/, '').split('\n').length
    return lines > LONGEST_FILE ? [`${path} has ${lines} lines; split it by what it knows`] : []
  })
}

/** Beside the source, tests do not count: they double the size of a folder without adding a subject. */
export function crowdedFolders(tree: Tree): string[] {
  const counts = new Map<string, number>()
  for (const path of codeOf(tree).keys()) {
    if (!isPackageSource(path) && !path.startsWith('test/')) continue
    const folder = path.slice(0, path.lastIndexOf('/'))
    counts.set(folder, (counts.get(folder) ?? 0) + 1)
  }
  return [...counts]
    .filter(([, count]) => count > MOST_FILES)
    .map(([folder, count]) => `${folder} has ${count} files; divide it by subject`)
}

/** All lines of the texts below a folder: code and data, without tests. */
export function linesUnder(tree: Tree, folder: string): number {
  return [...tree]
    .filter(([path]) => path.startsWith(`${folder}/`) && !isTest(path))
    .reduce((sum, [, text]) => sum + text.replace(/\n$/, '').split('\n').length, 0)
}

/** Lines of the source files without tests: printed for people, not enforced by a test. */
export function fileSizes(tree: Tree): { files: number; median: number; p90: number; max: number } {
  const lines = [...codeOf(tree)]
    .filter(([path]) => path.startsWith('src/') && !isTest(path))
    .map(([, text]) => text.replace(/\n$/, '').split('\n').length)
    .toSorted((a, b) => a - b)
  const at = (share: number) => lines[Math.floor((lines.length - 1) * share)] ?? 0
  return { files: lines.length, median: at(0.5), p90: at(0.9), max: at(1) }
}

export function meaninglessNames(tree: Tree): string[] {
  return [...codeOf(tree).keys()].flatMap((path) => {
    const offending = path.split(/[/.-]/).find((word) => EMPTY_WORD.test(word))
    if (offending !== undefined)
      return [`${path}: "${offending}" says nothing; use a word of the glossary`]
    if (/\/index\.\w+$/.test(path) && path !== PUBLIC_NAMES)
      return [`${path}: only ${PUBLIC_NAMES} is an index`]
    return []
  })
}

/** One word, one meaning: a type that two source files export is either a duplicate or a homonym. */
export function typesExportedTwice(tree: Tree): string[] {
  const files = new Map<string, string[]>()
  for (const [path, text] of codeOf(tree)) {
    if (!isPackageSource(path)) continue
    for (const name of exportedTypes(path, text))
      files.set(name, [...(files.get(name) ?? []), path])
  }
  return [...files]
    .filter(([, paths]) => paths.length > 1)
    .map(([name, paths]) => `${paths.join(' and ')} export a type ${name}; name each meaning once`)
}

function exportedTypes(path: string, text: string): Set<string> {
  const names = parse(path, text).program.body.flatMap((statement) => {
    if (statement.type !== 'ExportNamedDeclaration') return []
    const { declaration } = statement
    const isType =
      declaration?.type === 'TSInterfaceDeclaration' ||
      declaration?.type === 'TSTypeAliasDeclaration' ||
      declaration?.type === 'ClassDeclaration'
    return isType && declaration.id !== null ? [declaration.id.name] : []
  })
  return new Set(names)
}

export function barrels(tree: Tree): string[] {
  return [...codeOf(tree)].flatMap(([path, text]) => {
    const { body } = parse(path, text).program
    if (body.some((statement) => statement.type === 'ExportAllDeclaration')) {
      return [`${path} exports everything of a file; export names one by one`]
    }
    const exports = body.filter(
      (statement) => statement.type === 'ExportNamedDeclaration' && statement.declaration === null,
    )
    const onlyPassesOn =
      exports.length > 0 &&
      body.every(
        (statement) => statement.type === 'ImportDeclaration' || exports.includes(statement),
      )
    return onlyPassesOn && path !== PUBLIC_NAMES
      ? [`${path} only passes names on; import from their files`]
      : []
  })
}

/** What lint cannot express: `new Date()` reads the clock, `new Date(value)` does not. */
export function clockReads(tree: Tree): string[] {
  return outsideHost(tree).flatMap(([path, text]) => {
    const reads: number[] = []
    new Visitor({
      NewExpression: (node) => {
        if (isDate(node.callee) && node.arguments.length === 0) reads.push(node.start)
      },
      CallExpression: (node) => {
        if (isDate(node.callee)) reads.push(node.start)
      },
    }).visit(parse(path, text).program)
    return reads.map(
      (at) => `${path}:${lineOf(text, at)} reads the clock; take the time from src/host`,
    )
  })
}

/** A comment must not disable the lint rules that guard files, processes, clock, randomness and console. */
export function silencedBoundaries(tree: Tree): string[] {
  return outsideHost(tree).flatMap(([path, text]) =>
    parse(path, text)
      .comments.filter(
        ({ value }) => /lint-disable/.test(value) && /no-restricted-|no-console/.test(value),
      )
      .map(
        ({ start }) =>
          `${path}:${lineOf(text, start)} silences a boundary; pass the world in instead`,
      ),
  )
}

/** Only the blob store, and the host that opens its folder, know where blobs are stored; all others use keys. */
export function blobPaths(tree: Tree): string[] {
  return outsideHost(tree)
    .filter(([path]) => !path.startsWith('src/blobs/'))
    .flatMap(([path, text]) => {
      const built: number[] = []
      const look = (value: unknown, at: number) => {
        // A path of a module ends in .ts; a path of a blob does not.
        if (typeof value !== 'string' || value.endsWith('.ts')) return
        // A route of the API has a parameter, and no path has one.
        if (/^((GET|POST) \/v1)?\/instances\/:id\//.test(value)) return
        if (/(^|\/)blobs(\/|$)/.test(value)) built.push(at)
      }
      new Visitor({
        Literal: (node) => look(node.value, node.start),
        TemplateElement: (node) => look(node.value.cooked, node.start),
      }).visit(parse(path, text).program)
      return built.map(
        (at) => `${path}:${lineOf(text, at)} knows where blobs lie; take a key to the store`,
      )
    })
}

const STRICT_SERVER = 'test/support/providers/strict-server.ts'

/** Every test sends our own requests to a server that reads them strictly, because one place starts that server. */
export function looseServers(tree: Tree): string[] {
  return [...tree]
    .filter(([path]) => path.endsWith('.ts') && (isTest(path) || /^(test|bench)\//.test(path)))
    .filter(([path]) => path !== STRICT_SERVER)
    .flatMap(([path, text]) => {
      const calls: number[] = []
      new Visitor({
        CallExpression: ({ callee, start }) => {
          if (callee.type === 'Identifier' && SERVERS.has(callee.name)) calls.push(start)
        },
      }).visit(parse(path, text).program)
      return calls.map(
        (at) => `${path}:${lineOf(text, at)} starts a lenient server; take ${STRICT_SERVER}`,
      )
    })
}

const SERVERS: ReadonlySet<string> = new Set([
  'rehearsalServer',
  'serveRehearsal',
  'composeRehearsal',
])

/** Events that only one place may record: two places would eventually record them differently. */
const RECORDED_BY: Readonly<Record<string, string>> = {
  turn_started: 'src/turn/open.ts',
  late_context: 'src/turn/open.ts',
  turn_ended: 'src/turn/end.ts',
}

/** An object with such a `type` and with `data` is a draft of an Event or an invented Event. */
export function draftsOutOfPlace(tree: Tree): string[] {
  return sourceOf(tree).flatMap(([path, text]) => {
    const offences: string[] = []
    new Visitor({
      ObjectExpression: (node) => {
        const type = literalOf(node, 'type')
        const owner = type === undefined ? undefined : RECORDED_BY[type]
        if (owner === undefined || owner === path || !hasKey(node, 'data')) return
        offences.push(
          `${path}:${lineOf(text, node.start)} makes a ${type} Event; ${owner} does that`,
        )
      },
    }).visit(parse(path, text).program)
    return offences
  })
}

/** Files that should record an Event and do not: `draftsOutOfPlace` would otherwise find nothing anywhere. */
export function draftsMissing(tree: Tree): string[] {
  return Object.entries(RECORDED_BY).flatMap(([type, path]) => {
    let found = 0
    new Visitor({
      ObjectExpression: (node) => {
        if (literalOf(node, 'type') === type && hasKey(node, 'data')) found += 1
      },
    }).visit(parse(path, tree.get(path) ?? '').program)
    return found === 1 ? [] : [`${path} makes ${found} ${type} Events instead of one`]
  })
}

/** The text of a property, with or without `as const`; `undefined` if it is computed or missing. */
function literalOf(node: ESTree.ObjectExpression, name: string): string | undefined {
  for (const property of node.properties) {
    if (!isNamed(property, name)) continue
    const value =
      property.value.type === 'TSAsExpression' ? property.value.expression : property.value
    if (value.type === 'Literal' && typeof value.value === 'string') return value.value
  }
  return undefined
}

function hasKey(node: ESTree.ObjectExpression, name: string): boolean {
  return node.properties.some((property) => isNamed(property, name))
}

function isNamed(
  property: ESTree.ObjectExpression['properties'][number],
  name: string,
): property is ESTree.ObjectProperty {
  return (
    property.type === 'Property' && property.key.type === 'Identifier' && property.key.name === name
  )
}

/** Both packages, without tests. */
function sourceOf(tree: Tree): [string, string][] {
  return [...codeOf(tree)].filter(([path]) => isPackageSource(path))
}

/** The source that gets the outside world passed in. */
function outsideHost(tree: Tree): [string, string][] {
  return sourceOf(tree).filter(([path]) => !path.startsWith('src/host/'))
}

function isDate(callee: { readonly type: string; readonly name?: unknown }): boolean {
  return callee.type === 'Identifier' && callee.name === 'Date'
}
