import type { Owner, Requirement } from '../requirements/requirement.ts'

/** A file, with its path relative to the root of the repository. */
interface CitingFile {
  readonly path: string
  readonly text: string
}

interface CitationOffences {
  /** `id text` of each row of a finished owner that no test cites. */
  readonly uncited: readonly string[]
  /** `path cites id` for each cited id that no row has. */
  readonly unknown: readonly string[]
}

const CITATION = /\[([A-Z]{2}-\d+)\]/g
const THE_LIST = /^test\/requirements(\.ts|\/.*)$/
const ITS_TEST = 'test/structure/requirements.test.ts'

/** The list cannot cite itself, and its test contains wrong ids on purpose. */
export function mayCite(path: string): boolean {
  if (THE_LIST.test(path) || path === ITS_TEST) return false
  return path.endsWith('.test.ts') || (path.startsWith('test/') && path.endsWith('.ts'))
}

export function citationOffences(
  requirements: readonly Requirement[],
  finishedOwners: readonly Owner[],
  files: readonly CitingFile[],
): CitationOffences {
  const citations = files.filter(({ path }) => mayCite(path)).flatMap(citationsIn)
  const known = new Set(requirements.map(({ id }) => id))
  const cited = new Set(citations.map(({ id }) => id))
  return {
    uncited: requirements
      .filter(({ id, owner }) => finishedOwners.includes(owner) && !cited.has(id))
      .map(({ id, text }) => `${id} ${text}`),
    unknown: citations
      .filter(({ id }) => !known.has(id))
      .map(({ id, path }) => `${path} cites ${id}`),
  }
}

function citationsIn({ path, text }: CitingFile): { path: string; id: string }[] {
  const ids = [...text.matchAll(CITATION)].map((match) => match[1] ?? '')
  return [...new Set(ids)].map((id) => ({ path, id }))
}
