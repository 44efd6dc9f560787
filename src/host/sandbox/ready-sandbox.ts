import { readFileSync } from 'node:fs'
import type { Result } from '../../model/errors.ts'
import { systemClock } from '../clock.ts'
import { gateLine } from '../process/gate.ts'
import {
  holdProgram,
  type HeldProgram,
  type ProcessEnding,
  type RunOrder,
} from '../process/process.ts'
import { bubblewrapOrder } from './bubblewrap/order.ts'
import type { ConfinedCommand, Confinement } from './confinement.ts'
import { openGroup } from './limits/limited-run.ts'
import type { LimitGroup } from './limits/limits.ts'
import { innermost } from './mount-check.ts'
import { prepareSandbox, type PreparedSandbox, type SandboxContext } from './plan.ts'
import { sandboxEnv } from './sandbox-env.ts'

/**
 * A sandbox that was started before its command was known: everything is mounted, and its first process waits at the gate. It is
 * used for one command or for none, and only if a new inspection plans exactly the same sandbox and nothing that is mounted has
 * changed. It ends with this process, like every sandbox.
 */
export interface ReadySandbox {
  /** Resolves to whether it waits for a command, when that is certain. Never rejects. */
  waits(): Promise<boolean>
  /** Whether the command could run in it, as far as the disk does not matter. */
  suits(confinement: Confinement, command: ConfinedCommand): boolean
  /**
   * Resolves to the sandbox if it waits and equals the plan of a new inspection. Never rejects, and does not wait for a sandbox
   * that takes much longer than a new one would.
   */
  matching(prepared: PreparedSandbox, env: SandboxEnv): Promise<WaitingSandbox | undefined>
  /** Ends it, whether or not it was used. Resolves when nothing is left. May be called more than once. */
  end(): Promise<void>
  /** Like `end`, but does not wait for one that cannot be ended at once, for example while it inspects a large folder. */
  endSoon(): Promise<void>
}

export interface WaitingSandbox {
  readonly group: LimitGroup | undefined
  /** Runs the command if `admit` agrees; `undefined` if something has changed, and then it never runs. */
  run(
    order: RunOrder,
    argv: readonly string[],
    admit: (leader: number) => boolean,
  ): Promise<Result<ProcessEnding>> | undefined
}

type SandboxEnv = Readonly<Record<string, string>>

/** The shell reads its arguments byte by byte. */
const MOST_BYTES = 16_384
/** A sandbox starts in a fraction of this, even on a busy machine. A preparation that hangs delays a command by no more. */
const MOST_WAIT_MS = 1_000

/** Starts a sandbox for a command without network access, input or variables of its own, unless there is no context. */
export function readySandbox(
  context: Promise<SandboxContext | undefined>,
  confinement: Confinement,
  { folder }: Pick<ConfinedCommand, 'folder'>,
): ReadySandbox {
  let ending: Promise<void> | undefined
  const starting = context
    // Nothing is started for a Turn that has ended while the self-test ran.
    .then(
      (known) => known && (ending === undefined ? start(known, confinement, folder) : undefined),
    )
    .catch(() => undefined)
  const end = async () => {
    const started = await starting
    await started?.program.discard()
    await started?.group?.remove()
  }
  return {
    waits: async () => (await (await starting)?.mountList) !== undefined,
    suits: (other, command) =>
      policyOf(other) === policyOf(confinement) &&
      command.folder === folder &&
      command.network !== true &&
      command.stdin === undefined &&
      command.env === undefined &&
      command.searches !== true &&
      Buffer.byteLength(gateLine(command.argv)) <= MOST_BYTES,
    matching: async (prepared, env) => {
      const { started, mounted } = (await inTime(whenMounted(starting))) ?? {}
      if (started === undefined || mounted === undefined || ending !== undefined) return undefined
      if (started.plan !== planText(prepared, env)) return undefined
      const { program, group, leader } = started
      return {
        group,
        run: (order, argv, admit) =>
          program.run(order, gateLine(argv), (pid) => mountsOf(leader) === mounted && admit(pid)),
      }
    },
    end: () => (ending ??= end()),
    endSoon: async () => {
      await inTime((ending ??= end()))
    },
  }
}

/** `undefined` if it takes too long. */
async function inTime<T>(work: Promise<T>): Promise<T | undefined> {
  let forget: (() => void) | undefined
  const late = new Promise<undefined>((resolve) => {
    forget = systemClock.after(MOST_WAIT_MS, () => resolve(undefined))
  })
  return Promise.race([work, late]).finally(() => forget?.())
}

async function whenMounted(starting: Promise<SandboxStart | undefined>) {
  const started = await starting
  return { started, mounted: await started?.mountList }
}

interface SandboxStart {
  readonly program: HeldProgram
  readonly leader: number
  readonly group: LimitGroup | undefined
  readonly plan: string
  /** What is mounted when the sandbox waits; `undefined` if it never does. */
  readonly mountList: Promise<string | undefined>
}

async function start(
  context: SandboxContext,
  confinement: Confinement,
  folder: string | undefined,
): Promise<SandboxStart | undefined> {
  const opening = openGroup(context.limits)
  const command = folder === undefined ? {} : { folder }
  const prepared = await prepareSandbox(context, confinement, command)
  const group = await opening
  if (!group.ok) return undefined
  if (!prepared.ok) {
    await group.value?.remove()
    return undefined
  }
  const env = await sandboxEnv(context, prepared.value)
  const { plan } = prepared.value
  const held = await holdProgram({
    ...bubblewrapOrder(plan, {}, context.limits, group.value),
    env,
  })
  if (!held.ok) {
    await group.value?.remove()
    return undefined
  }
  const { pid, waiting } = held.value
  return {
    program: held.value,
    leader: pid,
    group: group.value,
    plan: planText(prepared.value, env),
    mountList: waiting.then((waits) => (waits ? mountsOf(pid) : undefined)),
  }
}

/** What decides how a sandbox is planned, apart from the disk. Functions only matter when a command runs. */
function policyOf(confinement: Confinement): string {
  const { workspace, identity, writable, home, protectedPaths, readable } = confinement
  const { guest, records, ofGuest, ownHome } = confinement
  const policy = { workspace, identity, writable, home, protectedPaths, readable }
  return JSON.stringify({ ...policy, guest, records, ofGuest, ownHome })
}

/** Everything that a sandbox is started with and compared with. */
function planText({ plan, workspace, expected, watch }: PreparedSandbox, env: SandboxEnv): string {
  return JSON.stringify({ plan, workspace, expected, options: watch?.options, env })
}

/**
 * The mounts of the sandbox as the kernel lists them. If a folder under a mount, or the source of one, is moved, replaced or
 * removed, the list changes: a mount moves with its folder, and disappears if another one takes its place.
 */
function mountsOf(leader: number): string | undefined {
  try {
    return readFileSync(`/proc/${innermost(leader)}/mountinfo`, 'utf8')
  } catch {
    return undefined
  }
}
