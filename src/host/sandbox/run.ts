import { tmpdir } from 'node:os'
import { failed, ok, withCause, type Failed, type Result } from '../../model/errors.ts'
import type { ConfinedCommand, Confinement, Exit } from './confinement.ts'
import { asHostResult, closing } from '../files/files.ts'
import { userHome } from '../machine.ts'
import { runProgram, type ProcessEnding, type Program } from '../process/process.ts'
import { NOTHING_LEFT, recordedPlaces, settleWatch, type LeftBehind } from './inspect.ts'
import { programEnv } from './bubblewrap/env.ts'
import { bubblewrapOrder, isTooLong, tooLong } from './bubblewrap/order.ts'
import { openGroup, runLimited } from './limits/limited-run.ts'
import type { LimitGroup } from './limits/limits.ts'
import { submoduleEnv } from './git/submodule-env.ts'
import { holdDirectory, workingDirectory } from './working-directory.ts'
import { watchNetworkTries, type NetworkWatch } from './network-tries.ts'
import { checkMounts } from './mount-check.ts'
import { prepareSandbox, type PreparedSandbox, type SandboxContext } from './plan.ts'

/**
 * Runs a command in a sandbox that passed the self-test; see `ConfinedRun`. The command's control group is created, and
 * removed, while the workspace is inspected.
 */
export async function runConfined(
  context: SandboxContext,
  confinement: Confinement,
  command: ConfinedCommand,
): Promise<Result<Exit>> {
  if (isTooLong(command.argv)) return tooLong()
  const opening = openGroup(context.limits)
  try {
    const prepared = await prepareSandbox(context, confinement, command)
    const group = await opening
    if (!prepared.ok) return prepared
    if (!group.ok) return group
    return await runPrepared(context, confinement, command, prepared.value, group.value)
  } finally {
    const group = await opening
    if (group.ok) await group.value?.remove()
  }
}

async function runPrepared(
  context: SandboxContext,
  confinement: Confinement,
  command: ConfinedCommand,
  { plan, expected, watch, variables }: PreparedSandbox,
  group: LimitGroup | undefined,
): Promise<Result<Exit>> {
  const home = { home: plan.home, temporary: '/tmp', variables }
  const submodules = watch === undefined ? {} : await submoduleEnv(watch.before.root)
  const recorded = watch && (await confinement.watching?.(recordedPlaces(watch.before)))
  if (recorded?.ok === false) return recorded
  const settle = () => settleWatch(watch, confinement)
  const { limits } = context
  const check = checkMounts(expected)
  let tries: NetworkWatch | undefined
  const ran = await runLimited(limits, group, {
    ...orderOf(command),
    ...bubblewrapOrder(plan, { argv: command.argv }, limits, group),
    env: programEnv(context.env, home, { ...submodules, ...command.env }),
    admit: (leader) => check.admit(leader),
    onStart: (pid) => {
      if (!plan.network) tries = watchNetworkTries(pid, () => command.onNetworkTry?.())
    },
  }).catch(async (error: unknown) => {
    tries?.end()
    await settle()
    throw error
  })
  const triedNetwork = tries?.end() ?? false
  if (!ran.ok) return ran
  const refused = check.refused()
  if (refused !== undefined) return refused
  if (wasNotSetUp(ran.value)) return unavailable(ran.value.complaint.trim())
  const [left] = await Promise.all([settle(), group?.remove()])
  if (!left.ok) return left
  const { met } = ran.value
  return ok({
    ...exitOf(ran.value, left.value),
    ...(Object.keys(met).length === 0 ? {} : { limitsMet: met }),
    ...(triedNetwork ? { triedNetwork } : {}),
  })
}

/** Runs a command without a sandbox, with the user's full rights. */
export async function runUnconfined(
  env: SandboxContext['env'],
  confinement: Confinement,
  command: ConfinedCommand,
): Promise<Result<Exit>> {
  if (isTooLong(command.argv)) return tooLong()
  const place = await asHostResult('find the working directory of the command', () =>
    workingDirectory(confinement, command.folder),
  )
  if (!place.ok) return place
  const [file, ...args] = command.argv
  if (file === undefined) throw new Error('argv must not be empty')
  const home = { home: userHome() ?? '/', temporary: tmpdir() }
  const directory = await holdDirectory(place.value)
  if (!directory.ok) return directory
  const ran = await closing(directory.value, ({ path }) =>
    runProgram({
      ...orderOf(command),
      argv: [file, ...args],
      folder: path,
      env: programEnv(env, home, command.env),
      errors: 'merged',
    }),
  )
  return ran.ok ? ok(exitOf(ran.value, NOTHING_LEFT)) : ran
}

export function unavailable(why: string): Failed {
  const message = `The sandbox is unavailable: ${why}.`
  const next = [
    {
      action:
        'Install bubblewrap and allow unprivileged user namespaces (hawser doctor shows the details).',
    },
  ]
  const refused = failed('sandbox_unavailable', message, { why }, next)
  return withCause(refused, { type: 'no_sandbox', why })
}

function orderOf(
  command: ConfinedCommand,
): Pick<Program, 'wallMs' | 'signal' | 'stdin' | 'onOutput'> {
  const { wallMs, signal, stdin } = command
  const input = stdin === undefined ? {} : { stdin }
  return { wallMs, signal, ...input, onOutput: (chunk) => command.onOutput(chunk) }
}

/** Bubblewrap writes to its own stderr only when setup fails; programs inside have no access to that descriptor. */
function wasNotSetUp({ complaint, code, timedOut, interrupted }: ProcessEnding): boolean {
  return complaint !== '' && code !== 0 && !timedOut && !interrupted
}

function exitOf(ending: ProcessEnding, left: LeftBehind): Exit {
  const { code, signal, timedOut, interrupted, durationMs } = ending
  return { code, signal, timedOut, interrupted, durationMs, ...left }
}
