import { createHash } from 'node:crypto'
import { closeSync, lstatSync, openSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { listKin, parseStat } from '../../../src/host/process/kin.ts'

/** Where the records of a guest are on the host. It sees them as `.hawser` in its workspace. */
export function guestFolder(workspace: string): string {
  return join(workspace, '.hawser', 'instances', 'inst_1')
}

/** What a guest writes with right, relative to the root of the scene, and why. */
const GUEST_WRITES: Readonly<Record<string, string>> = {
  'workspace/scratch': 'the agent works in its workspace, and the attacks write nowhere else in it',
  'hawser/instances/inst_1/home': 'its own home',
  'hawser/instances/inst_1/heads': 'the server stores there how far it has checked its Logs',
}

const PERSON_SESSION = 'ses_01kg8m2q3r4s5t6v7w8x9y0z12'

/** The files of a person around an Instance, relative to the root of the scene. */
const FILES: Readonly<Record<string, string>> = {
  'workspace/AGENTS.md': 'Be good.\n',
  'workspace/.git/config': '[core]\n\trepositoryformatversion = 0\n\tbare = false\n',
  'workspace/.git/hooks/post-commit.sample': '',
  [`workspace/.hawser/sessions/${PERSON_SESSION}.ndjson`]: 'a Log of the person in its workspace',
  [`workspace/.hawser/instances/inst_2/sessions/${PERSON_SESSION}.ndjson`]: 'of another Instance',
  'workspace/.hawser/config.json': '{}',
  'hawser/config.json': '{}',
  'hawser/token': 'token',
  [`hawser/heads/${PERSON_SESSION}`]: 'a head of the person',
  'hawser/instances/inst_2/home/own': 'of another Instance',
  [`hawser/instances/inst_2/heads/${PERSON_SESSION}`]: 'a head of another Instance',
  'hawser/instances/inst_2/frames.ndjson': '{"seq":1}\n',
  'person/.bashrc': 'untouched\n',
  'person/.ssh/id_ed25519': 'a key',
  [`other/.hawser/sessions/${PERSON_SESSION}.ndjson`]: 'a Log of the person',
  'other/file': 'a file of the person',
}

/** Makes the scene, and returns the paths that a guest must not change. */
export async function setTakenScene(root: string): Promise<readonly string[]> {
  for (const [name, content] of Object.entries(FILES)) {
    await mkdir(dirname(join(root, name)), { recursive: true, mode: 0o700 })
    await writeFile(join(root, name), content, { mode: 0o600 })
  }
  await mkdir(join(root, 'workspace/scratch'))
  await writeFile(join(root, 'workspace/.git/HEAD'), 'ref: refs/heads/main\n')
  await mkdir(join(guestFolder(join(root, 'workspace')), 'sessions'), {
    recursive: true,
    mode: 0o700,
  })
  // At the paths of `.hawser` a guest finds its own records.
  const others = Object.keys(FILES).filter((name) => !name.startsWith('workspace/.hawser/'))
  return others.map((name) => join(root, name))
}

/** The facts of everything below the root but what the guest writes with right. */
export function snapshot(root: string): ReadonlyMap<string, string> {
  const own = new Set([
    guestFolder(join(root, 'workspace')),
    ...Object.keys(GUEST_WRITES).map((name) => join(root, name)),
  ])
  const found = new Map<string, string>()
  const visit = (path: string): void => {
    if (own.has(path)) return
    const { mode, uid, nlink, ino, size } = lstatSync(path)
    const isFolder = (mode & 0o170_000) === 0o040_000
    // The size of a folder and its links depend on what is below it.
    const facts = isFolder ? [mode, uid, ino] : [mode, uid, ino, nlink, size, contentOf(path, mode)]
    found.set(path, facts.join(' '))
    if (isFolder) for (const name of readdirSync(path)) visit(join(path, name))
  }
  visit(root)
  return found
}

function contentOf(path: string, mode: number): string {
  const kind = mode & 0o170_000
  if (kind === 0o120_000) return readlinkSync(path)
  return kind === 0o100_000 ? createHash('sha256').update(readFileSync(path)).digest('hex') : ''
}

/** What differs between two snapshots. */
export function changes(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): string[] {
  return [...new Set([...before.keys(), ...after.keys()])]
    .filter((path) => before.get(path) !== after.get(path))
    .map((path) => `${path}: ${before.get(path) ?? 'absent'} -> ${after.get(path) ?? 'absent'}`)
}

/** A running guest, as what can remain of it. */
export interface GuestTraces {
  readonly processes: ReadonlyMap<number, string>
  /** Its namespaces, except those of this process. Held open: their numbers would be given to the next sandbox. */
  readonly namespaces: ReadonlySet<string>
  readonly release: () => void
}

const NAMESPACES = ['pid', 'mnt', 'net', 'user', 'ipc']

export function tracesOf(leader: number): GuestTraces {
  const kin = listKin(leader)
  const ours = new Set(namespacesOf('self').map(({ name }) => name))
  const theirs = kin.flatMap(({ pid }) => namespacesOf(String(pid)))
  const held = new Map<string, number>()
  for (const { name, path } of theirs.filter((one) => !ours.has(one.name))) {
    if (!held.has(name)) ifReadable(() => held.set(name, openSync(path, 'r')))
  }
  return {
    processes: new Map(kin.map(({ pid, since }) => [pid, since])),
    namespaces: new Set(held.keys()),
    release: () => {
      for (const descriptor of held.values()) closeSync(descriptor)
    },
  }
}

function namespacesOf(pid: string): { readonly name: string; readonly path: string }[] {
  return NAMESPACES.flatMap((kind) => {
    const path = `/proc/${pid}/ns/${kind}`
    const name = ifReadable(() => readlinkSync(path))
    return name === undefined ? [] : [{ name, path }]
  })
}

/** A process may be gone, or of another user. */
function ifReadable<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

/** What the machine holds for guests of this scene apart from processes: mounts, sockets, locks and temporary files. */
export function holdings(root: string): ReadonlySet<string> {
  const about = (path: string) =>
    readFileSync(path, 'utf8')
      .split('\n')
      .filter((line) => line.includes(root))
      // The reference count of a socket changes.
      .map((line) => line.slice(Math.max(0, line.indexOf(root))))
  const inodes = new Set(
    readdirSync(root, { recursive: true, encoding: 'utf8' }).map((name) =>
      inodeOf(join(root, name)),
    ),
  )
  const locks = readFileSync('/proc/locks', 'utf8')
    .split('\n')
    .flatMap((line) => /:(\d+) \d+ \S+$/.exec(line)?.[1] ?? [])
    .filter((inode) => inodes.has(inode))
  return new Set([
    ...about('/proc/self/mountinfo').map((one) => `mount ${one}`),
    ...about('/proc/net/unix').map((one) => `socket ${one}`),
    ...locks.map((inode) => `lock ${inode}`),
    ...readdirSync(tmpdir()).map((name) => `temporary file ${name}`),
  ])
}

function inodeOf(path: string): string {
  return ifReadable(() => String(lstatSync(path).ino)) ?? ''
}

/** What is left of a guest that has ended. */
export function remains(
  traces: GuestTraces,
  before: ReadonlySet<string>,
  after: ReadonlySet<string>,
): string[] {
  const left: string[] = []
  for (const name of readdirSync('/proc').filter((one) => /^\d+$/.test(one))) {
    const listed = parseStat(statOf(name))
    // A zombie has no resources left, and its parent may not have reaped it yet.
    if (listed === undefined || Number(name) === process.pid) continue
    const isSame = traces.processes.get(listed.pid) === listed.since
    const isInside = namespacesOf(name).some((one) => traces.namespaces.has(one.name))
    if (isSame || isInside) left.push(`process ${name} ${listed.state} ${commandOf(name)}`)
  }
  return [...left, ...[...after].filter((one) => !before.has(one))]
}

function statOf(pid: string): string {
  return ifReadable(() => readFileSync(`/proc/${pid}/stat`, 'latin1')) ?? ''
}

function commandOf(pid: string): string {
  const words = ifReadable(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8')) ?? ''
  return words.replaceAll('\0', ' ').slice(0, 80)
}
