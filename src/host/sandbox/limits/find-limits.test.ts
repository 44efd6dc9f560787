import { execFile } from 'node:child_process'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { freshFolder } from '../../../../test/support/host/folder.ts'
import { ownerMark } from '../../process/owner-mark.ts'
import { placeIn } from './group-place.ts'
import { findLimits } from './find-limits.ts'
import type { LimitGroup } from './limits.ts'

/** As on a machine with systemd, in a desktop terminal. */
const SLICE = '/user.slice/user-1000.slice/user@1000.service/app.slice'
const OWN = `${SLICE}/vte-spawn-7c1a.scope`
const MOUNTED =
  '35 24 0:30 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:9 - cgroup2 cgroup2 rw,nsdelegate,memory_recursiveprot\n'
const V1_MOUNTS = [
  '31 23 0:26 / /sys/fs/cgroup/memory rw,relatime shared:11 - cgroup cgroup rw,memory',
  '32 23 0:27 / /sys/fs/cgroup/pids rw,relatime shared:12 - cgroup cgroup rw,pids',
  '33 23 0:28 / /sys/fs/cgroup/unified rw,relatime shared:13 - cgroup2 cgroup2 rw',
].join('\n')

const LIMITS = { processes: 64, memoryBytes: 200 * 1024 * 1024 }

/** Writes the files of such a machine below a new folder. */
async function recorded(files: Readonly<Record<string, string>>): Promise<string> {
  const root = await freshFolder()
  for (const [name, text] of Object.entries(files)) {
    await mkdir(join(root, dirname(name)), { recursive: true })
    await writeFile(join(root, name), text)
  }
  return root
}

function desktop(controllers = 'cpu memory pids\n'): Promise<string> {
  const at = 'sys/fs/cgroup'
  return recorded({
    'proc/self/cgroup': `0::${OWN}\n`,
    'proc/self/mountinfo': MOUNTED,
    [`${at}/cgroup.subtree_control`]: 'cpuset cpu io memory hugetlb pids rdma misc\n',
    [`${at}/cgroup.procs`]: '',
    [`${at}${SLICE}/cgroup.subtree_control`]: controllers,
    [`${at}${SLICE}/cgroup.procs`]: '',
    [`${at}${OWN}/cgroup.subtree_control`]: '\n',
    [`${at}${OWN}/cgroup.procs`]: '1234\n',
  })
}

/** Runs a program through the entry of a group. */
async function run(group: LimitGroup, argv: readonly string[]): Promise<string> {
  const [file = '', ...args] = [...group.entry, ...argv]
  return (await promisify(execFile)(file, args)).stdout
}

async function groupsIn(folder: string): Promise<readonly string[]> {
  return (await readdir(folder)).filter((name) => name.startsWith('hawser-'))
}

test('in a delegated v2 tree, a command gets its own limited group beside ours', async () => {
  const root = await desktop()
  const slice = join(root, 'sys/fs/cgroup', SLICE)
  const method = await findLimits(root)
  expect(method.by).toBe('cgroup v2')
  const trials = await groupsIn(slice)
  const group = await method.open(LIMITS)
  const [name = '', ...more] = (await groupsIn(slice)).filter((one) => !trials.includes(one))
  expect(more).toEqual([])
  const folder = join(slice, name)
  const texts = await Promise.all(
    ['pids.max', 'memory.max', 'memory.swap.max'].map((file) =>
      readFile(join(folder, file), 'utf8'),
    ),
  )
  expect(texts).toEqual(['64', '209715200', '0'])
  expect(await run(group, ['/bin/echo', 'a -- b'])).toBe('a -- b\n')
  expect(await readFile(join(folder, 'cgroup.procs'), 'utf8')).toBe('0\n')
  expect(await group.reachedLimits()).toEqual([])
  await writeFile(join(folder, 'memory.events'), 'low 0\nhigh 0\nmax 31\noom 2\noom_kill 1\n')
  expect(await group.reachedLimits()).toEqual(['memory'])
  await writeFile(join(folder, 'pids.events'), 'max 7\n')
  expect(await group.reachedLimits()).toEqual(['memory', 'processes'])
  // The kernel removes these files together with their folder.
  for (const file of await readdir(folder)) await rm(join(folder, file))
  await group.remove()
  expect(await groupsIn(slice)).toEqual(trials)
})

test('a program that cannot enter its group does not start', async () => {
  const root = await desktop()
  const group = await (await findLimits(root)).open(LIMITS)
  const entrance = group.entry.find((word) => word.endsWith('cgroup.procs')) ?? ''
  await rm(dirname(entrance), { recursive: true })
  await expect(run(group, ['/bin/echo', 'started'])).rejects.toMatchObject({
    stdout: '',
    stderr: expect.stringContaining('cgroup.procs'),
  })
})

