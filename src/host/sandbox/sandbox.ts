import process from 'node:process'
import { causeOf, type Result } from '../../model/errors.ts'
import { LIMIT_DEFAULTS } from '../../model/limits.ts'
import type { Settings } from '../../model/settings.ts'
import { memoryShare } from '../machine.ts'
import type { ConfinedCommand, ConfinedRun, Confinement } from './confinement.ts'
import { sandboxArgs, type Bubblewrap } from './bubblewrap/args.ts'
import type { HeldLimits } from './limits/limited-run.ts'
import { findLimits } from './limits/find-limits.ts'
import type { CommandLimits, LimitMethod } from './limits/limits.ts'
import { SANDBOX_GUARANTEES, type SandboxGuarantees } from './mounts/guarantees.ts'
import { findBubblewrap, type BubblewrapSearch, type TrialRun } from './proof/find-bubblewrap.ts'
import { provedOnce } from './proof/proved-once.ts'
import { prepareSandbox, type SandboxContext } from './plan.ts'
import type { LongProcess, LongProgram } from './long-process.ts'
import { readySandbox, type ReadySandbox } from './ready-sandbox.ts'
import { runConfined, runUnconfined, unavailable } from './run.ts'
import { startConfined, startUnconfined } from './start.ts'

export type { ConfinedCommand, ConfinedRun, Confinement, Exit } from './confinement.ts'
export type { LongProcess, LongProgram } from './long-process.ts'

/** The limits of one command, and how they are enforced. */
export interface SandboxLimits extends CommandLimits {
  readonly by: LimitMethod['by']
  /** Whether the process limit is enforced. For root, only control groups enforce it. */
  readonly bindsProcesses: boolean
}

export type SandboxStatus =
  | {
      readonly isConfined: true
      readonly by: string
      /** A guest can confine its own tools (nested sandboxes work). */
      readonly nests?: boolean
      readonly limits?: SandboxLimits
      /** What the sandbox prevents, and what it does not. */
      readonly guarantees?: SandboxGuarantees
    }
  | { readonly isConfined: false; readonly why: string }

/** The only way to run a program: bash, hydration commands and guests all use it. */
export interface Sandbox {
  /** Runs the self-test before the first command, once per process if it passes; the result is cached. */
  status(): Promise<SandboxStatus>
  /** Whether commands are confined, as `status` says, without trying what only guests need. */
  confines(): Promise<boolean>
  /** Confined by the kernel. Fails with `sandbox_unavailable` if the self-test did not pass. */
  runConfined(confinement: Confinement): ConfinedRun
  /** Without a sandbox, when a person chose that explicitly: the same process rules, nothing confined, nothing moved away. */
  runUnconfined(confinement: Confinement): ConfinedRun
  /**
   * Starts a program that lives long, confined unless it says otherwise. For a guest, nested sandboxes must work too. The
   * error kinds are those of `ConfinedRun`.
   */
  start(confinement: Confinement, program: LongProgram): Promise<Result<LongProcess>>
  /**
   * Starts a sandbox for a command that is not known yet, with the self-test before it if necessary. `runConfined` uses it for the
   * first command that suits it, after a new inspection, and otherwise runs as if it did not exist. Absent where nothing can be
   * prepared.
   */
  prepare?(confinement: Confinement, command: Pick<ConfinedCommand, 'folder'>): CommandAhead
}

/** A sandbox that waits for a command. */
export interface CommandAhead {
  /** Resolves to whether it waits for a command, when that is certain. Never rejects. */
  waits(): Promise<boolean>
  /** A command has taken it. */
  isTaken(): boolean
  /** Ends it, unless a command has taken it. Resolves when nothing is left. */
  end(): Promise<void>
}

export interface SandboxWorld {
  readonly platform?: string
  /** The processor, as in `process.arch`. */
  readonly arch?: string
  /** Path of bubblewrap. Default: found among the system programs. */
  readonly program?: string
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly limits?: CommandLimits
}

