import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { SandboxMeans } from '../bubblewrap/args.ts'
import { clearAbandonedScenes, powerlessIn, weaknessOf, type ProbeOrder } from './proof.ts'
import { isFilteredMachine } from '../bubblewrap/seccomp.ts'
import { systemProgram } from '../../process/system-program.ts'

/** What a machine has to confine programs with, or why it has nothing. */
export type FoundMeans =
  | {
      readonly means: SandboxMeans
      readonly by: string
      /** A program in the sandbox can have a sandbox of its own. */
      readonly nests: boolean
    }
  | { readonly means: undefined; readonly why: string }

export interface MeansWorld {
  readonly platform: string
  /** The processor, as Node names it. */
  readonly arch: string
  /** Where bubblewrap is; looked for among the programs of the system when absent. */
  readonly program?: string
}

/** Runs the order by these means, in a second sandbox by `inner` if given, and answers with what was said. Throws when it fails. */
export type TryOut = (
  means: SandboxMeans,
  order: ProbeOrder,
  inner?: SandboxMeans,
) => Promise<string>

/** Finds bubblewrap and has it prove itself, in the ways it may have to be used here, the best first. */
export async function findMeans(world: MeansWorld, tryOut: TryOut): Promise<FoundMeans> {
  if (world.platform !== 'linux')
    return none(`bubblewrap needs Linux, and this is ${world.platform}`)
  const { arch: machine } = world
  if (!isFilteredMachine(machine)) return none(`no seccomp filter is known for ${machine}`)
  const program = world.program ?? (await systemProgram('bwrap'))
  if (program === undefined) return none('bubblewrap (bwrap) is not installed')
  const version = await versionOf(program)
  if (version === undefined) return none(`${program} does not say its version`)
  if (!isAtLeast(version, OLDEST)) {
    return none(`bubblewrap ${version} is too old; ${OLDEST} is needed`)
  }
  const disablesNamespaces = isAtLeast(version, DISABLES_NAMESPACES)
  await clearAbandonedScenes()
  let first: string | undefined
  for (const proc of PROCS) {
    const means: SandboxMeans = { program, disablesNamespaces, proc, machine }
    const [weakness, nests] = await Promise.all([
      weaknessOf(machine, (order) => tryOut(means, order)).catch(messageOf),
      nesting(means, tryOut),
    ])
    if (weakness === undefined) return { means, by: `bubblewrap ${version}`, nests }
    first ??= weakness
  }
  return none(`bubblewrap ${version} does not confine here: ${first}`)
}

/** The first with `--as-pid-1` and everything else we use; and the first that can forbid further namespaces. */
const OLDEST = '0.4.0'
const DISABLES_NAMESPACES = '0.8.0'

const PROCS = ['own', 'shown'] as const

function none(why: string): FoundMeans {
  return { means: undefined, why }
}

async function nesting(means: SandboxMeans, tryOut: TryOut): Promise<boolean> {
  for (const proc of PROCS) {
    const inner = { ...means, proc }
    if (await powerlessIn((order) => tryOut(means, order, inner)).catch(() => false)) return true
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
