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

/** Creates the group of one command; without limits, none. The caller removes the group. */
export async function openGroup(
  limits: HeldLimits | undefined,
): Promise<Result<LimitGroup | undefined>> {
  if (limits === undefined) return ok(undefined)
  return asHostResult('create a control group for the command', async () =>
    ok(await limits.method.open(limits.most)),
  )
}

/** Runs a program whose argument vector begins with the group's entry. Leaves removing the group to the caller. */
export async function runLimited(
  limits: HeldLimits | undefined,
  group: LimitGroup | undefined,
  program: Program,
): Promise<Result<LimitedEnding>> {
  const ran = await runProgram(program)
  if (!ran.ok) return ran
  return ok({ ...ran.value, met: await limitsMet(limits, group) })
}

/** The limits that were reached in a group, with their values. */
export async function limitsMet(
  limits: HeldLimits | undefined,
  group: LimitGroup | undefined,
): Promise<LimitedEnding['met']> {
  const met = (await group?.met()) ?? []
  if (limits === undefined) return {}
  const { processes, memoryBytes: memory } = limits.most
  const numbers = { processes, memory }
  return Object.fromEntries(met.map((name) => [name, numbers[name]]))
}
