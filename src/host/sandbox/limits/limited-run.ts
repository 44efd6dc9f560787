import { ok, type Result } from '../../../model/errors.ts'
import { asHostResult } from '../../files/files.ts'
import type { CommandLimits, LimitGroup, LimitMethod, LimitName } from './limits.ts'

/** Limits, and how they are enforced. */
export interface HeldLimits {
  readonly method: LimitMethod
  readonly most: CommandLimits
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

/** The limits that were reached in a group, with their values. */
export async function limitsMet(
  limits: HeldLimits | undefined,
  group: LimitGroup | undefined,
): Promise<Readonly<Partial<Record<LimitName, number>>>> {
  const met = (await group?.reachedLimits()) ?? []
  if (limits === undefined) return {}
  const { processes, memoryBytes: memory } = limits.most
  const numbers = { processes, memory }
  return Object.fromEntries(met.map((name) => [name, numbers[name]]))
}
