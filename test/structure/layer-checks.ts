import { IMPORT_TABLE } from './import-table.ts'
import { codeOf, isTest, type Tree } from './source.ts'

const README = 'src/README.md'

/** A layer as `src/README.md` describes it: a paragraph that begins with its name, below the heading of its section. */
interface DescribedLayer {
  readonly name: string
  /** The number of its section, from the top. */
  readonly section: number
  readonly imports: readonly string[]
  readonly first: string | undefined
}

/** Holds `src/README.md` to the folders of `src` and to the rows of the import table, in both directions. */
export function layerOffences(
  tree: Tree,
  table: Readonly<Record<string, readonly string[]>> = IMPORT_TABLE,
): string[] {
  const described = layersOf(tree.get(README) ?? '')
  const names = described.map(({ name }) => name)
  const existing = layerNames(tree)
  return [
    ...existing
      .filter((name) => !names.includes(name))
      .map((name) => `${README} does not describe ${name}`),
    ...names
      .filter((name, at) => names.indexOf(name) !== at)
      .map((name) => `${README} describes ${name} twice`),
    ...described.flatMap((layer) =>
      existing.includes(layer.name)
        ? offencesOf(layer, { tree, table, described })
        : [`${README} describes ${layer.name}, which does not exist`],
    ),
  ]
}

function offencesOf(
  { name, section, imports, first }: DescribedLayer,
  known: {
    readonly tree: Tree
    readonly table: Readonly<Record<string, readonly string[]>>
    readonly described: readonly DescribedLayer[]
  },
): string[] {
  const row = known.table[name] ?? known.table[`${name}.ts`] ?? known.table[`${name}/*`] ?? []
  const above = known.described.filter((other) => other.section < section)
  const isIn = first === `src/${name}.ts` || first?.startsWith(`src/${name}/`) === true
  return [
    ...row
      .filter((entry) => !imports.includes(entry))
      .map((entry) => `${README} does not say that ${name} may import ${entry}`),
    ...imports
      .filter((entry) => !row.includes(entry))
      .map((entry) => `${README} says that ${name} may import ${entry}; the import table does not`),
    ...above
      .filter((other) => imports.some((entry) => entry.split('/')[0] === other.name))
      .map((other) => `${name} imports ${other.name}, which ${README} lists in a section above`),
    ...(isIn && known.tree.has(first) ? [] : [`${README} names no file of ${name} to read first`]),
  ]
}

/** The folders of `src`, and the files beside them without `.ts`. */
function layerNames(tree: Tree): string[] {
  const paths = [...codeOf(tree).keys()].filter((path) => path.startsWith('src/') && !isTest(path))
  return [...new Set(paths.map((path) => (path.split('/')[1] ?? '').replace(/\.ts$/, '')))]
}

function layersOf(text: string): DescribedLayer[] {
  return text.split(/^## /m).flatMap((part, section) =>
    part.split(/\n{2,}/).flatMap((paragraph) => {
      const line = paragraph.replaceAll('\n', ' ')
      const name = /^\*\*`([^`]+)`\*\*/.exec(line)?.[1]
      if (name === undefined) return []
      const list = / May import (.*?)\.(?: |$)/.exec(line)?.[1] ?? ''
      const imports = [...list.matchAll(/`([^`]+)`/g)].map(([, entry = '']) => entry)
      return [{ name, section, imports, first: / Read `([^`]+)` first\b/.exec(line)?.[1] }]
    }),
  )
}
