import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Visitor, type ESTree } from 'rolldown/utils'
import { foldersImportingEachOther, importCycles } from '../checks.ts'
import { fileSizes } from '../file-checks.ts'
import { budgetRows, linesOf } from './line-budgets.ts'
import { participleRows } from '../name-checks.ts'
import { codeOf, isRelative, isTest, parse, resolve, specifiersOf, type Tree } from '../source.ts'
import { readTree } from '../tree.ts'

const HELP = `Usage: npm run structure -- [REF…] [--budgets] [--participles]

Prints the figures of the structure of the source, for the working tree or for each commit that REF names,
beside each other: \`npm run structure -- main HEAD\`. The source is src without tests.

  --budgets       print the rows of LINE_BUDGETS in test/structure/size/line-budgets.ts with the lines of today
  --participles   print the words of KNOWN_PARTICIPLES in test/structure/known-participles.ts as they occur today`

/** Files of fewer lines, imported by one other, may be half a thought. */
const SMALL_FILE = 40

await main(process.argv.slice(2))

async function main(args: readonly string[]): Promise<void> {
  if (args.includes('--help')) return print([HELP])
  if (args.includes('--budgets')) return print(budgetRows(await readTree()))
  if (args.includes('--participles')) return print(participleRows(await readTree()))
  const refs = args.length === 0 ? ['working tree'] : args
  const columns: Record<string, number>[] = []
  for (const ref of refs)
    columns.push(figuresOf(args.length === 0 ? await readTree() : await treeAt(ref)))
  const names = Object.keys(columns[0] ?? {})
  print(
    [
      ['', ...refs],
      ...names.map((name) => [
        name,
        ...columns.map((column) => (column[name] ?? 0).toLocaleString('en')),
      ]),
    ].map(
      ([name = '', ...cells]) => name.padEnd(44) + cells.map((cell) => cell.padStart(14)).join(''),
    ),
  )
}

async function treeAt(ref: string): Promise<Tree> {
  const folder = mkdtempSync(join(tmpdir(), 'hawser-structure-'))
  try {
    const archive = execFileSync('git', ['archive', ref], { maxBuffer: 2 ** 30 })
    execFileSync('tar', ['-x', '-C', folder], { input: archive })
    return await readTree(folder)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function figuresOf(tree: Tree): Record<string, number> {
  const source = [...codeOf(tree)].filter(([path]) => path.startsWith('src/') && !isTest(path))
  const { files, median, p90, max } = fileSizes(tree)
  const types = places(source, typeNames)
  const functions = places(source, functionNames)
  const importers = importersOf(source)
  const single = source.filter(([path]) => importers.get(path)?.size === 1)
  return {
    'lines of src': linesOf(tree, 'src'),
    'lines of rehearse, with its data': linesOf(tree, 'rehearse'),
    'files of src': files,
    'lines of a file, median': median,
    'lines of a file, 90th percentile': p90,
    'lines of a file, most': max,
    'import cycles': importCycles(tree).length,
    'folders that import each other': foldersImportingEachOther(tree).length,
    types: sum(types),
    'types, distinct names': types.size,
    'types, names in several files': several(types),
    'functions at the top of a file': sum(functions),
    'functions, distinct names': functions.size,
    'functions, names in several files': several(functions),
    'files with one importer': single.length,
    [`of these, under ${SMALL_FILE} lines`]: single.filter(
      ([, text]) => text.split('\n').length - 1 < SMALL_FILE,
    ).length,
    'conditional fields (… === undefined ? {} : …)': source.reduce(
      (count, [, text]) => count + [...text.matchAll(/=== undefined\s*\?\s*\{\}\s*:/g)].length,
      0,
    ),
  }
}

/** The files in which each name is declared. */
function places(
  source: readonly (readonly [string, string])[],
  namesIn: (program: ESTree.Program) => readonly string[],
): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>()
  for (const [path, text] of source)
    for (const name of namesIn(parse(path, text).program))
      found.set(name, (found.get(name) ?? new Set()).add(path))
  return found
}

function typeNames(program: ESTree.Program): string[] {
  const names: string[] = []
  const add = ({ id }: { readonly id: ESTree.BindingIdentifier | null }) => {
    if (id !== null) names.push(id.name)
  }
  new Visitor({
    TSInterfaceDeclaration: add,
    TSTypeAliasDeclaration: add,
    ClassDeclaration: add,
  }).visit(program)
  return names
}

function functionNames(program: ESTree.Program): string[] {
  return program.body.flatMap((statement) => {
    const declared = statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement
    return declared?.type === 'FunctionDeclaration' && declared.id !== null
      ? [declared.id.name]
      : []
  })
}

function importersOf(source: readonly (readonly [string, string])[]): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>()
  for (const [path, text] of source)
    for (const specifier of specifiersOf(path, text).filter(isRelative)) {
      const target = resolve(path, specifier)
      found.set(target, (found.get(target) ?? new Set()).add(path))
    }
  return found
}

function sum(found: ReadonlyMap<string, ReadonlySet<string>>): number {
  return [...found.values()].reduce((count, paths) => count + paths.size, 0)
}

function several(found: ReadonlyMap<string, ReadonlySet<string>>): number {
  return [...found.values()].filter((paths) => paths.size > 1).length
}

function print(lines: readonly string[]): void {
  process.stdout.write(`${lines.join('\n')}\n`)
}
