import process from 'node:process'
import { causeOf } from '../../model/errors.ts'
import { LIMIT_DEFAULTS, type Settings } from '../../model/settings.ts'
import { memoryShare } from '../machine.ts'
import type { ConfinedCommand, ConfinedRun, Confinement } from './confinement.ts'
import { sandboxArgs, type SandboxMeans } from './bubblewrap/args.ts'
import type { HeldLimits } from './limits/limited-run.ts'
import { findLimits } from './limits/find-limits.ts'
import type { CommandLimits, LimitMeans } from './limits/limits.ts'
import { SANDBOX_HOLDINGS, type Holdings } from './mounts/holdings.ts'
import { findMeans, type FoundMeans, type TryOut } from './proof/means.ts'
import { prepareSandbox, type SandboxGround } from './plan.ts'
import { runConfined, runUnconfined, unavailable } from './run.ts'

export type { ConfinedCommand, ConfinedRun, Confinement, Exit } from './confinement.ts'

/** What one command may use, and by which means it is held to that. */
export interface SandboxLimits extends CommandLimits {
  readonly by: LimitMeans['by']
  /** Whether more processes are really refused: to root they are only by control groups. */
  readonly bindsProcesses: boolean
}

export type SandboxStatus =
  | {
      readonly confined: true
      readonly by: string
      /** A guest's tools can be confined in their turn. */
      readonly nests?: boolean
      readonly limits?: SandboxLimits
      /** What that keeps programs from, and what it does not. */
      readonly holdings?: Holdings
    }
  | { readonly confined: false; readonly why: string }

/** The one way to run a program: for bash, for hydration commands, for guests. */
export interface Sandbox {
  /** Proves itself once, before the first process; cached. */
  status(): Promise<SandboxStatus>
  /** Kernel-confined; `sandbox_unavailable` when it is not proven. */
  confined(confinement: Confinement): ConfinedRun
  /** Without a sandbox, in words chosen by a person: same process rules, nothing confined, nothing moved away. */
  unconfined(confinement: Confinement): ConfinedRun
}

export interface SandboxWorld {
  readonly platform?: string
  /** The processor, as Node names it. */
  readonly arch?: string
  /** Where bubblewrap is; looked for among the programs of the system when absent. */
  readonly program?: string
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly limits?: CommandLimits
}

/** The sandbox of this machine: bubblewrap, once it has proven that it confines. */
export function systemSandbox(world: SandboxWorld = {}): Sandbox {
  const { platform = process.platform, arch = process.arch, program, env = process.env } = world
  const named = program === undefined ? {} : { program }
  let finding: Promise<FoundMeans> | undefined
  const found = () => (finding ??= findMeans({ platform, arch, ...named }, tryOut))
  let limiting: Promise<HeldLimits> | undefined
  const held = () => (limiting ??= heldLimits(world.limits))
  return {
    status: async () => {
      const [machine, limits] = await Promise.all([found(), held()])
      return statusOf(machine, limits)
    },
    confined: (confinement) => async (command) => {
      const [machine, limits] = await Promise.all([found(), held()])
      return machine.means === undefined
        ? unavailable(machine.why)
        : runConfined({ ...groundOf(machine.means, env), limits }, confinement, command)
    },
    unconfined: (confinement) => (command) => runUnconfined(env, confinement, command),
  }
}

/** The limits of a command by settings, on this machine. */
export function commandLimits(settings: NonNullable<Settings['limits']>): CommandLimits {
  const {
    command_processes: processes = LIMIT_DEFAULTS.command_processes,
    command_memory_percent: percent = LIMIT_DEFAULTS.command_memory_percent,
  } = settings
  return { processes, memoryBytes: memoryShare(percent) }
}

function statusOf(machine: FoundMeans, { means, most }: HeldLimits): SandboxStatus {
  if (machine.means === undefined) return { confined: false, why: machine.why }
  const bindsProcesses = means.by !== 'rlimits' || !isSuperuser()
  const limits = { ...most, by: means.by, bindsProcesses }
  return {
    confined: true,
    by: machine.by,
    nests: machine.nests,
    limits,
    holdings: SANDBOX_HOLDINGS,
  }
}

async function heldLimits(limits: CommandLimits = commandLimits({})): Promise<HeldLimits> {
  return { means: await findLimits(), most: limits }
}

function isSuperuser(): boolean {
  return process.getuid?.() === 0
}

function groundOf(means: SandboxMeans, env: SandboxGround['env']): SandboxGround {
  return { means, env, superuser: isSuperuser() }
}

const PROOF_MS = 60_000

/** One run for the proof, by the same code as every other; for a sandbox in a sandbox, the outer one is a guest's. */
const tryOut: TryOut = async (means, { workspace, hawserHome: home, env, argv }, inner) => {
  const place: Confinement = { workspace, home, writable: 'workspace', protectedPaths: [] }
  const ground = groundOf(means, env)
  const said: Buffer[] = []
  const command: ConfinedCommand = {
    argv: inner === undefined ? argv : await nestedArgs({ ...ground, means: inner }, place, argv),
    wallMs: PROOF_MS,
    signal: new AbortController().signal,
    onOutput: (chunk) => void said.push(chunk),
  }
  const ran = await runConfined(ground, { ...place, guest: inner !== undefined }, command)
  if (ran.ok) return Buffer.concat(said).toString()
  const cause = causeOf(ran.error)
  throw new Error(cause?.type === 'no_sandbox' ? cause.why : ran.error.message)
}

/** What a guest would start for a tool. In its own sandbox nobody sees himself as the superuser. */
async function nestedArgs(
  ground: SandboxGround,
  place: Confinement,
  argv: readonly string[],
): Promise<readonly string[]> {
  const prepared = await prepareSandbox({ ...ground, superuser: false }, place, {})
  if (!prepared.ok) throw new Error(prepared.error.message)
  return sandboxArgs(prepared.value.plan, argv)
}
