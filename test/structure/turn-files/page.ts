/** The folders that hold the steps of a Turn of `hawser run` with a model of Anthropic, from the command line to the Log. */
const STEP_FOLDERS = /^src\/(presenters\/cli|session|turn|request|providers\/messages|log)\//

/** A reader follows the steps in at most as many files. */
const MOST_STEPS = 18

/** A file that runs more lines is part of the Turn, so the page names it. */
const ON_PAGE_ABOVE = 25

/** A file that runs more lines is a step, and not something that a first reading can skip. */
const STEP_ABOVE = 75

/** The two tables of the page: the steps in order, and what they rest on, with the reason why a first reading can skip it. */
export interface TurnPage {
  readonly steps: readonly string[]
  readonly rest: readonly string[]
}

export function turnPageIn(text: string): TurnPage {
  const [, section = ''] = text.split(/^## One Turn in .*$/m)
  const [turn = ''] = section.split(/^## /m)
  const [first = '', second = ''] = turn.split(/^### .*$/m)
  return { steps: filesIn(first), rest: filesIn(second) }
}

/** What is wrong with the page, given the lines that a Turn executed, in sentences. */
export function pageOffences(
  { steps, rest }: TurnPage,
  executed: ReadonlyMap<string, ReadonlySet<number>>,
): string[] {
  const named = [...steps, ...rest]
  const inSteps = stepsOf(executed)
  return [
    ...(steps.length > MOST_STEPS
      ? [`the page lists ${steps.length} files of the steps, more than ${MOST_STEPS}`]
      : []),
    ...named
      .filter((path, at) => named.indexOf(path) !== at)
      .map((path) => `the page names ${path} twice`),
    ...named
      .filter((path) => (executed.get(path)?.size ?? 0) === 0)
      .map((path) => `the page names ${path}, of which nothing ran`),
    ...inSteps
      .filter(([path]) => !named.includes(path))
      .map(([path, lines]) => `${path} ran ${lines} lines, and the page does not name it`),
    ...inSteps
      .filter(([path, lines]) => lines > STEP_ABOVE && rest.includes(path))
      .map(([path, lines]) => `${path} ran ${lines} lines, too many to skip it; list it as a step`),
  ]
}

/** The files that a page must name with the number of their lines that ran, most first. */
export function stepsOf(
  executed: ReadonlyMap<string, ReadonlySet<number>>,
): (readonly [path: string, lines: number])[] {
  return [...executed]
    .map(([path, lines]) => [path, lines.size] as const)
    .filter(([path, lines]) => STEP_FOLDERS.test(path) && lines > ON_PAGE_ABOVE)
    .toSorted(([, a], [, b]) => b - a)
}

/** The files in backticks in the rows of a table. */
function filesIn(part: string): string[] {
  const rows = part.split('\n').filter((line) => line.startsWith('|'))
  return rows.flatMap((row) =>
    [...row.matchAll(/`(src\/[^`]+\.ts)`/g)].map(([, path = '']) => path),
  )
}
