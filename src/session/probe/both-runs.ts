import { ok, type Result } from '../../model/errors.ts'
import type { ComparedRun } from './cache-comparison.ts'
import { environmentOf, type ProbePlan, type ProbeTarget, type ProbeVariant } from './plan.ts'
import { runProbe } from './run.ts'
import { probeFiles } from './script.ts'
import type { SessionEvidence } from './run-evidence.ts'
import { withWorkspace } from '../workspace/workspace.ts'
import type { Scratch } from '../workspace/scratch.ts'
import type { RehearsalServer } from '../workspace/rehearsal-server.ts'

/** Where the runs of a comparison take place, and the offline model that they use without a live one. */
export interface ProbePlaces {
  readonly scratch: () => Promise<Result<Scratch>>
  readonly rehearsal: () => Promise<Result<RehearsalServer>>
}

/** Runs both variants of a plan in sequence and leaves nothing behind. `signal` aborts them. */
export async function bothRuns(
  places: ProbePlaces,
  plan: ProbePlan,
  target: ProbeTarget,
  signal: AbortSignal,
): Promise<Result<[ComparedRun, ComparedRun]>> {
  return withPlaces(places, plan, target, async (scratch, env) => {
    const [one, other] = plan.variants
    const parts = { scratch, env, plan, signal }
    const first = await oneRun(parts, one)
    if (!first.ok) return first
    const second = await oneRun(parts, other)
    return second.ok ? ok([first.value, second.value]) : second
  })
}

type Env = Readonly<Record<string, string>>

/** Provides temporary workspaces and a model, and removes both afterwards. */
async function withPlaces<T>(
  places: ProbePlaces,
  plan: ProbePlan,
  target: ProbeTarget,
  work: (scratch: Scratch, env: Env) => Promise<Result<T>>,
): Promise<Result<T>> {
  const scratch = await places.scratch()
  if (!scratch.ok) return scratch
  try {
    const live = target.credentials !== undefined
    const server = live ? undefined : await places.rehearsal()
    if (server?.ok === false) return server
    try {
      for (let number = 1; number <= plan.workspaces; number += 1) {
        const made = await scratch.value.make(nameOf(number), probeFiles(number))
        if (!made.ok) return made
      }
      return await work(scratch.value, environmentOf(target, server?.value.origin ?? ''))
    } finally {
      await server?.value.close()
    }
  } finally {
    await scratch.value.close()
  }
}

function nameOf(number: number): string {
  return `harbour-${number}`
}

interface RunParts {
  readonly scratch: Scratch
  readonly env: Env
  readonly plan: ProbePlan
  readonly signal: AbortSignal
}

async function oneRun(parts: RunParts, variant: ProbeVariant): Promise<Result<ComparedRun>> {
  const { scratch, env, plan, signal } = parts
  const { provider, model } = plan
  const sessions: SessionEvidence[] = []
  for (let number = 1; number <= plan.workspaces; number += 1) {
    const { early } = variant
    const opening = scratch.open(nameOf(number), { env: { ...env, ...variant.env }, early })
    const found = await withWorkspace(opening, ({ harness }) =>
      runProbe(harness, { provider, model }, probeFiles(number), signal),
    )
    if (!found.ok) return found
    sessions.push(found.value)
  }
  return ok({ variant: variant.name, sessions })
}
