import { failed, type Failed } from '../../../model/errors.ts'
import { gateAt, HANDED_FD, type StartOrder } from '../../process/start.ts'
import type { HeldLimits } from '../limits/limited-run.ts'
import type { LimitGroup } from '../limits/limits.ts'
import { sandboxArgs, type SandboxPlan, type SandboxRestrictions } from './args.ts'
import { seccompFilter } from './seccomp.ts'

/** Without `argv`, the program arrives at the gate. */
export interface BubblewrapProgram {
  readonly argv?: readonly string[]
  readonly sockets?: number
}

/** Everything but the environment and the sockets that starts `argv` in a sandbox and in its group. */
export function bubblewrapOrder(
  plan: SandboxPlan,
  { argv, sockets = 0 }: BubblewrapProgram,
  limits: HeldLimits | undefined,
  group: LimitGroup | undefined,
): Pick<StartOrder, 'argv' | 'handedBytes' | 'folder' | 'errors' | 'atGate'> {
  const argumentsAtGate = argv === undefined
  const restrictions = { ...restrictionsOf(limits, group), gate: gateAt(sockets), argumentsAtGate }
  return {
    argv: enteredArgs(group, sandboxArgs(plan, argv ?? [], restrictions)),
    atGate: true,
    handedBytes: seccompFilter({ machine: plan.bubblewrap.machine, nests: plan.nests }),
    folder: '/',
    errors: 'apart',
  }
}

/** Linux limits a single argument to this size (MAX_ARG_STRLEN). */
const ARGUMENT_BYTES = 131_071

export function isTooLong(argv: readonly string[]): boolean {
  return argv.some((argument) => Buffer.byteLength(argument) > ARGUMENT_BYTES)
}

export function tooLong(): Failed {
  const limit = ARGUMENT_BYTES
  return failed('too_large', `An argument of the command exceeds ${limit} bytes.`, { limit }, [
    { action: 'Write the command to a file and run the file.' },
  ])
}

function restrictionsOf(
  limits: HeldLimits | undefined,
  group: LimitGroup | undefined,
): SandboxRestrictions {
  return {
    filter: HANDED_FD,
    ...(limits === undefined ? {} : { processes: limits.most.processes }),
    ...(group?.dataBytes === undefined ? {} : { dataBytes: group.dataBytes }),
  }
}

function enteredArgs(
  group: LimitGroup | undefined,
  argv: readonly [string, ...string[]],
): [string, ...string[]] {
  const [file, ...rest] = group?.entry ?? []
  return file === undefined ? [...argv] : [file, ...rest, ...argv]
}
