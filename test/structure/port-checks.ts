import { PORT_IMPLEMENTATIONS } from './import-table.ts'
import { codeOf, isRelative, isTest, resolve, specifiersOf, type Tree } from './source.ts'

/**
 * Holds the program to its ports (ADR 32): only the units of the table import an implementation, and no code above the ports
 * spells the name of a file that belongs to a Log.
 */
export function portOffences(
  tree: Tree,
  table: Readonly<Record<string, readonly string[]>> = PORT_IMPLEMENTATIONS,
): string[] {
  return [...codeOf(tree)].flatMap(([path, text]) => {
    const unit = /^src\/([^/]+)\//.exec(path)?.[1]
    if (unit === undefined || isTest(path)) return []
    const imports = specifiersOf(path, text)
      .filter(isRelative)
      .map((specifier) => resolve(path, specifier))
    return [...importsOf(path, unit, imports, table), ...fileWordsIn(path, unit, text)]
  })
}

function importsOf(
  path: string,
  unit: string,
  imports: readonly string[],
  table: Readonly<Record<string, readonly string[]>>,
): string[] {
  return Object.entries(table).flatMap(([implementation, units]) =>
    units.includes(unit) || path.startsWith(`src/${implementation}`)
      ? []
      : imports
          .filter((target) => target.startsWith(`src/${implementation}`))
          .map((target) => `${path} imports ${target}, an implementation of a port`),
  )
}

/** The units that only know the ports. Their files of the workspace are another matter. */
const ABOVE: ReadonlySet<string> = new Set(['session', 'turn', 'request', 'presenters'])

/** Names of files of Logs, and the functions that make them. */
const FILE_WORDS = /\.(?:ndjson|lease|torn-)['"`]|\b(?:logName|leaseName|indexName|tornName)\b/

function fileWordsIn(path: string, unit: string, text: string): string[] {
  const found = ABOVE.has(unit) ? FILE_WORDS.exec(text)?.[0] : undefined
  return found === undefined ? [] : [`${path} names files of a Log: ${found}`]
}
