import { chmod, mkdir, readdir, readFile, rename, symlink, writeFile } from 'node:fs/promises'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { expect, onTestFinished, test } from 'vitest'
import { freshFolder } from '../../../test/support/host/folder.ts'
import { failed, ok } from '../../model/errors.ts'
import { systemClock } from '../clock.ts'
import { systemProgram } from '../process/system-program.ts'
import type { RecordedPlace } from './confinement.ts'
import { wait } from '../wait.ts'
import { findLimits } from './limits/find-limits.ts'
import { groupPlace } from './limits/group-place.ts'
import { systemSandbox, type Confinement, type LongProgram, type Sandbox } from './sandbox.ts'

const system = systemSandbox()
const { isConfined } = await system.status()
const BWRAP = (await systemProgram('bwrap')) ?? '/nowhere'
const { by } = await findLimits()

interface Place extends Confinement {
  readonly ownHome: string
}

async function guestPlace(): Promise<Place> {
  const [workspace, home] = [await freshFolder(), await freshFolder()]
  const ownHome = join(home, 'instances/a/home')
  await mkdir(ownHome, { recursive: true, mode: 0o700 })
  await mkdir(join(home, 'instances/b/home'), { recursive: true })
  await writeFile(join(home, 'token'), 'canary')
  const records = join(workspace, '.hawser/instances/a')
  await mkdir(records, { recursive: true, mode: 0o700 })
  return {
    workspace,
    home,
    ownHome,
    records,
    writable: 'workspace',
    protectedPaths: ['AGENTS.md'],
    guest: true,
  }
}

/** A guest that runs each line it reads from `frames` as a script, and answers with a line when that has ended. */
const OBEYS = 'while IFS= read -r line <&4; do eval "$line"; echo "done" >&4; done'

async function start(place: Confinement, script = OBEYS, more: Partial<LongProgram> = {}) {
  let output = ''
  const started = await (more.withoutSandbox ? systemSandbox() : system).start(place, {
    argv: ['/bin/bash', '-c', script],
    descriptors: ['frames', 'relay'],
    env: { LC_ALL: 'C' },
    onOutput: (chunk) => void (output += chunk.toString()),
    ...more,
  })
  if (!started.ok) throw new Error(started.error.message)
  const guest = started.value
  onTestFinished(() => guest.stop(0))
  const frames = guest.descriptor('frames')
  const run = async (line: string) => {
    const answer = once(frames, 'data')
    frames.write(`${line}\n`)
    await answer
  }
  /** Ends the guest and returns everything it printed. */
  const finish = async () => {
    frames.end()
    const ending = await guest.ending
    return { ending, output }
  }
  return { guest, run, finish }
}

async function failureOf(sandbox: Sandbox, place: Confinement): Promise<string> {
  const order = { argv: ['/bin/true'], descriptors: [], onOutput: () => {} } as const
  const started = await sandbox.start(place, order)
  if (!started.ok) return started.error.kind
  await started.value.stop(0)
  return 'it started'
}

test.runIf(isConfined)(
  'a guest sees its workspace and its own home, and nothing else of $HAWSER_HOME',
  async () => {
    const place = await guestPlace()
    const { finish, run } = await start(place)
    await run('echo log >.hawser/log')
    await run(`echo head >${place.ownHome}/head; cat ${place.home}/token 2>&1 | grep -c canary`)
    await run(`find ${place.home} -mindepth 1; touch ${place.home}/instances/new`)
    await run('ls -l /proc/self/fd | sed 1d')
    const { ending, output } = await finish()
    expect(ending).toEqual({
      code: 0,
      signal: null,
      wasStopped: false,
      complaint: '',
      leftovers: ok({ appearedPaths: [], runsLater: [], unprotectedPaths: [] }),
    })
    expect(await readFile(join(place.workspace, '.hawser/instances/a/log'), 'utf8')).toBe('log\n')
    expect(await readFile(join(place.ownHome, 'head'), 'utf8')).toBe('head\n')
    expect(await readdir(join(place.home, 'instances'))).toEqual(['a', 'b'])
    const lines = output.trim().split('\n')
    expect(lines.filter((line) => /^\d+$/.test(line))).toEqual(['0'])
    const shown = lines.filter((line) => line.startsWith(place.home))
    expect(shown).toEqual([
      join(place.home, 'instances'),
      join(place.home, 'instances/a'),
      place.ownHome,
      join(place.ownHome, 'head'),
    ])
    const open = [...output.matchAll(/ (\d+) -> (.*)$/gm)].filter(
      ([, , what]) => what !== '/dev/null' && !what?.startsWith('/proc/'),
    )
    expect(open.map(([, fd]) => Number(fd))).toEqual([1, 2, 4, 5])
  },
)

