import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Bubblewrap } from '../bubblewrap/args.ts'
import { clearAbandonedScenes, powerlessIn, weaknessOf, type ProbeOrder } from './proof.ts'
import { isFilteredMachine } from '../bubblewrap/seccomp.ts'
import { systemProgram } from '../../process/system-program.ts'

/** The bubblewrap of this machine, or why it cannot be used. */
export type BubblewrapSearch =
  | {
      readonly bubblewrap: Bubblewrap
      readonly by: string
      /** Whether nested sandboxes work. Tried at the first call: only guests need it. */
      nests(): Promise<boolean>
    }
  | { readonly bubblewrap: undefined; readonly why: string }

export interface BubblewrapOptions {
  readonly platform: string
  /** The processor, as in `process.arch`. */
  readonly arch: string
  /** Path of bubblewrap. Default: found among the system programs. */
  readonly program?: string
}

/** Runs the order in a sandbox, inside a second one with `inner` if given, and returns its output. Throws when it fails. */
export type TrialRun = (
  bubblewrap: Bubblewrap,
  order: ProbeOrder,
  inner?: Bubblewrap,
) => Promise<string>

/** Finds bubblewrap and runs the self-test, in each configuration it may need here, the preferred one first. */
export async function findBubblewrap(
  world: BubblewrapOptions,
  trialRun: TrialRun,
): Promise<BubblewrapSearch> {
  if (world.platform !== 'linux')
    return none(`bubblewrap requires Linux; this is ${world.platform}`)
  const { arch: machine } = world
  if (!isFilteredMachine(machine)) return none(`no seccomp filter for processor ${machine}`)
  const program = world.program ?? (await systemProgram('bwrap'))
  if (program === undefined) return none('bubblewrap (bwrap) is not installed')
  const version = await versionOf(program)
  if (version === undefined) return none(`${program} --version printed no version`)
  if (!isAtLeast(version, OLDEST)) {
    return none(`bubblewrap ${version} is too old; ${OLDEST} or later is required`)
  }
  const disablesNamespaces = isAtLeast(version, DISABLES_NAMESPACES)
  await clearAbandonedScenes()
  let first: string | undefined
  for (const proc of PROCS) {
    const bubblewrap: Bubblewrap = { program, disablesNamespaces, proc, machine }
    const weakness = await weaknessOf(machine, (order) => trialRun(bubblewrap, order)).catch(
      messageOf,
    )
    if (weakness === undefined) {
      let trying: Promise<boolean> | undefined
      const nests = () => (trying ??= nesting(bubblewrap, trialRun))
      return { bubblewrap, by: `bubblewrap ${version}`, nests }
    }
    first ??= weakness
  }
  return none(`bubblewrap ${version} failed its self-test: ${first}`)
}

/** The first version with `--as-pid-1` and everything else used here; and the first that can forbid further namespaces. */
const OLDEST = '0.4.0'
const DISABLES_NAMESPACES = '0.8.0'

const PROCS = ['own', 'shown'] as const

function none(why: string): BubblewrapSearch {
  return { bubblewrap: undefined, why }
}

async function nesting(bubblewrap: Bubblewrap, trialRun: TrialRun): Promise<boolean> {
  for (const proc of PROCS) {
    const inner = { ...bubblewrap, proc }
    if (await powerlessIn((order) => trialRun(bubblewrap, order, inner)).catch(() => false))
      return true
  }
  return false
}

async function versionOf(program: string): Promise<string | undefined> {
  try {
    const { stdout } = await promisify(execFile)(program, ['--version'], {
      env: {},
      timeout: 10_000,
    })
    return /\d+\.\d+\.\d+/.exec(stdout)?.[0]
  } catch {
    return undefined
  }
}

function isAtLeast(version: string, least: string): boolean {
  const [a, b] = [version, least].map((text) => text.split('.').map(Number))
  for (const at of [0, 1, 2]) {
    const difference = (a?.[at] ?? 0) - (b?.[at] ?? 0)
    if (difference !== 0) return difference > 0
  }
  return true
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
