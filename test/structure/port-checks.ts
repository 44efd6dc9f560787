import { PORT_IMPLEMENTATIONS } from './import-table.ts'
import { codeOf, isRelative, isTest, resolve, specifiersOf, type Tree } from './source.ts'

/**
 * Holds the program to its ports (ADR 32): only the folders of the table import an implementation, and no code above the ports
 * spells a name of its files, opens its folders, or takes a folder or an open file of them.
 */
export function portOffences(
  tree: Tree,
  table: Readonly<Record<string, readonly string[]>> = PORT_IMPLEMENTATIONS,
): string[] {
  return [...codeOf(tree)].flatMap(([path, text]) => {
    if (!path.startsWith('src/') || isTest(path)) return []
    const imports = specifiersOf(path, text)
      .filter(isRelative)
      .map((specifier) => resolve(path, specifier))
    return [...importsOf(path, imports, table), ...fileWordsIn(path, text, table)]
  })
}

function importsOf(
  path: string,
  imports: readonly string[],
  table: Readonly<Record<string, readonly string[]>>,
): string[] {
  return Object.entries(table).flatMap(([implementation, owners]) =>
    [implementation, ...owners].some((owner) => path.startsWith(`src/${owner}`))
      ? []
      : imports
          .filter((target) => target.startsWith(`src/${implementation}`))
          .map((target) => `${path} imports ${target}, an implementation of a port`),
  )
}

/**
 * What only knows the ports: everything but what implements files, and what composes the program. Its files of the workspace are
 * another matter.
 */
const BESIDE = /^src\/(?:host|model|compose|encoding)\//

/**
 * Names of files of Logs, the functions that make them, and those that open the folders of Logs, heads, blobs and frames or
 * read them as files.
 */
const FILE_WORDS = new RegExp(
  [
    String.raw`\.(?:ndjson|lease|index|deleted|torn-)['"\`]`,
    String.raw`\b(?:logName|leaseName|indexName|hiddenName|tornName)\b`,
    String.raw`\b(?:recordFolders|folderSource|inSessionsOf|inBlobsOf)\b`,
    String.raw`\.folder\(['"](?:sessions|blobs|heads|frames)['"]`,
    String.raw`\.hawser/(?:sessions|blobs|heads)`,
    String.raw`['"]node:fs`,
  ].join('|'),
)

/** What gets its stores as ports, and so neither a folder nor an open file. */
const WITHOUT_FILES = /^src\/(?:log|blobs|tether\/frames|turn|request|history|context)\//
const FILE_TYPES = /\{[^{}]*\b(?:Folder|File)\b[^{}]*\} from '[^']*host\/files\/[^']*'/

function fileWordsIn(
  path: string,
  text: string,
  table: Readonly<Record<string, readonly string[]>>,
): string[] {
  const isBelow = Object.keys(table).some((one) => path.startsWith(`src/${one}`))
  if (isBelow || BESIDE.test(path)) return []
  const found = FILE_WORDS.exec(text)?.[0]
  const takesFiles = WITHOUT_FILES.test(path) && FILE_TYPES.test(text)
  return [
    ...(found === undefined ? [] : [`${path} names files behind a port: ${found}`]),
    ...(takesFiles ? [`${path} takes a folder or a file; only the ports may`] : []),
  ]
}
