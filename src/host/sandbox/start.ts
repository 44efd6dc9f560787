import { tmpdir } from 'node:os'
import { ok, type Result } from '../../model/errors.ts'
import { asHostResult, closing } from '../files/files.ts'
import { userHome } from '../machine.ts'
import { passGate } from '../process/gate.ts'
import { startLong, type LongOrder, type RunningProgram } from '../process/long-program.ts'
import { gateAt } from '../process/start.ts'
import { systemProgram } from '../process/system-program.ts'
import { programEnv } from './bubblewrap/env.ts'
import { bubblewrapOrder, isTooLong, tooLong } from './bubblewrap/order.ts'
import type { Confinement } from './confinement.ts'
import { recordedPlaces } from './inspect.ts'
import { limitsMet, openGroup } from './limits/limited-run.ts'
import type { LimitGroup } from './limits/limits.ts'
import type { LongEnding, LongProcess, LongProgram } from './long-process.ts'
import { watchLong, type LongWatch } from './long-watch.ts'
import { checkMounts } from './mount-check.ts'
import { prepareSandbox, type PreparedSandbox, type SandboxContext } from './plan.ts'
import { holdDirectory, workingDirectory } from './working-directory.ts'

/**
 * Starts a program in a sandbox that passed the self-test, in a control group of its own that is removed when it ends. The
 * error kinds are those of `ConfinedRun`.
 */
export async function startConfined(
  context: SandboxContext,
  confinement: Confinement,
  program: LongProgram,
): Promise<Result<LongProcess>> {
  if (isTooLong(program.argv)) return tooLong()
  const opening = openGroup(context.limits)
  const prepared = await prepareSandbox(context, confinement, {})
  const group = await opening
  if (!group.ok) return group
  const started = prepared.ok
    ? await startPrepared(context, confinement, program, prepared.value, group.value)
    : prepared
  if (!started.ok) await group.value?.remove()
  return started
}

async function startPrepared(
  context: SandboxContext,
  confinement: Confinement,
  program: LongProgram,
  { plan, expected, watch, variables }: PreparedSandbox,
  group: LimitGroup | undefined,
): Promise<Result<LongProcess>> {
  const recorded = watch && (await confinement.watching?.(recordedPlaces(watch.before)))
  if (recorded?.ok === false) return recorded
  const { limits } = context
  const order = orderOf(program)
  const home = { home: plan.home, temporary: '/tmp', variables }
  const check = checkMounts(expected)
  const started = await startLong({
    ...order,
    ...bubblewrapOrder(plan, { argv: program.argv, sockets: order.sockets }, limits, group),
    env: programEnv(context.env, home, program.env),
    admit: (leader) => check.admit(leader),
    // Bubblewrap, and the first process of the namespace.
    wrappers: 2,
  })
  if (!started.ok) return started
  await Promise.race([check.firstAdmission, started.value.exit])
  const refused = check.refusal()
  if (refused !== undefined) {
    await started.value.stop(0)
    return refused
  }
  const met = async () => {
    const reached = await limitsMet(limits, group)
    await group?.remove()
    return Object.keys(reached).length === 0 ? {} : { limitsMet: reached }
  }
  return ok(handleOf(program, started.value, watchLong(watch, confinement), met))
}

/** Starts a program without a sandbox, with the user's full rights and without limits. */
export async function startUnconfined(
  env: SandboxContext['env'],
  confinement: Confinement,
  program: LongProgram,
): Promise<Result<LongProcess>> {
  if (isTooLong(program.argv)) return tooLong()
  const place = await asHostResult('find the working directory of the program', () =>
    workingDirectory(confinement),
  )
  if (!place.ok) return place
  const home = { home: userHome() ?? '/', temporary: tmpdir() }
  const order = orderOf(program)
  const dying = await dyingWithUs(program.argv, order.sockets)
  const directory = await holdDirectory(place.value)
  if (!directory.ok) return directory
  const started = await closing(directory.value, ({ path }) =>
    startLong({
      ...order,
      ...dying,
      folder: path,
      env: programEnv(env, home, program.env),
      errors: 'merged',
      wrappers: 0,
    }),
  )
  if (!started.ok) return started
  const watch = watchLong(undefined, confinement)
  return ok(handleOf(program, started.value, watch, async () => ({})))
}

/** Bubblewrap does this for what it starts. */
async function dyingWithUs(
  argv: LongProgram['argv'],
  sockets: number,
): Promise<Pick<LongOrder, 'argv' | 'atGate'>> {
  const setpriv = await systemProgram('setpriv')
  if (setpriv === undefined) return { argv }
  const script = `${passGate(gateAt(sockets))}; exec "$@"`
  const shell = ['/bin/sh', '-c', script, 'sh', ...argv]
  return { argv: [setpriv, '--pdeathsig', 'KILL', '--', ...shell], atGate: true }
}

function orderOf(program: LongProgram): Pick<LongOrder, 'onOutput'> & { readonly sockets: number } {
  return {
    sockets: program.descriptors.length,
    onOutput: (chunk) => program.onOutput(chunk),
  }
}

function handleOf(
  { descriptors }: LongProgram,
  running: RunningProgram,
  watch: LongWatch,
  met: () => Promise<Pick<LongEnding, 'limitsMet'>>,
): LongProcess {
  const ending = async (): Promise<LongEnding> => {
    const exit = await running.exit
    const [leftovers, reached] = await Promise.all([watch.take(), met()])
    return { ...exit, ...reached, leftovers }
  }
  const exited = ending()
  return {
    pid: running.pid,
    descriptor: (name) => {
      const socket = running.sockets[descriptors.indexOf(name)]
      if (socket === undefined) throw new Error(`no descriptor is called ${name}`)
      return socket
    },
    ending: exited,
    pause: async () => {
      const paused = await running.pause()
      if (paused.ok) await watch.pause()
      return paused
    },
    resume: async (first) => {
      await watch.resume()
      return running.resume(first)
    },
    inspect: () => watch.take(),
    stop: async (graceMs) => {
      await running.stop(graceMs)
      await exited
    },
  }
}
