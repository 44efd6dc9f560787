import type { FilteredMachine } from './seccomp.ts'

/** One thing a sandbox shows, or does not show, at an absolute path without links in it. */
export interface Mount {
  readonly at: string
  readonly as:
    | 'readable'
    | 'writable'
    /** Empty, writable, and gone with the sandbox. */
    | 'private_folder'
    /** Empty, and stays so. */
    | 'hidden_folder'
    | 'hidden_file'
    /** A symbolic link, whose target is `from`. */
    | 'link'
  /** What is shown there, where that is not the same path. */
  readonly from?: string
}

/** All that the arguments of bubblewrap depend on. */
export interface SandboxPlan {
  /** In any order: what lies deeper comes later, and of two at one path the later one counts. */
  readonly mounts: readonly Mount[]
  /** Where the program starts, and what it takes for its user's home: a folder of a `private_folder`. */
  readonly folder: string
  readonly home: string
  readonly network: boolean
  /** The program starts sandboxes of its own. */
  readonly nests: boolean
  /** Started by the superuser. */
  readonly superuser: boolean
  readonly means: SandboxMeans
}

/** What this bubblewrap, here, can do; found out by proof. */
export interface SandboxMeans {
  /** Its path. */
  readonly program: string
  readonly disablesNamespaces: boolean
  /** Whether it may mount a /proc of its own. In a sandbox of the superuser's, only the outer one can be shown again. */
  readonly proc: 'own' | 'shown'
  /** The processor that a seccomp filter is made for. */
  readonly machine: FilteredMachine
}

/** What holds a program beside the namespaces. */
export interface SandboxHold {
  /** The descriptor that a seccomp filter is read from. */
  readonly filter?: number
  /** How many processes there may be; to a user other than root, whoever else starts them. */
  readonly processes?: number
  /** How much memory each process may have, where its group has no limit. */
  readonly dataBytes?: number
}

/** The argument vector that runs `argv` in a sandbox. Pure. */
export function sandboxArgs(
  plan: SandboxPlan,
  argv: readonly string[],
  hold: SandboxHold = {},
): [string, ...string[]] {
  const { folder, means } = plan
  const { filter } = hold
  return [
    means.program,
    ...namespaces(plan),
    ...(filter === undefined ? [] : ['--seccomp', String(filter)]),
    ...mounting(plan),
    '--dir',
    plan.home,
    '--chdir',
    folder,
    // The first process of the namespace is our own shell. When it ends, the kernel ends all others before anyone is told.
    '--as-pid-1',
    '--',
    '/bin/sh',
    '-c',
    firstProcess(hold),
    'sh',
    ...argv,
  ]
}

/** The variable whose text becomes the `.gitconfig` of the home inside. */
export const GIT_SETTINGS = 'HAWSER_GIT_SETTINGS'

/**
 * Joins stderr to stdout, so that what bubblewrap itself says stays apart; sets limits that nothing raises again; and waits,
 * so that it, and not the program, is the one that signals from inside cannot reach. A limit that is lower already, or that
 * this shell does not know (`-u` in bash is `-p` in dash), is left as it is. The settings of git come as a variable, since
 * they are a selection of the person's and a file of no place.
 */
function firstProcess({ processes = 4_096, dataBytes }: SandboxHold): string {
  const data = dataBytes === undefined ? '' : `ulimit -d ${Math.ceil(dataBytes / 1024)}; `
  return [
    'exec 2>&1',
    `[ -z "$${GIT_SETTINGS}" ] || { printf %s "$${GIT_SETTINGS}" >"$HOME/.gitconfig"; } 2>/dev/null`,
    `unset ${GIT_SETTINGS}`,
    `{ ulimit -c 0; ulimit -f 2097152; ${data}ulimit -u ${processes} || ulimit -p ${processes}; } 2>/dev/null`,
    '"$@"',
    'exit $?',
  ].join('\n')
}

/** The superuser's programs see themselves as this user: without powers, a uid of 0 only misleads them. */
const ORDINARY = '1000'

function namespaces({ network, nests, superuser, means }: SandboxPlan): string[] {
  return [
    '--unshare-user',
    '--unshare-pid',
    '--unshare-ipc',
    '--unshare-uts',
    '--unshare-cgroup-try',
    ...(network ? [] : ['--unshare-net']),
    '--cap-drop',
    'ALL',
    '--die-with-parent',
    '--new-session',
    ...(superuser ? ['--uid', ORDINARY, '--gid', ORDINARY] : []),
    ...(means.disablesNamespaces && !nests ? ['--disable-userns'] : []),
  ]
}

function mounting(plan: SandboxPlan): string[] {
  const ordered = shallowFirst(lastOfEach(plan.mounts))
  const own = ordered.filter(({ at }) => at === '/')
  const below = ordered.filter(({ at }) => at !== '/')
  // What has to be empty for good is closed last: until then, places for deeper mounts are made in it.
  const closed = below.filter(({ as }) => as === 'hidden_folder')
  return [
    ...own.flatMap(mountArgs),
    '--dev',
    '/dev',
    ...procArgs(plan),
    ...below.flatMap(mountArgs),
    ...closed.flatMap(({ at }) => ['--remount-ro', at]),
    // The root begins empty, and folders on the way to a mount are made in it.
    ...(own.length === 0 ? ['--remount-ro', '/'] : []),
  ]
}

function lastOfEach(mounts: readonly Mount[]): Mount[] {
  return [...new Map(mounts.map((mount) => [mount.at, mount])).values()]
}

function shallowFirst(mounts: readonly Mount[]): Mount[] {
  return mounts.toSorted((a, b) => depth(a.at) - depth(b.at))
}

function depth(path: string): number {
  return path.split('/').filter((name) => name !== '').length
}

function mountArgs({ as, at, from = at }: Mount): string[] {
  switch (as) {
    case 'readable':
      return ['--ro-bind', from, at]
    case 'writable':
      return ['--bind', from, at]
    case 'private_folder':
    case 'hidden_folder':
      return ['--tmpfs', at]
    case 'hidden_file':
      return ['--ro-bind', '/dev/null', at]
    case 'link':
      return ['--symlink', from, at]
  }
}

/**
 * To the superuser's programs the kernel's settings in /proc are files of their own, capabilities or not: whoever can
 * write `core_pattern` runs as root outside. So /proc is read-only; where sandboxes are nested, which takes writing there,
 * at least what belongs to the whole machine is.
 */
function procArgs({ nests, superuser, means }: SandboxPlan): string[] {
  if (means.proc === 'shown') return ['--ro-bind', '/proc', '/proc']
  if (!nests) return ['--proc', '/proc', '--remount-ro', '/proc']
  if (!superuser) return ['--proc', '/proc']
  const covered = MACHINE_WIDE.flatMap((path) => ['--ro-bind-try', path, path])
  // Limits on namespaces, each user namespace its own: only who has powers in one can change its.
  return ['--proc', '/proc', ...covered, '--bind', '/proc/sys/user', '/proc/sys/user']
}

const MACHINE_WIDE = [
  '/proc/sys',
  '/proc/sysrq-trigger',
  '/proc/acpi',
  '/proc/bus',
  '/proc/driver',
  '/proc/fs',
  '/proc/irq',
  '/proc/mtrr',
  '/proc/scsi',
]
