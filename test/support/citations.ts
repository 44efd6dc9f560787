import {
  DOCUMENTS,
  type Owner,
  type Progress,
  type Requirement,
} from '../requirements/requirement.ts'

/** A file, with its path relative to the root of the repository. */
export interface CitingFile {
  readonly path: string
  readonly text: string
}

interface CitationOffences {
  /** `id text` of each row of a finished owner that no test cites. */
  readonly uncited: readonly string[]
  /** `path cites id` for each cited id that no row has. */
  readonly unknown: readonly string[]
  /** `id text` of each cited row of an owner that is planned. */
  readonly early: readonly string[]
  /** Owners that are begun, and all of whose rows are cited. */
  readonly finished: readonly Owner[]
  /** `path has [...]` for each id in brackets that is not a citation. */
  readonly malformed: readonly string[]
}

const CITATION = /\[([A-Z]{2}-\d+)\]/g
const INSIDE = String.raw`[^[\]'"\`\n]*`
const LETTERS = Object.keys(DOCUMENTS).join('|')
const BRACKETS = new RegExp(String.raw`\[${INSIDE}\b(?:${LETTERS})-\d${INSIDE}\]`, 'gi')
const THE_LIST = /^test\/requirements(\.ts|\/.*)$/
const ITS_TEST = 'test/structure/requirements.test.ts'
/** Suites and scripts that are run by a file with another name. */
const SUITE = /^test\/(contract|faults|web)\//
const COMMENT = /^\s*(\/\/|\/?\*)/
const NOT_RUN = /\.(skip|todo)\(/

/** The list cannot cite itself, and its test contains wrong ids on purpose. */
export function mayCite(path: string): boolean {
  if (THE_LIST.test(path) || path === ITS_TEST) return false
  return path.endsWith('.test.ts') || (path.startsWith('test/') && path.endsWith('.ts'))
}

export function citationOffences(
  requirements: readonly Requirement[],
  progress: Readonly<Record<Owner, Progress>>,
  files: readonly CitingFile[],
): CitationOffences {
  const citing = files.filter(({ path }) => mayCite(path))
  const known = new Set(requirements.map(({ id }) => id))
  const cited = new Set(citing.flatMap(shownBy))
  const owners = new Set(requirements.map(({ owner }) => owner))
  const isOpen = (row: Requirement) => !cited.has(row.id)
  return {
    uncited: requirements
      .filter((row) => progress[row.owner] === 'finished' && isOpen(row))
      .map(nameOf),
    unknown: citing.flatMap(({ path, text }) =>
      idsIn(text)
        .filter((id) => !known.has(id))
        .map((id) => `${path} cites ${id}`),
    ),
    early: requirements
      .filter((row) => progress[row.owner] === 'planned' && !isOpen(row))
      .map(nameOf),
    finished: [...owners].filter(
      (one) =>
        progress[one] === 'begun' && !requirements.some((row) => row.owner === one && isOpen(row)),
    ),
    malformed: citing.flatMap(({ path, text }) =>
      [...text.matchAll(BRACKETS)]
        .filter(([whole]) => idsIn(whole).length === 0)
        .map(([whole]) => `${path} has ${whole}`),
    ),
  }
}

/** The ids that a file shows: of tests that run, and not what comments tell about them. */
function shownBy({ path, text }: CitingFile): string[] {
  if (!path.endsWith('.test.ts') && !SUITE.test(path)) return []
  const lines = text.split('\n').filter((line) => !COMMENT.test(line) && !NOT_RUN.test(line))
  return idsIn(lines.join('\n'))
}

function idsIn(text: string): string[] {
  return [...new Set([...text.matchAll(CITATION)].map(([, id = '']) => id))]
}

function nameOf({ id, text }: Requirement): string {
  return `${id} ${text}`
}