test.runIf(isConfined)('the own home is at its path even if a link leads to it', async () => {
  const place = await guestPlace()
  const link = join(await freshFolder(), 'link')
  await symlink(place.home, link)
  const ownHome = join(link, 'instances/a/home')
  const { run, finish } = await start({ ...place, home: link, ownHome })
  await run(`echo head >${ownHome}/head; ls ${link}/`)
  expect((await finish()).output).toBe('instances\n')
  expect(await readFile(join(place.ownHome, 'head'), 'utf8')).toBe('head\n')
})

test.runIf(isConfined)('the workspace of a guest may be in $HAWSER_HOME too', async () => {
  const place = await guestPlace()
  const workspace = join(place.home, 'instances/a/workspace')
  const records = join(workspace, '.hawser/instances/a')
  await mkdir(records, { recursive: true, mode: 0o700 })
  const { run, finish } = await start({ ...place, workspace, records })
  await run(`touch made; ls ${place.home} ${place.home}/instances/a; ls ${place.home}/instances`)
  const { output, ending } = await finish()
  expect(output.split('\n').filter((line) => /^\w+$/.test(line))).toEqual([
    'instances',
    'home',
    'workspace',
    'a',
  ])
  expect(await readdir(workspace)).toEqual(['.hawser', 'made'])
  expect(ending.leftovers).toEqual(ok({ appearedPaths: [], runsLater: [], unprotectedPaths: [] }))
})

test.runIf(isConfined)('the own home must be a folder below $HAWSER_HOME', async () => {
  const place = await guestPlace()
  const elsewhere = await freshFolder()
  await symlink(elsewhere, join(place.home, 'link'))
  const kinds = await Promise.all(
    [place.home, elsewhere, join(place.home, 'link'), join(place.home, 'none')].map((ownHome) =>
      failureOf(system, { ...place, ownHome }),
    ),
  )
  expect(kinds).toEqual([
    'outside_workspace',
    'outside_workspace',
    'outside_workspace',
    'not_found',
  ])
})

test.runIf(isConfined)(
  'what appears at a protected path is moved away at an inspection',
  async () => {
    const place = await guestPlace()
    const kept: string[] = []
    const recorded: (readonly RecordedPlace[])[] = []
    const { guest, run, finish } = await start({
      ...place,
      keep: async (path) => {
        kept.push(path)
        return ok(undefined)
      },
      watching: async (places) => {
        recorded.push(places)
        return ok(undefined)
      },
    })
    const nothing = { appearedPaths: [], runsLater: [], unprotectedPaths: [] }
    await run('echo evil >AGENTS.md; echo {} >package.json')
    expect(await guest.inspect()).toEqual(
      ok({ ...nothing, appearedPaths: ['AGENTS.md'], runsLater: ['package.json'] }),
    )
    expect(await guest.inspect()).toEqual(ok(nothing))
    await run('git init -q . && git config core.fsmonitor ./evil')
    await run('echo evil >AGENTS.md')
    await guest.pause()
    // A person does this while nothing of the guest runs.
    expect(await readdir(place.workspace)).not.toContain('AGENTS.md')
    await writeFile(join(place.workspace, 'AGENTS.md'), 'Be good.\n')
    await guest.resume()
    await run(':')
    expect(await guest.inspect()).toMatchObject({
      value: { appearedPaths: expect.arrayContaining(['AGENTS.md', '.git/config']) },
    })
    expect(await readFile(join(place.workspace, 'AGENTS.md'), 'utf8')).toBe('Be good.\n')
    await run('mkdir -p .git/hooks && echo evil >.git/hooks/pre-commit')
    const { ending } = await finish()
    expect(ending.leftovers).toMatchObject({ value: { appearedPaths: ['.git/hooks/pre-commit'] } })
    expect(kept.toSorted()).toEqual([
      '.git/config',
      '.git/hooks/pre-commit',
      'AGENTS.md',
      'AGENTS.md',
    ])
    // At the start, and whenever a check took a new snapshot.
    expect(recorded.length).toBeGreaterThan(4)
    expect(recorded[0]).toMatchObject([{ path: '.hawser', kind: 'folder' }])
  },
)

