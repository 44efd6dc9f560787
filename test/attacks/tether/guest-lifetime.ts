import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { listKin } from '../../../src/host/process/kin.ts'
import { systemSandbox } from '../../../src/host/sandbox/sandbox.ts'
import { firstOf, type Attack } from '../sandbox/attack.ts'
import { guestIn, GUEST_SANDBOX, startGuest, toolCommand } from './guest-scene.ts'
import { running, type Scene } from '../sandbox/sandbox-scene.ts'

/** How a guest that has been taken over tries to run when it must not. */
export const LIFETIME_ATTACKS: readonly Attack[] = [
  {
    row: 22,
    name: 'be a fork bomb: a pause tells the truth, and a stop leaves nothing',
    run: async (scene) => {
      const mark = 'bomb-of-the-guest'
      const limits = { processes: 200, memoryBytes: 512 * 1024 * 1024 }
      const { path } = await scene.workspace()
      const { process: guest, says } = await startGuest(
        { hawserHome: scene.hawserHome, workspace: path },
        ['/usr/bin/perl', '-e', `$| = 1; $0 = "${mark}"; print "up\\n"; while (1) { fork }`],
        systemSandbox({ limits }),
      )
      await says('up')
      // On a busy machine it takes a while to explode.
      while (listKin(guest.pid).length < 60) await pass(20)
      const most: number[] = []
      for (let round = 0; round < 5; round++) {
        const paused = await guest.pause()
        const before = ticksOf(guest.pid)
        most.push(before.length)
        await pass(200)
        if (paused.ok && String(ticksOf(guest.pid)) !== String(before)) return 'it ran while paused'
        await guest.resume()
      }
      const bindsRoot = !(await rootIsUnlimited())
      await guest.stop(0)
      return firstOf({
        [`it had ${Math.max(...most)} processes`]: bindsRoot && Math.max(...most) > 220,
        'it was no bomb': Math.max(...most) < 50,
        'something runs on': running(mark) > 0,
      })
    },
  },
  ...surviving(),
  {
    row: 0,
    name: 'be paused with its nested tools, without a tick of the CPU, and go on in the middle of a command',
    run: async (scene) => {
      const tool =
        'while :; do :; done & i=0; while :; do i=$((i+1)); echo count $i; sleep 0.05; done'
      const guest = await guestIn(scene, toolCommand(tool))
      await guest.says('count 3\n')
      const paused = await guest.process.pause()
      if (!paused.ok) return paused.error.message
      const before = ticksOf(guest.process.pid)
      const soFar = guest.output()
      await pass(2_000)
      const after = ticksOf(guest.process.pid)
      const saidMore = guest.output() !== soFar
      const resumed = await guest.process.resume()
      const counted = Number(/count (\d+)\n$/.exec(soFar)?.[1])
      await guest.says(`count ${counted + 2}\n`)
      await guest.process.stop(0)
      return firstOf({
        [`only ${before.length} processes`]: before.length < 7,
        [`it ran: ${String(before)} then ${String(after)}`]: String(after) !== String(before),
        'it printed while paused': saidMore,
        'it began again': !guest.output().includes(`count ${counted + 1}\ncount ${counted + 2}\n`),
        'the time is wrong': !resumed.ok || resumed.value < 2_000,
      })
    },
  },
]

