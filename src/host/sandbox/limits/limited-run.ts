import { ok, type Result } from '../../../model/errors.ts'
import { asHostResult } from '../../files/files.ts'
import { runProgram, type ProcessEnding, type Program } from '../../process/process.ts'
import type { CommandLimits, LimitGroup, LimitMeans, LimitName } from './limits.ts'

/** Limits, and what holds a command to them. */
export interface HeldLimits {
  readonly means: LimitMeans
  readonly most: CommandLimits
}

export interface LimitedEnding extends ProcessEnding {
  /** Limits that the program met; the number is the limit. */
  readonly met: Readonly<Partial<Record<LimitName, number>>>
}

/**
 * Runs a program in a group of its own, which is gone when this settles; without limits, in none. `programOf` puts the entry
 * of the group before its argument vector.
 */
export async function runLimited(
  limits: HeldLimits | undefined,
  programOf: (group: LimitGroup | undefined) => Program,
): Promise<Result<LimitedEnding>> {
  if (limits === undefined) {
    const ran = await runProgram(programOf(undefined))
    return ran.ok ? ok({ ...ran.value, met: {} }) : ran
  }
  const { means, most } = limits
  const opened = await asHostResult('make a control group for the command', async () =>
    ok(await means.open(most)),
  )
  if (!opened.ok) return opened
  const group = opened.value
  try {
    const ran = await runProgram(programOf(group))
    return ran.ok ? ok({ ...ran.value, met: numbered(await group.met(), most) }) : ran
  } finally {
    await group.remove()
  }
}

function numbered(met: readonly LimitName[], most: CommandLimits): LimitedEnding['met'] {
  const numbers = { processes: most.processes, memory: most.memoryBytes }
  return Object.fromEntries(met.map((name) => [name, numbers[name]]))
}
