import { posix } from 'node:path'
import { GLOSSARY } from './glossary.ts'
import type { Tree } from './source.ts'

const LONGEST_CONTEXT = 150
const DOCUMENT =
  /^((src\/)?README|CONTEXT|CONTRIBUTING|SECURITY|CHANGELOG)\.md$|^(docs|bench|test)\/.*\.md$/
const REPOSITORY_PATH =
  /^(src|rehearse|test|bench|docs|bin|scripts|examples|web|\.ci)\/[\w@.*/{},-]*$/
const TOP_LEVEL_FILE =
  /^([A-Z]+\.md|(package|package-lock|tsconfig[\w.]*|knip)\.json|vitest\.config\.ts|\.ox\w+\.json)$/

/** Paths in backticks are resolved from the root of the repository, links from their document. */
export function pathsThatDoNotExist(tree: Tree): string[] {
  return [...tree]
    .filter(([path]) => DOCUMENT.test(path))
    .flatMap(([document, text]) => {
      const prose = text.replace(/^(```|~~~)[\s\S]*?^\1/gm, '')
      const missing = [
        ...namedPaths(prose).filter((path) => !exists(tree, path)),
        ...linkedPaths(prose).filter(
          (path) => !exists(tree, posix.join(posix.dirname(document), path)) && !exists(tree, path),
        ),
      ]
      return [...new Set(missing)].map((path) => `${document} names ${path}, which does not exist`)
    })
}

/** A script that measures has a row in the README of its folder: a list beside the scripts would fall behind them. */
export function scriptsWithoutRow(tree: Tree): string[] {
  return [...tree.keys()].flatMap((path) => {
    const [, folder = '', name = ''] = MEASURING_SCRIPT.exec(path) ?? []
    const readme = tree.get(`${folder}/README.md`) ?? ''
    const isListed = name === '' || readme.includes(`\n| \`${name}\` |`)
    return isListed ? [] : [`${folder}/README.md does not describe ${name}`]
  })
}

const MEASURING_SCRIPT = /^(bench|test\/faults)\/(?:[^/]+\/)?([^/]+)\.(?:bench|fault)\.ts$/

export function contextOffences(tree: Tree): string[] {
  const text = tree.get('CONTEXT.md')
  if (text === undefined) return ['CONTEXT.md is missing']
  const lines = text.replace(/\n$/, '').split('\n')
  const defined = new Set(lines.flatMap(wordsDefinedBy))
  return [
    ...(lines.length > LONGEST_CONTEXT
      ? [`CONTEXT.md has ${lines.length} lines, more than ${LONGEST_CONTEXT}`]
      : []),
    ...GLOSSARY.filter((word) => !defined.has(word)).map(
      (word) => `CONTEXT.md does not define "${word}"`,
    ),
  ]
}

/** A glossary line is a table row or a list item that begins with its words: `| Log / Event | …`, `- **Log**: …`. */
function wordsDefinedBy(line: string): string[] {
  const opening =
    /^\s*\|([^|]+)\|/.exec(line)?.[1] ?? /^\s*[-*] +\*\*([^*]+)\*\*/.exec(line)?.[1] ?? ''
  return opening.split('/').map((word) => word.replaceAll(/[*`]/g, '').trim())
}

function namedPaths(prose: string): string[] {
  return [...prose.matchAll(/`([^`\n]+)`/g)]
    .map((match) => (match[1] ?? '').replace(/:\d+$/, ''))
    .filter((token) => REPOSITORY_PATH.test(token) || TOP_LEVEL_FILE.test(token))
}

function linkedPaths(prose: string): string[] {
  return [...prose.matchAll(/\]\(<?([^)\s>]+)>?[^)]*\)/g)]
    .map((match) => (match[1] ?? '').replace(/[#?].*$/, ''))
    .filter((target) => target !== '' && !/^[a-z][a-z+.-]*:/i.test(target))
}

function exists(tree: Tree, path: string): boolean {
  const pattern = new RegExp(`^${globToPattern(path.replace(/\/+$/, ''))}(/.*)?$`)
  return [...tree.keys()].some((candidate) => pattern.test(candidate))
}

function globToPattern(glob: string): string {
  return glob
    .replaceAll(/[.+^$()|[\]\\]/g, String.raw`\$&`)
    .replaceAll(/\{([^}]*)\}/g, (_, choices: string) => `(${choices.replaceAll(',', '|')})`)
    .replaceAll(/\*\*\/|\*\*|\*/g, (star) => ({ '**/': '(.*/)?', '**': '.*' })[star] ?? '[^/]*')
}
