import { ok, type Result } from '../../../model/errors.ts'
import { asHostResult } from '../../files/files.ts'
import { runProgram, type ProcessEnding, type Program } from '../../process/process.ts'
import type { CommandLimits, LimitGroup, LimitMethod, LimitName } from './limits.ts'

/** Limits, and how they are enforced. */
export interface HeldLimits {
  readonly method: LimitMethod
  readonly most: CommandLimits
}

export interface LimitedEnding extends ProcessEnding {
  /** The limits that the program reached, with their values. */
  readonly met: Readonly<Partial<Record<LimitName, number>>>
}

/**
 * Runs a program in its own group, which is removed before the promise settles; without limits, in no group. `programOf`
 * must put the group's entry before its argument vector.
 */
export async function runLimited(
  limits: HeldLimits | undefined,
  programOf: (group: LimitGroup | undefined) => Program,
): Promise<Result<LimitedEnding>> {
  if (limits === undefined) {
    const ran = await runProgram(programOf(undefined))
    return ran.ok ? ok({ ...ran.value, met: {} }) : ran
  }
  const { method, most } = limits
  const opened = await asHostResult('create a control group for the command', async () =>
    ok(await method.open(most)),
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
