import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { failed, ok, type Failed, type Result } from '../../model/errors.ts'
import { moveAppeared } from './appeared.ts'
import type { ConfinedCommand, Confinement, Exit } from './confinement.ts'
import { asHostResult } from '../files.ts'
import type { WatchedGitDirectory } from './git-directories.ts'
import { userHome } from '../machine.ts'
import { runProgram, type Ending, type Program } from '../process.ts'
import { HANDED } from '../process-start.ts'
import { protectedPlaces } from './protected-places.ts'
import { sandboxArgs, type SandboxHold } from './args.ts'
import { programEnv } from './env.ts'
import { runLimited, type HeldLimits } from './limited-run.ts'
import type { LimitGroup } from './limits.ts'
import { seccompFilter } from './seccomp.ts'
import { standingPlace } from './standing-place.ts'
import { prepareSandbox, type SandboxGround } from './plan.ts'

/** Runs a command by means that were proven; see `ConfinedRun`. */
export async function runConfined(
  ground: SandboxGround,
  confinement: Confinement,
  command: ConfinedCommand,
): Promise<Result<Exit>> {
  if (isTooLong(command.argv)) return tooLong()
  const prepared = await prepareSandbox(ground, confinement, command)
  if (!prepared.ok) return prepared
  const { plan, workspace, before, watched, gitDirectories, variables } = prepared.value
  const home = { home: plan.home, temporary: '/tmp', variables }
  const settle = () =>
    asHostResult('look at protected paths', async () => {
      const after = await protectedPlaces(workspace, watched)
      const moved = await moveAppeared(workspace, before, after, confinement.keep)
      return moved.ok ? andMovedInGit(gitDirectories, moved.value, confinement.keep) : moved
    })
  const { limits } = ground
  const ran = await runLimited(limits, (group) => ({
    ...orderOf(command),
    argv: enteredArgs(group, sandboxArgs(plan, command.argv, holdOf(limits, group))),
    handed: seccompFilter({ machine: plan.means.machine, nests: plan.nests }),
    folder: '/',
    env: programEnv(ground.env, home, command.env),
    errors: 'apart',
  })).catch(async (error: unknown) => {
    await settle()
    throw error
  })
  if (!ran.ok) return ran
  if (wasNotSetUp(ran.value)) return unavailable(ran.value.complaint.trim())
  const appeared = await settle()
  if (!appeared.ok) return appeared
  const { met } = ran.value
  const limitsMet = Object.keys(met).length === 0 ? {} : { limitsMet: met }
  return ok({ ...exitOf(ran.value, appeared.value), ...limitsMet })
}

/** Runs a command with the rights of the person we run for. */
export async function runUnconfined(
  env: SandboxGround['env'],
  confinement: Confinement,
  command: ConfinedCommand,
): Promise<Result<Exit>> {
  if (isTooLong(command.argv)) return tooLong()
  const place = await asHostResult('find the folder of the command', () =>
    standingPlace(confinement, command.folder),
  )
  if (!place.ok) return place
  const [file, ...args] = command.argv
  if (file === undefined) throw new Error('a command names a program')
  const home = { home: userHome() ?? '/', temporary: tmpdir() }
  const ran = await runProgram({
    ...orderOf(command),
    argv: [file, ...args],
    folder: place.value.folder,
    env: programEnv(env, home, command.env),
    errors: 'merged',
  })
  return ran.ok ? ok(exitOf(ran.value, [])) : ran
}

export function unavailable(why: string): Failed {
  return failed('sandbox_unavailable', `No sandbox confines programs here: ${why}.`, { why }, [
    { action: 'Install bubblewrap, and allow it to make user namespaces.' },
  ])
}

/** What Linux takes as one argument. */
const ARGUMENT_BYTES = 131_071

function isTooLong(argv: readonly string[]): boolean {
  return argv.some((argument) => Buffer.byteLength(argument) > ARGUMENT_BYTES)
}

function tooLong(): Failed {
  const limit = ARGUMENT_BYTES
  return failed('too_large', `The command is longer than ${limit} bytes.`, { limit }, [
    { action: 'Write it to a file and run that.' },
  ])
}

/** Also moves away what appeared in git directories outside; it is named by its absolute path. */
async function andMovedInGit(
  directories: readonly WatchedGitDirectory[],
  moved: readonly string[],
  keep: Confinement['keep'],
): Promise<Result<readonly string[]>> {
  const all = [...moved]
  for (const { at, paths, before } of directories) {
    const after = await protectedPlaces(at, paths)
    const keepThere: Confinement['keep'] =
      keep && ((path, content) => keep(join(at, path), content))
    const there = await moveAppeared(at, before, after, keepThere)
    if (!there.ok) return there
    all.push(...there.value.map((path) => join(at, path)))
  }
  return ok(all)
}

function holdOf(limits: HeldLimits | undefined, group: LimitGroup | undefined): SandboxHold {
  return {
    filter: HANDED,
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

function orderOf(
  command: ConfinedCommand,
): Pick<Program, 'wallMs' | 'signal' | 'stdin' | 'onOutput'> {
  const { wallMs, signal, stdin } = command
  const given = stdin === undefined ? {} : { stdin }
  return { wallMs, signal, ...given, onOutput: (chunk) => command.onOutput(chunk) }
}

/** Bubblewrap speaks only when it could not do what it was asked to; nothing that runs inside gets at its voice. */
function wasNotSetUp({ complaint, code, timedOut, interrupted }: Ending): boolean {
  return complaint !== '' && code !== 0 && !timedOut && !interrupted
}

function exitOf(ending: Ending, appeared: readonly string[]): Exit {
  const { code, signal, timedOut, interrupted, durationMs } = ending
  return { code, signal, timedOut, interrupted, durationMs, appeared }
}
