import { Visitor, type ESTree } from 'rolldown/utils'
import { codeOf, isPackageSource, lineOf, parse, type Tree } from './source.ts'

/**
 * The details of an error are for people and for JSON: copied or printed whole, never branched on. The check follows names, not
 * values: an expression counts as details if it ends in `.details`, is called `details`, or was bound to one of these.
 */
export function detailReads(tree: Tree): string[] {
  return [...codeOf(tree)]
    .filter(([path]) => isPackageSource(path))
    .filter(([, text]) => text.includes('details'))
    .flatMap(([path, text]) => {
      const { program } = parse(path, text)
      const names = namesOfDetails(program, text)
      return readsIn(program, text, names).map(
        (at) => `${path}:${lineOf(text, at)} reads a field of details; give the error a cause`,
      )
    })
}

type Node = ESTree.Node

/** The names that a file uses for the details of an error. */
function namesOfDetails(program: ESTree.Program, text: string): ReadonlySet<string> {
  const names = new Set(['details'])
  const bind = (pattern: Node) => {
    const target = pattern.type === 'AssignmentPattern' ? pattern.left : pattern
    if (target.type === 'Identifier') names.add(target.name)
  }
  new Visitor({
    ObjectPattern: ({ properties }) => {
      for (const one of properties) if (one.type === 'Property' && isNamed(one)) bind(one.value)
    },
    VariableDeclarator: ({ id, init }) => {
      if (init !== null && isDetails(init, names)) bind(id)
    },
    Identifier: (node) => {
      if (isTypedDetails(node, text)) names.add(node.name)
    },
  }).visit(program)
  return names
}

function readsIn(program: ESTree.Program, text: string, names: ReadonlySet<string>): number[] {
  const reads: number[] = []
  const taken = (pattern: Node) => {
    const target = pattern.type === 'AssignmentPattern' ? pattern.left : pattern
    if (target.type !== 'ObjectPattern') return
    if (target.properties.some(({ type }) => type === 'Property')) reads.push(target.start)
  }
  new Visitor({
    MemberExpression: ({ object, start }) => {
      if (isDetails(object, names)) reads.push(start)
    },
    ObjectPattern: (node) => {
      if (isTypedDetails(node, text)) taken(node)
      for (const one of node.properties)
        if (one.type === 'Property' && isNamed(one)) taken(one.value)
    },
    VariableDeclarator: ({ id, init }) => {
      if (init !== null && isDetails(init, names)) taken(id)
    },
    AssignmentExpression: ({ left, right }) => {
      if (isDetails(right, names)) taken(left)
    },
    BinaryExpression: ({ operator, right, start }) => {
      if (operator === 'in' && isDetails(right, names)) reads.push(start)
    },
    CallExpression: ({ callee, arguments: [first], start }) => {
      const looks = /^(Reflect\.(get|has)|Object\.hasOwn)$/
      if (first === undefined || !isDetails(first, names)) return
      if (looks.test(text.slice(callee.start, callee.end))) reads.push(start)
    },
  }).visit(program)
  return reads
}

/** Through parentheses, assertions, `?.` and `??`. */
function isDetails(node: Node, names: ReadonlySet<string>): boolean {
  if (node.type === 'Identifier') return names.has(node.name)
  if (node.type === 'MemberExpression') {
    const { property } = node
    if (property.type === 'Identifier') return !node.computed && property.name === 'details'
    return property.type === 'Literal' && property.value === 'details'
  }
  if (node.type === 'LogicalExpression') return isDetails(node.left, names)
  return isWrapper(node) && isDetails(node.expression, names)
}

function isWrapper(node: Node) {
  return (
    node.type === 'ChainExpression' ||
    node.type === 'ParenthesizedExpression' ||
    node.type === 'TSNonNullExpression' ||
    node.type === 'TSAsExpression' ||
    node.type === 'TSSatisfiesExpression'
  )
}

function isNamed({ key }: { readonly key: Node }): boolean {
  if (key.type === 'Identifier') return key.name === 'details'
  return key.type === 'Literal' && key.value === 'details'
}

/** A parameter or variable that is declared as the details of an error. */
function isTypedDetails(node: object, text: string): boolean {
  if (!('typeAnnotation' in node)) return false
  const type = node.typeAnnotation as ESTree.TSTypeAnnotation | null | undefined
  if (type === null || type === undefined) return false
  return /\bHawserError\[['"]details['"]\]$/.test(text.slice(type.start, type.end))
}