test.each([
  ['without the controllers', 'cpu\n'],
  ['with one of them', 'cpu pids\n'],
])('a v2 tree %s is not used', async (_, controllers) => {
  const root = await desktop(controllers)
  await writeFile(join(root, 'sys/fs/cgroup/cgroup.subtree_control'), controllers)
  expect((await findLimits(root)).by).toBe('rlimits')
})

test('without control groups, limits apply per process', async () => {
  const method = await findLimits(await freshFolder())
  const group = await method.open(LIMITS)
  expect({ by: method.by, entry: group.entry, dataBytes: group.dataBytes }).toEqual({
    by: 'rlimits',
    entry: [],
    dataBytes: LIMITS.memoryBytes,
  })
})

test('in v1 trees, a command gets a group in each', async () => {
  const root = await recorded({
    'proc/self/cgroup': '8:pids:/\n4:memory:/a/b\n0::/\n',
    'proc/self/mountinfo': V1_MOUNTS,
    'sys/fs/cgroup/pids/cgroup.procs': '',
    'sys/fs/cgroup/memory/a/b/cgroup.procs': '',
  })
  const method = await findLimits(root)
  expect(method.by).toBe('cgroup v1')
  const group = await method.open(LIMITS)
  const entrances = group.entry.filter((word) => word.endsWith('cgroup.procs'))
  const [pids = '', memory = ''] = entrances.map((path) => dirname(path))
  expect(dirname(pids)).toBe(join(root, 'sys/fs/cgroup/pids'))
  expect(dirname(memory)).toBe(join(root, 'sys/fs/cgroup/memory/a/b'))
  expect(await readFile(join(pids, 'pids.max'), 'utf8')).toBe('64')
  const limit = await readFile(join(memory, 'memory.limit_in_bytes'), 'utf8')
  expect(limit).toBe('209715200')
  await writeFile(join(memory, 'memory.oom_control'), 'oom_kill_disable 0\nunder_oom 0\noom_kill 1')
  expect(await group.reachedLimits()).toEqual(['memory'])
})

test('only empty groups of ended processes are removed', async () => {
  const root = await desktop()
  const slice = join(root, 'sys/fs/cgroup', SLICE)
  const [namespace = '', , since = ''] = ownerMark().split('-')
  const gone = await endedProcess()
  const kept = [
    `hawser-${ownerMark()}-9999`,
    `hawser-1-${gone}-${since}-0`,
    'hawser-notes',
    `hawser-${namespace}-${gone}-${since}-1`,
  ]
  for (const name of [...kept, `hawser-${namespace}-${gone}-${since}-0`])
    await mkdir(join(slice, name))
  // A group with processes cannot be removed, just as a folder with files cannot.
  await writeFile(join(slice, `hawser-${namespace}-${gone}-${since}-1`, 'cgroup.procs'), '1\n')
  const method = await findLimits(root)
  expect(method.by).toBe('cgroup v2')
  expect(await groupsIn(slice)).toEqual(expect.arrayContaining(kept))
  expect(await groupsIn(slice)).not.toContain(`hawser-${namespace}-${gone}-${since}-0`)
})

async function endedProcess(): Promise<string> {
  const { stdout } = await promisify(execFile)('/bin/sh', ['-c', 'echo $$'])
  return Number(stdout).toString(36)
}

test.each([
  ['0::/a/b', '1 2 0:3 / /c rw - cgroup2 x rw', { mountPoint: '/c', own: '/c/a/b' }],
  ['0::/', '1 2 0:3 / /c rw - cgroup2 x rw', { mountPoint: '/c', own: '/c' }],
  ['0::/d/x/b', '1 2 0:3 /d/x /c rw - cgroup2 x rw', { mountPoint: '/c', own: '/c/b' }],
  ['0::/d/x', '1 2 0:3 /d/x /c\\040d rw - cgroup2 x rw', { mountPoint: '/c d', own: '/c d' }],
  ['0::/d/xy', '1 2 0:3 /d/x /c rw - cgroup2 x rw', undefined],
  ['0::/../up', '1 2 0:3 / /c rw - cgroup2 x rw', undefined],
  ['4:memory:/a', '1 2 0:3 / /c rw - cgroup2 x rw', undefined],
  ['0::/a', '', undefined],
])('finds our own group from %j and %j', (groups, mounts, expected) => {
  expect(placeIn(`${groups}\n`, `${mounts}\n`, 'unified')).toEqual(expected)
})

test('the current process has an owner mark and counts as running', async () => {
  const { ownerIsGone } = await import('../../process/owner-mark.ts')
  expect(ownerIsGone(ownerMark())).toBe(false)
  const [namespace = '', pid = '', since = ''] = ownerMark().split('-')
  expect(Number.parseInt(pid, 36)).toBe(process.pid)
  expect(ownerIsGone(`${namespace}-${pid}-${since}0`)).toBe(process.platform === 'linux')
  expect(ownerIsGone('../etc')).toBe(false)
})
