import { ok, type Result } from '../../../model/errors.ts'
import type { ComparedRun } from '../../../session/probe/cache-comparison.ts'
import {
  environmentOf,
  type ProbePlan,
  type ProbeTarget,
  type Variant,
} from '../../../session/probe/plan.ts'
import { runProbe } from '../../../session/probe/run.ts'
import { probeFiles } from '../../../session/probe/script.ts'
import type { SessionEvidence } from '../../../session/probe/run-evidence.ts'
import type { CliWorld, Scratch } from '../world/world.ts'

/** Runs both variants of a plan, one after the other, and leaves nothing behind. A signal ends them. */
export async function bothRuns(
  world: CliWorld,
  plan: ProbePlan,
  target: ProbeTarget,
): Promise<Result<[ComparedRun, ComparedRun]>> {
  const stop = new AbortController()
  const listening = (['SIGINT', 'SIGTERM', 'SIGHUP'] as const).map((signal) =>
    world.streams.onSignal(signal, () => stop.abort()),
  )
  try {
    return await withPlaces(world, plan, target, async (scratch, env) => {
      const [one, other] = plan.variants
      const running = { scratch, env, plan, signal: stop.signal }
      const first = await oneRun(running, one)
      if (!first.ok) return first
      const second = await oneRun(running, other)
      return second.ok ? ok([first.value, second.value]) : second
    })
  } finally {
    listening.forEach((end) => end())
  }
}

type Env = Readonly<Record<string, string>>

/** With workspaces to work in and a model to ask, both gone afterwards. */
async function withPlaces<T>(
  world: CliWorld,
  plan: ProbePlan,
  target: ProbeTarget,
  work: (scratch: Scratch, env: Env) => Promise<Result<T>>,
): Promise<Result<T>> {
  const scratch = await world.scratch()
  if (!scratch.ok) return scratch
  try {
    const live = target.credentials !== undefined
    const server = live ? undefined : await world.rehearsal()
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

interface Running {
  readonly scratch: Scratch
  readonly env: Env
  readonly plan: ProbePlan
  readonly signal: AbortSignal
}

async function oneRun(running: Running, variant: Variant): Promise<Result<ComparedRun>> {
  const { scratch, env, plan, signal } = running
  const { provider, model } = plan
  const sessions: SessionEvidence[] = []
  for (let number = 1; number <= plan.workspaces; number += 1) {
    const { early } = variant
    const opened = await scratch.open(nameOf(number), { env: { ...env, ...variant.env }, early })
    if (!opened.ok) return opened
    try {
      const { harness } = opened.value
      const found = await runProbe(harness, { provider, model }, probeFiles(number), signal)
      if (!found.ok) return found
      sessions.push(found.value)
    } finally {
      await opened.value.close()
    }
  }
  return ok({ variant: variant.name, sessions })
}