test.runIf(isConfined)(
  'a protected file that a program outside replaces is reported, and the new one is judged',
  async () => {
    const place = await guestPlace()
    const at = (name: string) => join(place.workspace, name)
    const config = '[core]\n\trepositoryformatversion = 0\n'
    for (const folder of ['.git/objects', '.git/refs']) await mkdir(at(folder), { recursive: true })
    await writeFile(at('.git/HEAD'), 'ref: refs/heads/main\n')
    await writeFile(at('.git/config'), config)
    await writeFile(at('AGENTS.md'), 'Be good.\n')
    const { guest, run, finish } = await start(place)
    await run('echo evil >AGENTS.md; echo evil >.git/config')
    expect(await guest.inspect()).toEqual(
      ok({ appearedPaths: [], runsLater: [], unprotectedPaths: [] }),
    )
    // As editors and git save a file.
    for (const [name, text] of [
      ['AGENTS.md', 'Be better.\n'],
      ['.git/config', `${config}\tbare = false\n`],
    ] as const) {
      await writeFile(at('new'), text)
      await rename(at('new'), at(name))
    }
    expect(await guest.inspect()).toEqual(
      ok({ appearedPaths: [], runsLater: [], unprotectedPaths: ['AGENTS.md', '.git/config'] }),
    )
    await run('printf "\\tfsmonitor = ./evil\\n" >>.git/config')
    expect(await guest.inspect()).toMatchObject({ value: { appearedPaths: ['.git/config'] } })
    expect(await readFile(at('.git/config'), 'utf8')).not.toContain('evil')
    expect(await readFile(at('AGENTS.md'), 'utf8')).toBe('Be better.\n')
    expect((await finish()).output).toContain('Read-only file system')
  },
)

test.runIf(isConfined)('a guest whose state cannot be recorded does not start', async () => {
  const watching = async () => failed('storage_failed', 'no')
  expect(await failureOf(system, { ...(await guestPlace()), watching })).toBe('storage_failed')
})

test.runIf(isConfined && by === 'cgroup v1')(
  'a guest has a control group until it ends, and reports the limits that it reached',
  async () => {
    const sandbox = systemSandbox({ limits: { processes: 32, memoryBytes: 512 * 1024 * 1024 } })
    const script = 'for i in $(seq 64); do sleep 1000 & done; echo full >&4; wait'
    const before = await groups()
    const started = await sandbox.start(await guestPlace(), {
      argv: ['/bin/sh', '-c', script],
      descriptors: ['frames'],
      onOutput: () => {},
    })
    if (!started.ok) throw new Error(started.error.message)
    expect((await groups()).length).toBe(before.length + 1)
    const full = Promise.race([
      once(started.value.descriptor('frames'), 'data'),
      started.value.ending,
    ])
    await full
    await started.value.pause()
    await started.value.stop()
    expect(await started.value.ending).toMatchObject({ limitsMet: { processes: 32 } })
    expect(await groups()).toEqual(before)
  },
)

/** The control groups of this process. */
async function groups(): Promise<readonly string[]> {
  const place = await groupPlace('/', 'pids')
  const names = await readdir(place?.own ?? '/nowhere')
  return names.filter((name) => name.includes(`-${process.pid.toString(36)}-`))
}

/** A script that replaces bubblewrap. */
async function sandboxWithScript(script: string): Promise<Sandbox> {
  const program = join(await freshFolder(), 'bwrap')
  await writeFile(program, `#!/bin/sh\n${script}\n`)
  await chmod(program, 0o755)
  return systemSandbox({ program })
}

