import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** A mounted hierarchy of control groups and the position of this process in it. Absolute paths. */
export interface GroupPlace {
  readonly mountPoint: string
  /** The folder of our own group: `mountPoint` or below it. */
  readonly own: string
}

/** The position of this process in the unified hierarchy, or in that of a v1 controller. */
export async function groupPlace(
  root: string,
  controller: 'unified' | 'pids' | 'memory',
): Promise<GroupPlace | undefined> {
  const [groups, mounts] = await Promise.all(
    ['cgroup', 'mountinfo'].map((name) =>
      readFile(join(root, 'proc/self', name), 'utf8').catch(() => ''),
    ),
  )
  return placeIn(groups ?? '', mounts ?? '', controller)
}

/** Pure. Takes the contents of /proc/self/cgroup and /proc/self/mountinfo. */
export function placeIn(
  groups: string,
  mounts: string,
  controller: 'unified' | 'pids' | 'memory',
): GroupPlace | undefined {
  const path = pathIn(groups, controller)
  const mount = mounts
    .split('\n')
    .map(parseMount)
    .findLast((one) => isOf(one, controller))
  if (path === undefined || mount === undefined) return undefined
  const below = mount.root === '/' ? path : path.slice(mount.root.length)
  const outside = !`${path}/`.startsWith(mount.root === '/' ? '/' : `${mount.root}/`)
  if (outside || path.split('/').includes('..')) return undefined
  return { mountPoint: mount.at, own: join(mount.at, below).replace(/\/$/, '') }
}

function pathIn(groups: string, controller: string): string | undefined {
  for (const line of groups.split('\n')) {
    const [, id, names = '', path] = /^(\d+):([^:]*):(\/.*)$/.exec(line) ?? []
    const ours = controller === 'unified' ? id === '0' : names.split(',').includes(controller)
    if (ours) return path
  }
  return undefined
}

interface MountedHierarchy {
  readonly root: string
  readonly at: string
  readonly type: string
  readonly options: readonly string[]
}

function parseMount(line: string): MountedHierarchy | undefined {
  const [before = '', after = ''] = line.split(' - ')
  const [, , , root, at] = before.split(' ')
  const [type, , options = ''] = after.split(' ')
  if (root === undefined || at === undefined || type === undefined) return undefined
  return { root: unescapePath(root), at: unescapePath(at), type, options: options.split(',') }
}

/** The kernel writes spaces and other special characters as three octal digits. */
function unescapePath(path: string): string {
  return path.replace(/\\([0-7]{3})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  )
}

function isOf(mount: MountedHierarchy | undefined, controller: string): mount is MountedHierarchy {
  if (controller === 'unified') return mount?.type === 'cgroup2'
  return mount?.type === 'cgroup' && mount.options.includes(controller)
}
