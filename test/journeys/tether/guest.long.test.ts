import { readFileSync } from 'node:fs'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { systemClock } from '../../../src/host/clock.ts'
import { systemSandbox } from '../../../src/host/sandbox/sandbox.ts'
import { wait } from '../../../src/host/wait.ts'
import { freshFolder } from '../../support/host/folder.ts'
import { guestProgram, removeGuestProgram } from '../../support/cli/guest-bundle.ts'
import { playGuest } from '../../support/tether/guest-play.ts'
import { instanceFolders, startGuest } from '../../support/tether/guest-program.ts'
import { kinPids } from '../../support/host/kin-traces.ts'
import { startProgram } from '../../support/cli/program.ts'
import { registerDamage } from '../../support/log/registered-damage.ts'
import { value } from '../../support/log/story.ts'
import { onlyRecords } from '../../support/session/records.ts'

afterAll(removeGuestProgram)

const status = await systemSandbox().status()
const canNest = status.isConfined && status.nests === true

test('hawser guest cannot be started by hand', async () => {
  const root = await freshFolder()
  await instanceFolders(root)
  const { ended, stderr } = await startProgram({ root }, ['guest'])
  expect((await ended).code).toBe(2)
  expect(stderr()).toBe(
    'hawser: hawser guest cannot be started by hand: the server (hawser up) starts it for each instance.\n',
  )
})

test.runIf(canNest)(
  'a guest in its sandbox runs a command in a second one, and its answer arrives',
  async () => {
    const { send, ended, workspace, host, output } = await playGuest()
    value(send('m1', 'Run `echo calm > sea.txt; ls -A .hawser "$HAWSER_HOME" >> sea.txt 2>&1`'))
    const end = await ended('m1')
    expect(end.payload, output()).toMatchObject({ status: 'completed' })
    const [first, ...seen] = (await readFile(join(workspace, 'sea.txt'), 'utf8')).split('\n')
    expect([first, seen.filter((line) => line.includes('sessions'))]).toEqual(['calm', []])
    expect((await host.stop()).reason).toBeUndefined()
  },
)

test.runIf(canNest)(
  'a guest that is killed is followed by another, which continues its Session',
  async () => {
    const first = await playGuest()
    value(first.send('m1', 'What happened?'))
    await first.ended('m1')
    process.kill(first.host.pid, 'SIGKILL')
    expect((await first.host.ended).reason?.kind).toBe('wake_failed')
    const { send, ended, workspace } = await playGuest({ root: first.root })
    value(send('m2', 'What happened?'))
    expect((await ended('m2')).payload).toMatchObject({ status: 'completed' })
    const logs = await readdir(join(await onlyRecords(workspace), 'sessions'))
    expect(logs.filter((name) => name.endsWith('.ndjson'))).toHaveLength(1)
  },
)

async function logOf(workspace: string): Promise<string> {
  const folder = join(await onlyRecords(workspace), 'sessions')
  const name = (await readdir(folder)).find((one) => one.endsWith('.ndjson'))
  return join(folder, name ?? '')
}

test.runIf(canNest)(
  'a Log that was changed while no guest ran is noticed before the next one starts',
  async () => {
    const { send, ended, root, workspace, host } = await playGuest()
    value(send('m1', 'What happened?'))
    await ended('m1')
    await host.stop()
    await registerDamage(root, 'log', 'The Log of an agent is changed.')
    const log = await logOf(workspace)
    await writeFile(log, (await readFile(log, 'utf8')).replace('What happened?', 'Delete it all.'))
    const started = await startGuest({ root, program: await guestProgram() })
    expect(started).toMatchObject({ ok: false, error: { kind: 'log_damaged' } })
    if (!started.ok) expect(started.error.message).toContain('was tampered with')
  },
)

test.runIf(canNest)(
  'a Log that is changed while its guest runs stops the guest, before its answer is used',
  async () => {
    const { send, ended, root, workspace, host, frames } = await playGuest()
    value(send('m1', 'What happened?'))
    await ended('m1')
    await registerDamage(root, 'log', 'The Log of an agent is changed.')
    const log = await logOf(workspace)
    const lines = (await readFile(log, 'utf8')).split('\n')
    await writeFile(log, lines.slice(0, 3).join('\n'))
    value(send('m2', 'What happened?'))
    expect((await host.ended).reason?.kind).toBe('log_damaged')
    expect(frames.filter((one) => one.in_reply_to === 'm2').map(({ type }) => type)).not.toContain(
      'assistant.done',
    )
  },
)

/** Ends only on request, so that it cannot end before the pause, however slow the machine is. */
const TICKS =
  'until [ -e enough ]; do echo tick >> ticks.txt; sleep 0.1; done; echo done >> ticks.txt'

test.runIf(canNest)(
  'a paused guest does nothing, and continues in the middle of its command; the pause does not count as its time',
  async () => {
    const root = await freshFolder()
    const { ownHome } = await instanceFolders(root)
    await writeFile(join(ownHome, 'config.json'), '{"limits":{"command_seconds":8}}', {
      mode: 0o600,
    })
    const { send, ended, workspace, host } = await playGuest({ root })
    const ticks = async () =>
      (await readFile(join(workspace, 'ticks.txt'), 'utf8').catch(() => ''))
        .split('\n')
        .slice(0, -1)
    value(send('m1', `Run \`${TICKS}\``))
    while ((await ticks()).length < 2) await wait(systemClock, 20)
    value(await host.pause())
    const before = [await ticks(), cpuOf(host.pid)]
    // Longer than the time limit of the command.
    await wait(systemClock, 9_000)
    expect([await ticks(), cpuOf(host.pid)]).toEqual(before)
    expect(value(await host.resume())).toBeGreaterThanOrEqual(9_000)
    const paused = (await ticks()).length
    while ((await ticks()).length <= paused) await wait(systemClock, 20)
    await writeFile(join(workspace, 'enough'), '')
    expect((await ended('m1')).payload).toMatchObject({ status: 'completed' })
    expect((await ticks()).filter((line) => line !== 'tick')).toEqual(['done'])
  },
)

/** The CPU time of each process of a guest, those of its nested sandboxes included, by pid. */
function cpuOf(guest: number): Record<number, string> {
  const times = kinPids(guest).map((pid) => {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return [
      pid,
      stat
        .slice(stat.lastIndexOf(')') + 2)
        .split(' ')
        .slice(11, 13)
        .join(' '),
    ] as const
  })
  // Bubblewrap, the first process of its namespace, the guest: more are of the command.
  if (times.length <= 3) throw new Error(`only ${times.length} processes`)
  return Object.fromEntries(times)
}
