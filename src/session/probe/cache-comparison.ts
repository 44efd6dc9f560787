import { failed, ok, type Failed, type Result } from '../../model/errors.ts'
import type { CachedTokens, ExplainedRequest } from '../queries/cache-report.ts'
import {
  RECORDED_FACTS,
  type ReadScore,
  type RecordedFact,
  type SessionEvidence,
} from './run-evidence.ts'

/** The factors that two runs can vary. */
export const FACTORS = ['transport', 'contract'] as const
export type Factor = (typeof FACTORS)[number]

/** One run of a comparison: its Sessions in order. The first runs in one workspace, the others in another. */
export interface ComparedRun {
  readonly variant: string
  readonly sessions: readonly SessionEvidence[]
}

/** The figures of one run. */
export interface RunFigures {
  readonly variant: string
  readonly sessions: number
  readonly requests: number
  /** The first call: shows what a change costs on a cold cache. */
  readonly first: CachedTokens
  /** The other calls of the first Session: show what is cached once it has been sent. */
  readonly after_first: CachedTokens
  /** The lowest ratio of any of these calls, from 0 to 1. */
  readonly lowest_ratio: number
  /** The first call in another workspace, if the run has one. */
  readonly other_workspace?: CachedTokens
  readonly request_bytes: number
  readonly sent_bytes: number
  readonly continued: number
  readonly reads: ReadScore
}

/** Two runs that differ only in one recorded factor. Ratios are those of the second run minus those of the first. */
export interface Comparison {
  readonly attributed_to: Factor
  readonly runs: readonly [RunFigures, RunFigures]
  readonly moved: {
    readonly first: number
    readonly after_first: number
    readonly other_workspace?: number
  }
}

/**
 * Compares the cached tokens of two runs. Fails when the difference could have another cause: the runs differ in more
 * than `factor`, do not differ in it, or a fact changed within a run. Pure.
 */
export function compareRuns(
  factor: Factor,
  one: ComparedRun,
  other: ComparedRun,
): Result<Comparison> {
  const changed = [one, other].flatMap(({ sessions }) => factsChangedIn(sessions, factor))
  if (changed.length > 0) return unattributable(factor, 'changed_within', unique(changed))
  const differing = RECORDED_FACTS.filter((fact) => valueOf(one, fact) !== valueOf(other, fact))
  const others = differing.filter((fact) => !FACTS_OF[factor].includes(fact))
  if (others.length > 0) return unattributable(factor, 'also_differ', others)
  if (differing.length === 0) return unattributable(factor, 'nothing_differs', FACTS_OF[factor])
  const [a, b] = [figuresOf(one), figuresOf(other)]
  if (a === undefined || b === undefined) {
    return failed('invalid_response', 'A run has no completed call to compare.', {
      variants: [one, other].map(({ variant }) => variant),
    })
  }
  return ok({ attributed_to: factor, runs: [a, b], moved: movement(a, b) })
}

/** The recorded facts of each factor. Another contract changes both its version and Layer 0. */
const FACTS_OF: Readonly<Record<Factor, readonly RecordedFact[]>> = {
  transport: ['transport'],
  contract: ['contract_version', 'layer0_sha256'],
}

/**
 * Facts with no value or several. Only the contract may differ between workspaces, and only if it is the varied factor.
 */
function factsChangedIn(sessions: readonly SessionEvidence[], factor: Factor): RecordedFact[] {
  return RECORDED_FACTS.filter((fact) => {
    const each = sessions.some(({ facts }) => facts.get(fact)?.length !== 1)
    const all = new Set(sessions.flatMap(({ facts }) => facts.get(fact) ?? []))
    const mayVary = factor === 'contract' && fact === 'layer0_sha256'
    return each || (all.size !== 1 && !mayVary)
  })
}

function valueOf({ sessions: [first] }: ComparedRun, fact: RecordedFact): string | undefined {
  return first?.facts.get(fact)?.[0]
}

type Why = 'changed_within' | 'also_differ' | 'nothing_differs'

function unattributable(factor: Factor, why: Why, facts: readonly RecordedFact[]): Failed {
  const named = facts.join(', ')
  const words = {
    changed_within: `These changed within a run: ${named}.`,
    also_differ: `The runs differ in more than the ${factor}: ${named}.`,
    nothing_differs: `The runs do not differ in the ${factor}: ${named} are the same.`,
  }
  const message = `${words[why]} The difference cannot be attributed to the ${factor}.`
  return failed('not_unique', message, { vary: factor, why, facts })
}

function unique<T>(values: readonly T[]): T[] {
  return [...new Set(values)]
}

function figuresOf({ variant, sessions }: ComparedRun): RunFigures | undefined {
  const [first, ...elsewhere] = sessions
  const [start, ...rest] = answeredOf(first)
  if (start === undefined || rest.length === 0) return undefined
  const requests = sessions.flatMap((session) => session.requests)
  const [other] = elsewhere.flatMap((session) => answeredOf(session).slice(0, 1))
  return {
    variant,
    sessions: sessions.length,
    requests: requests.length,
    first: start,
    after_first: sumOf(rest),
    lowest_ratio: Math.min(...rest.map(({ cached_ratio }) => cached_ratio)),
    ...(other === undefined ? {} : { other_workspace: other }),
    request_bytes: total(requests, ({ request_bytes }) => request_bytes),
    sent_bytes: total(requests, ({ sent_bytes }) => sent_bytes),
    continued: requests.filter(({ continuation }) => continuation?.used === true).length,
    reads: {
      expected: total(sessions, ({ reads }) => reads.expected),
      right: total(sessions, ({ reads }) => reads.right),
      outside: total(sessions, ({ reads }) => reads.outside),
    },
  }
}

function answeredOf(session: SessionEvidence | undefined): readonly CachedTokens[] {
  return (session?.requests ?? []).flatMap(({ usage }: ExplainedRequest) => usage ?? [])
}

function sumOf(all: readonly CachedTokens[]): CachedTokens {
  const input = total(all, (one) => one.input)
  const cached_read = total(all, (one) => one.cached_read)
  const cache_write = total(all, (one) => one.cache_write)
  return { input, cached_read, cache_write, cached_ratio: round(cached_read / (input || 1)) }
}

function movement(a: RunFigures, b: RunFigures): Comparison['moved'] {
  const moved = {
    first: round(b.first.cached_ratio - a.first.cached_ratio),
    after_first: round(b.after_first.cached_ratio - a.after_first.cached_ratio),
  }
  if (a.other_workspace === undefined || b.other_workspace === undefined) return moved
  const other_workspace = round(b.other_workspace.cached_ratio - a.other_workspace.cached_ratio)
  return { ...moved, other_workspace }
}

function total<T>(all: readonly T[], of: (one: T) => number): number {
  return all.reduce((sum, one) => sum + of(one), 0)
}

function round(ratio: number): number {
  return Math.round(ratio * 1e4) / 1e4
}
