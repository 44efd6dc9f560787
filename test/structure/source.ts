import { posix } from 'node:path'
import { parseSync, Visitor, type ESTree } from 'rolldown/utils'

/** Files by their path from the root of the repository, with `/` between segments. */
export type Tree = ReadonlyMap<string, string>

/** A specifier that is known only at run time. */
export const COMPUTED = '<computed>'

const CODE = /\.(ts|tsx|mts|mjs|js)$/
const SOURCE_FOLDERS = /^(src|rehearse|web|bin|test|bench|scripts)\//

export function isTest(path: string): boolean {
  return path.endsWith('.test.ts')
}

/** The source of a package, without tests: of hawser in `src`, of hawser-rehearse in `rehearse/src`. */
export function isPackageSource(path: string): boolean {
  return /^(rehearse\/)?src\//.test(path) && !isTest(path)
}

/** The parts of the tree that contain code, without vectors: those are data, whatever their extension. */
export function codeOf(tree: Tree): Tree {
  return new Map(
    [...tree].filter(
      ([path]) => CODE.test(path) && SOURCE_FOLDERS.test(path) && !path.startsWith('test/vectors/'),
    ),
  )
}

/** Every check reads every file, so each file is parsed once. */
export const parse = remembered((path: string, text: string) => {
  const result = parseSync(path, text)
  const first = result.errors[0]
  if (first !== undefined) throw new Error(`${path} does not parse: ${first.message}`)
  return result
})

/** Every specifier in the file: imports, re-exports, dynamic imports, and imports inside types. */
export const specifiersOf = remembered((path: string, text: string): readonly string[] => {
  const found: string[] = []
  new Visitor({
    ImportDeclaration: (node) => void found.push(node.source.value),
    ExportAllDeclaration: (node) => void found.push(node.source.value),
    ExportNamedDeclaration: (node) => {
      if (node.source !== null) found.push(node.source.value)
    },
    ImportExpression: (node) => void found.push(constantText(node.source)),
    TSImportType: (node) => void found.push(node.source.value),
    TSExternalModuleReference: (node) => void found.push(node.expression.value),
  }).visit(parse(path, text).program)
  return found
})

/** The specifiers that are loaded with the file: not those of types, nor those that are imported later. */
export const loadedWith = remembered((path: string, text: string): readonly string[] => {
  const found: string[] = []
  new Visitor({
    ImportDeclaration: ({ importKind, source, specifiers }) => {
      const isValue = specifiers.some(
        (one) => one.type !== 'ImportSpecifier' || one.importKind !== 'type',
      )
      if (importKind !== 'type' && (isValue || specifiers.length === 0)) found.push(source.value)
    },
    ExportAllDeclaration: ({ exportKind, source }) => {
      if (exportKind !== 'type') found.push(source.value)
    },
    ExportNamedDeclaration: ({ exportKind, source }) => {
      if (exportKind !== 'type' && source !== null) found.push(source.value)
    },
  }).visit(parse(path, text).program)
  return found
})

function remembered<T>(read: (path: string, text: string) => T): (path: string, text: string) => T {
  const known = new Map<string, { readonly text: string; readonly value: T }>()
  return (path, text) => {
    const found = known.get(path)
    if (found?.text === text) return found.value
    const value = read(path, text)
    known.set(path, { text, value })
    return value
  }
}

function constantText(node: ESTree.Expression): string {
  if (node.type === 'Literal' && typeof node.value === 'string') return node.value
  if (node.type === 'TemplateLiteral' && node.expressions.length === 0) {
    return node.quasis[0]?.value.cooked ?? COMPUTED
  }
  return COMPUTED
}

export function isRelative(specifier: string): boolean {
  return /^\.{1,2}(\/|$)/.test(specifier)
}

/** The path a relative specifier leads to, from the root of the repository. */
export function resolve(from: string, specifier: string): string {
  return posix.join(posix.dirname(from), specifier)
}

export function lineOf(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length
}