/** Ways to run on after the end of the guest; `MARKED` is an endless program that can be found by its arguments. */
function surviving(): Attack[] {
  const script = [
    'setsid -f MARKED >/dev/null 2>&1 </dev/null',
    '( trap "" HUP TERM INT; nohup setsid -f sh -c "exec MARKED" >/dev/null 2>&1 </dev/null & )',
    'unshare -Upf setsid MARKED &',
    `${toolCommand('setsid -f MARKED; echo tool is up; MARKED')} &`,
    'trap "" TERM; MARKED & wait; wait; wait',
  ].join('\n')
  const guestWith = async (scene: Scene, mark: string) => {
    const guest = await guestIn(scene, script.replaceAll('MARKED', `sleep ${mark}`))
    await guest.says('tool is up')
    while (running(`sleep ${mark}`) < 6) await pass(5)
    return guest
  }
  return [
    ...(['running', 'paused'] as const).map((state, at): Attack => ({
      row: 22,
      name: `run on after a stop while ${state}, in the background, in sessions, namespaces and tools`,
      run: async (scene) => {
        const mark = `3153610${at}.${process.pid}`
        const { process: guest } = await guestWith(scene, mark)
        if (state === 'paused') await guest.pause()
        await guest.stop(100)
        const left = running(mark)
        return left === 0 ? undefined : `${left} run on`
      },
    })),
    ...(['running', 'paused'] as const).map((state) => outliving(state, state, script, 6)),
    // Only the program itself dies then, not what it started.
    outliving('paused, without a sandbox', 'unconfined', 'echo tool is up; exec MARKED', 1),
    outlivingItsStart(),
  ]
}

/**
 * A guest whose sandbox is still being set up when its server is killed: its wrappers ask for a signal at the death of their
 * parents, but that of the server has passed; see `startSlowly` in guest-child.ts.
 */
function outlivingItsStart(): Attack {
  return {
    row: 22,
    name: 'run on after the server was killed while the sandbox was being set up',
    run: async (scene) => {
      const folder = join(scene.root, 'starting')
      const at = (name: string) => join(folder, name)
      const holder = spawn(process.execPath, [process.argv[1] ?? '', folder, 'start'])
      holder.stderr.pipe(process.stderr)
      const over = new Promise<void>((resolve) => void holder.once('close', resolve))
      const begun = new Promise<true>((resolve) => {
        holder.stdout.once('data', () => resolve(true))
      })
      if (!(await Promise.race([begun, over]))) return 'it did not start'
      while (!existsSync(at('pid'))) await pass(5)
      holder.kill('SIGKILL')
      await over
      await writeFile(at('go'), '')
      const wrapper = Number(readFileSync(at('pid'), 'utf8'))
      while (existsSync(`/proc/${wrapper}`) && !existsSync(at('ws/ran'))) await pass(5)
      if (!existsSync(at('ws/ran'))) return undefined
      process.kill(wrapper, 'SIGKILL')
      return 'it ran'
    },
  }
}

/** A guest in `state` when its server is killed; see guest-child.ts. */
function outliving(when: string, state: string, script: string, count: number): Attack {
  return {
    row: 22,
    name: `run on after the server was killed while the guest was ${when}`,
    run: async (scene) => {
      const mark = `31536200.${process.pid}${state.length}`
      const args = [state, String(count), mark, script.replaceAll('MARKED', `sleep ${mark}`)]
      const folder = join(scene.root, `held-${state}`)
      const holder = spawn(process.execPath, [process.argv[1] ?? '', folder, 'hold', ...args])
      holder.stderr.pipe(process.stderr)
      await new Promise<void>((resolve, reject) => {
        holder.stdout.once('data', () => resolve())
        holder.once('close', () => reject(new Error('it did not start')))
      })
      const before = running(`sleep ${mark}`)
      holder.kill('SIGKILL')
      // Nothing reports their end: a sandbox that lets them live is detected by the time limit of the whole test.
      while (running(`sleep ${mark}`) > 0) await pass(5)
      return before < count ? `only ${before} had started` : undefined
    },
  }
}

/** Ticks of the CPU that each process of a guest has used. */
function ticksOf(leader: number): readonly string[] {
  return listKin(leader).map(({ pid }) => {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return `${pid}:${Number(fields[11]) + Number(fields[12])}`
  })
}

async function rootIsUnlimited(): Promise<boolean> {
  const status = await GUEST_SANDBOX.status()
  return status.isConfined && status.limits?.bindsProcesses === false
}

function pass(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms))
}