test('without bubblewrap no guest starts, unless the operator chose that', async () => {
  const sandbox = systemSandbox({ program: '/nowhere/bwrap' })
  const place = await guestPlace()
  expect(await failureOf(sandbox, place)).toBe('sandbox_unavailable')
  const { run, finish, guest } = await start(place, OBEYS, { withoutSandbox: true })
  await run(`cat ${place.home}/token; pwd`)
  expect(await guest.pause()).toEqual(ok(undefined))
  expect(await guest.resume()).toMatchObject({ ok: true })
  const { ending, output } = await finish()
  expect(output).toBe(`canary${place.workspace}\n`)
  expect(ending).toMatchObject({ code: 0, complaint: '' })
})

test.runIf(isConfined)('where sandboxes do not nest, a guest does not start', async () => {
  // The script is in a folder that a sandbox does not show.
  const sandbox = await sandboxWithScript(`exec ${BWRAP} "$@"`)
  expect(await sandbox.status()).toMatchObject({ isConfined: true, nests: false })
  const place = await guestPlace()
  expect(await failureOf(sandbox, place)).toBe('sandbox_unavailable')
  expect(await failureOf(sandbox, { ...place, guest: false })).toBe('it started')
})

test.runIf(isConfined)('a sandbox that cannot be set up is reported at the end', async () => {
  const flag = join(await freshFolder(), 'broken')
  const sandbox = await sandboxWithScript(
    `[ -e ${flag} ] && { echo "bwrap: no room" >&2; exit 1; }; exec ${BWRAP} "$@"`,
  )
  await sandbox.status()
  await writeFile(flag, '')
  const place = { ...(await guestPlace()), guest: false }
  const order = { argv: ['/bin/true'], descriptors: [], onOutput: () => {} } as const
  const started = await sandbox.start(place, order)
  if (!started.ok) throw new Error(started.error.message)
  expect(await started.value.ending).toMatchObject({ code: 1, complaint: 'bwrap: no room\n' })
})

test.runIf(isConfined)(
  'a program does not start if bubblewrap was killed before it was certain that both end together',
  async () => {
    const folder = await freshFolder()
    const [flag, pid] = [join(folder, 'flag'), join(folder, 'pid')]
    // What it started runs on, as the child of bubblewrap does that has not asked for a signal yet. It comes to the gate only
    // after the death: a program that passed before is ended by the signal.
    const sandbox = await sandboxWithScript(`[ -e ${flag} ] || exec ${BWRAP} "$@"
      setsid sh -c 'echo $$ >${pid}
        while grep -q "^State:.[RSD]" /proc/$PPID/status; do :; done
        exec ${BWRAP} "$@"' sh "$@" &
      until [ -s ${pid} ]; do sleep 0.01; done
      kill -KILL $$`)
    await sandbox.status()
    await writeFile(flag, '')
    const place = { ...(await guestPlace()), guest: false }
    const started = await sandbox.start(place, {
      argv: ['/bin/sh', '-c', 'touch ran; exec sleep 1000'],
      descriptors: ['frames'],
      onOutput: () => {},
    })
    if (!started.ok) throw new Error(started.error.message)
    expect(await started.value.ending).toMatchObject({ signal: 'SIGKILL', wasStopped: false })
    const left = Number(await readFile(pid, 'utf8'))
    const ran = join(place.workspace, 'ran')
    while (existsSync(`/proc/${left}`) && !existsSync(ran)) await wait(systemClock, 5)
    if (existsSync(ran)) process.kill(left, 'SIGKILL')
    expect(existsSync(ran)).toBe(false)
  },
)

test.runIf(isConfined)('a guest is asked to end before it is killed', async () => {
  const { guest, run } = await start(
    await guestPlace(),
    `trap 'echo ended >.hawser-ended; exit 3' TERM; ${OBEYS}`,
  )
  await run(':')
  await guest.stop()
  expect(await guest.ending).toMatchObject({ code: 3, wasStopped: true })
})
