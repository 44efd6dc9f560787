import type { Comparison, RunFigures } from '../../../session/probe/cache-comparison.ts'
import type { ProbePlan } from '../../../session/probe/plan.ts'
import { countOf, groupDigits } from '../../../encoding/amounts.ts'
import { PLAIN, type Line } from '../text/cell-width.ts'
import { cell, inColumns } from '../text/columns.ts'

/** The plan: what is sent, to which model, and how often. Pure. */
export function planLines(plan: ProbePlan, to: string): Line[] {
  const { vary, provider, model, variants, workspaces, prompts, least_calls } = plan
  const [one, other] = variants
  const sessions = variants.length * workspaces
  const text = [
    `Changes only the ${vary}: ${one.name} against ${other.name}.`,
    `Model: ${model} (${provider}), ${to}.`,
    `${countOf(sessions, 'Session')}, each with ${countOf(prompts.length, 'prompt')} in a temporary folder; at least ${countOf(least_calls, 'call')}:`,
    ...prompts.map((prompt) => `  ${prompt}`),
  ]
  return text.map((line) => cell(line))
}

/** Two runs side by side, and the conclusion. Pure. */
export function comparisonLines({ attributed_to, runs, moved }: Comparison): Line[] {
  const header = ['', ...runs.map(({ variant }) => variant)].map((text) =>
    cell(text, { dim: true }),
  )
  const rows = ROWS.filter(([, of]) => runs.some((run) => of(run) !== '-')).map(([name, of]) =>
    [name, ...runs.map(of)].map((text) => cell(text)),
  )
  const sentences = [
    movedWords('after the first call', moved.after_first, attributed_to),
    ...(moved.other_workspace === undefined
      ? []
      : [
          movedWords(
            'of the first call in another workspace',
            moved.other_workspace,
            attributed_to,
          ),
        ]),
    ...runs.filter(hasMissed).map(missedWords),
  ]
  return [
    ...inColumns([header, ...rows], ['left', 'right', 'right']),
    ...sentences.map((text): Line => [{ text, style: PLAIN }]),
  ]
}

/** Whether a run read all its files and none outside its workspace. Pure. */
export function isWellBehaved({ reads: { right, expected, outside } }: RunFigures): boolean {
  return right === expected && outside === 0
}

const ROWS: readonly (readonly [string, (run: RunFigures) => string])[] = [
  ['Calls', ({ requests }) => groupDigits(requests)],
  ['Cached in the first call', ({ first }) => percent(first.cached_ratio)],
  ['Cached after it', ({ after_first }) => percent(after_first.cached_ratio)],
  ['Lowest of these', ({ lowest_ratio }) => percent(lowest_ratio)],
  [
    'Cached in the first call elsewhere',
    ({ other_workspace }) =>
      other_workspace === undefined ? '-' : percent(other_workspace.cached_ratio),
  ],
  ['Bytes of requests', ({ request_bytes }) => groupDigits(request_bytes)],
  ['Bytes sent', ({ sent_bytes }) => groupDigits(sent_bytes)],
  ['Continued', ({ continued }) => groupDigits(continued)],
  ['Files read correctly', ({ reads }) => `${reads.right} of ${reads.expected}`],
]

function hasMissed(run: RunFigures): boolean {
  return !isWellBehaved(run)
}

function missedWords({ variant, reads: { right, expected, outside } }: RunFigures): string {
  return `${variant}: of ${countOf(expected, 'file')} ${right} were read in the right workspace, and ${countOf(outside, 'call')} left it.`
}

function movedWords(what: string, ratio: number, factor: string): string {
  const points = Math.round(ratio * 1000) / 10
  if (Math.abs(points) < NOTHING_MOVED) {
    return `Cached tokens ${what}: the ${factor} makes no difference.`
  }
  const way = points > 0 ? 'more' : 'fewer'
  return `Cached tokens ${what}: ${Math.abs(points)} percentage points ${way} in the second run, because of the ${factor}.`
}

/** Percentage points within which two runs count as equal. */
const NOTHING_MOVED = 1

function percent(ratio: number): string {
  return `${Math.round(ratio * 100)} %`
}
