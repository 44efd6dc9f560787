import { tmpdir } from 'node:os'
import { failed, ok, withCause, type Failed, type Result } from '../../model/errors.ts'
import type { ConfinedCommand, Confinement, Exit } from './confinement.ts'
import { asHostResult, closing } from '../files/files.ts'
import { userHome } from '../machine.ts'
import { runProgram, type ProcessEnding, type Program } from '../process/process.ts'
import { NOTHING_LEFT, recordedPlaces, settleWatch, type LeftBehind } from './inspect.ts'
import { programEnv } from './bubblewrap/env.ts'
import { bubblewrapOrder, isTooLong, tooLong } from './bubblewrap/order.ts'
import { limitsMet, openGroup } from './limits/limited-run.ts'
import type { LimitGroup } from './limits/limits.ts'
import { holdDirectory, workingDirectory } from './working-directory.ts'
import { watchNetworkTries, type NetworkWatch } from './network-tries.ts'
import { checkMounts } from './mount-check.ts'
import { prepareSandbox, type PreparedSandbox, type SandboxContext } from './plan.ts'
import type { ReadySandbox, WaitingSandbox } from './ready-sandbox.ts'
import { sandboxEnv } from './sandbox-env.ts'

/**
 * Runs a command in a sandbox that passed the self-test; see `ConfinedRun`. The command's control group is created, and
 * removed, while the workspace is inspected. `ready` is used if it is still right, and ended in any case.
 */
export async function runConfined(
  context: SandboxContext,
  confinement: Confinement,
  command: ConfinedCommand,
  ready?: ReadySandbox,
): Promise<Result<Exit>> {
  if (isTooLong(command.argv)) return tooLong()
  let opening = ready === undefined ? openGroup(context.limits) : undefined
  const newGroup = () => (opening ??= openGroup(context.limits))
  try {
    const prepared = await prepareSandbox(context, confinement, command)
    if (!prepared.ok) return prepared
    return await runPrepared({ context, confinement, command, ready, newGroup }, prepared.value)
  } finally {
    const [group] = await Promise.all([opening, ready?.endSoon()])
    if (group?.ok === true) await group.value?.remove()
  }
}

interface Running {
  readonly context: SandboxContext
  readonly confinement: Confinement
  readonly command: ConfinedCommand
  readonly ready: ReadySandbox | undefined
  /** Creates the group of a sandbox that is started now. */
  readonly newGroup: () => ReturnType<typeof openGroup>
}

async function runPrepared(running: Running, prepared: PreparedSandbox): Promise<Result<Exit>> {
  const { context, confinement, command, ready } = running
  const { plan, watch } = prepared
  const env = await sandboxEnv(context, prepared, command.env)
  const [recorded, waiting] = await Promise.all([
    watch && confinement.watching?.(recordedPlaces(watch.before)),
    ready?.matching(prepared, env),
  ])
  if (recorded?.ok === false) return recorded
  const settle = () => settleWatch(watch, confinement)
  let tries: NetworkWatch | undefined
  const order = {
    ...orderOf(command),
    onStart: (pid: number) => {
      if (!plan.network) tries = watchNetworkTries(pid, () => command.onNetworkTry?.())
    },
  }
  const launched = launch(running, prepared, { order, env, waiting })
  const ran = await launched.catch(async (error: unknown) => {
    tries?.end()
    await settle()
    throw error
  })
  const triedNetwork = tries?.end() ?? false
  if (!ran.ok) return ran
  const { ending, group } = ran.value
  if (wasNotSetUp(ending)) return unavailable(ending.complaint.trim())
  const met = await limitsMet(context.limits, group)
  const [left] = await Promise.all([settle(), group?.remove()])
  if (!left.ok) return left
  return ok({
    ...exitOf(ending, left.value),
    ...(Object.keys(met).length === 0 ? {} : { limitsMet: met }),
    ...(triedNetwork ? { triedNetwork } : {}),
  })
}

interface Launch {
  readonly order: ReturnType<typeof orderOf> & Pick<Program, 'onStart'>
  readonly env: Readonly<Record<string, string>>
  /** A sandbox that waits for a command. */
  readonly waiting: WaitingSandbox | undefined
}

/** In the sandbox that waits, or, if that may not start, in a new one. */
async function launch(
  { context: { limits }, command, newGroup }: Running,
  { plan, expected }: PreparedSandbox,
  { order, env, waiting }: Launch,
): Promise<Result<{ readonly ending: ProcessEnding; readonly group: LimitGroup | undefined }>> {
  const early = checkMounts(expected)
  const started = waiting?.run(order, command.argv, (leader) => early.admit(leader))
  if (started !== undefined) {
    const ending = await started
    return ending.ok ? ok({ ending: ending.value, group: waiting?.group }) : ending
  }
  const group = await newGroup()
  if (!group.ok) return group
  const check = checkMounts(expected)
  const ending = await runProgram({
    ...order,
    ...bubblewrapOrder(plan, { argv: command.argv }, limits, group.value),
    ...(command.stdin === undefined ? {} : { stdin: command.stdin }),
    env,
    admit: (leader) => check.admit(leader),
  })
  if (!ending.ok) return ending
  return check.refusal() ?? ok({ ending: ending.value, group: group.value })
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
function wasNotSetUp({ complaint, code, timedOut, wasInterrupted }: ProcessEnding): boolean {
  return complaint !== '' && code !== 0 && !timedOut && !wasInterrupted
}

function exitOf(ending: ProcessEnding, left: LeftBehind): Exit {
  const { code, signal, timedOut, wasInterrupted, durationMs } = ending
  return { code, signal, timedOut, wasInterrupted, durationMs, ...left }
}
