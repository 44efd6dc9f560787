import { access } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { failed, ok, type Failed, type Result } from '../../model/errors.ts'
import { moveAppeared } from './appeared.ts'
import type { ConfinedCommand, Confinement, Exit } from './confinement.ts'
import { asHostResult } from '../files.ts'
import { userHome } from '../machine.ts'
import { runProgram, type Ending, type Program } from '../process.ts'
import { protectedPlaces } from './protected-places.ts'
import { sandboxArgs } from './args.ts'
import { programEnv } from './env.ts'
import { standingPlace } from './standing-place.ts'
import { watchNetworkTries, type NetworkWatch } from './network-tries.ts'
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
  const { plan, workspace, before, watched } = prepared.value
  const home = { home: plan.home, temporary: '/tmp', gitConfig: await personsGitConfig() }
  const settle = () =>
    asHostResult('look at protected paths', async () =>
      moveAppeared(workspace, before, await protectedPlaces(workspace, watched), confinement.keep),
    )
  let watch: NetworkWatch | undefined
  const ran = await runProgram({
    ...orderOf(command),
    argv: sandboxArgs(plan, command.argv),
    folder: '/',
    env: programEnv(ground.env, home, command.env),
    errors: 'apart',
    onStart: (pid) => {
      if (!plan.network) watch = watchNetworkTries(pid, () => command.onNetworkTry?.())
    },
  }).catch(async (error: unknown) => {
    watch?.end()
    await settle()
    throw error
  })
  const triedNetwork = watch?.end() ?? false
  if (!ran.ok) return ran
  if (wasNotSetUp(ran.value)) return unavailable(ran.value.complaint.trim())
  const appeared = await settle()
  if (!appeared.ok) return appeared
  const exit = exitOf(ran.value, appeared.value)
  return ok(triedNetwork ? { ...exit, triedNetwork } : exit)
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
  const home = { home: userHome() ?? '/', temporary: tmpdir(), gitConfig: undefined }
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

async function personsGitConfig(): Promise<string | undefined> {
  const home = userHome()
  if (home === undefined) return undefined
  const path = join(home, '.gitconfig')
  return access(path).then(
    () => path,
    () => undefined,
  )
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