/** The sandbox of this machine: bubblewrap, if it passes the self-test. */
export function systemSandbox(world: SandboxWorld = {}): Sandbox {
  const { platform = process.platform, arch = process.arch, program, env = process.env } = world
  const isOurs = program === undefined && platform === process.platform && arch === process.arch
  const named = program === undefined ? {} : { program }
  const find = () => findBubblewrap({ platform, arch, ...named }, trialRun)
  let finding: Promise<BubblewrapSearch> | undefined
  const found = () => (finding ??= isOurs ? onThisMachine() : find())
  let limiting: Promise<HeldLimits> | undefined
  const held = () => (limiting ??= heldLimits(world.limits))
  const waiting = new Set<ReadySandbox>()
  const take = (confinement: Confinement, command: ConfinedCommand) => {
    const ready = [...waiting].find((one) => one.suits(confinement, command))
    if (ready !== undefined) waiting.delete(ready)
    return ready
  }
  return {
    status: async () => {
      const [machine, limits] = await Promise.all([found(), held()])
      return statusOf(machine, limits)
    },
    confines: async () => (await found()).bubblewrap !== undefined,
    runConfined: (confinement) => async (command) => {
      const ready = take(confinement, command)
      const [machine, limits] = await Promise.all([found(), held()])
      if (machine.bubblewrap === undefined) return unavailable(machine.why)
      const context = { ...contextOf(machine.bubblewrap, env), limits }
      return runConfined(context, confinement, command, ready)
    },
    prepare: (confinement, command) => {
      const context = Promise.all([found(), held()]).then(([machine, limits]) =>
        machine.bubblewrap === undefined
          ? undefined
          : { ...contextOf(machine.bubblewrap, env), limits },
      )
      const ready = readySandbox(context, confinement, command)
      waiting.add(ready)
      return {
        waits: () => ready.waits(),
        isTaken: () => !waiting.has(ready),
        end: async () => {
          if (waiting.delete(ready)) await ready.end()
        },
      }
    },
    runUnconfined: (confinement) => (command) => runUnconfined(env, confinement, command),
    start: async (confinement, order) => {
      if (order.withoutSandbox === true) return startUnconfined(env, confinement, order)
      const [machine, limits] = await Promise.all([found(), held()])
      if (machine.bubblewrap === undefined) return unavailable(machine.why)
      if (confinement.guest === true && !(await machine.nests())) return unavailable(DOES_NOT_NEST)
      return startConfined({ ...contextOf(machine.bubblewrap, env), limits }, confinement, order)
    },
  }
}

/** Depends on the machine alone, so all workspaces of this process share it. */
const onThisMachine = provedOnce(() =>
  findBubblewrap({ platform: process.platform, arch: process.arch }, trialRun),
)

const DOES_NOT_NEST = 'a sandbox cannot be started inside another one, as guests need'

/** The limits of a command from the settings, with defaults for this machine. */
export function commandLimits(settings: NonNullable<Settings['limits']>): CommandLimits {
  const {
    command_processes: processes = LIMIT_DEFAULTS.command_processes,
    command_memory_percent: percent = LIMIT_DEFAULTS.command_memory_percent,
  } = settings
  return { processes, memoryBytes: memoryShare(percent) }
}

async function statusOf(
  machine: BubblewrapSearch,
  { method, most }: HeldLimits,
): Promise<SandboxStatus> {
  if (machine.bubblewrap === undefined) return { isConfined: false, why: machine.why }
  const bindsProcesses = method.by !== 'rlimits' || !isSuperuser()
  const limits = { ...most, by: method.by, bindsProcesses }
  return {
    isConfined: true,
    by: machine.by,
    nests: await machine.nests(),
    limits,
    guarantees: SANDBOX_GUARANTEES,
  }
}

async function heldLimits(limits: CommandLimits = commandLimits({})): Promise<HeldLimits> {
  return { method: await findLimits(), most: limits }
}

function isSuperuser(): boolean {
  return process.getuid?.() === 0
}

function contextOf(bubblewrap: Bubblewrap, env: SandboxContext['env']): SandboxContext {
  return { bubblewrap, env, superuser: isSuperuser() }
}

const PROOF_MS = 60_000

/**
 * Runs one step of the self-test, through the same code as every other command. For a nested sandbox, the outer one is a
 * guest's.
 */
const trialRun: TrialRun = async (
  bubblewrap,
  { workspace, hawserHome: home, env, argv },
  inner,
) => {
  const place: Confinement = { workspace, home, writable: 'workspace', protectedPaths: [] }
  const context = contextOf(bubblewrap, env)
  const output: Buffer[] = []
  const command: ConfinedCommand = {
    argv:
      inner === undefined ? argv : await nestedArgs({ ...context, bubblewrap: inner }, place, argv),
    wallMs: PROOF_MS,
    signal: new AbortController().signal,
    onOutput: (chunk) => void output.push(chunk),
  }
  const ran = await runConfined(context, { ...place, guest: inner !== undefined }, command)
  if (ran.ok) return Buffer.concat(output).toString()
  const cause = causeOf(ran.error)
  throw new Error(cause?.type === 'no_sandbox' ? cause.why : ran.error.message)
}

/** The arguments a guest would use to confine a tool. Inside its own sandbox a process never sees itself as root. */
async function nestedArgs(
  context: SandboxContext,
  place: Confinement,
  argv: readonly string[],
): Promise<readonly string[]> {
  const prepared = await prepareSandbox({ ...context, superuser: false }, place, {})
  if (!prepared.ok) throw new Error(prepared.error.message)
  return sandboxArgs(prepared.value.plan, argv)
}
