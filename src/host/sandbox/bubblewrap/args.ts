import { passGate, passGateWithArguments } from '../../process/gate.ts'
import type { FilteredMachine } from './seccomp.ts'

/** One path that a sandbox shows or hides: absolute and without links. */
export interface Mount {
  readonly at: string
  readonly as:
    | 'readable'
    | 'writable'
    /** Empty, writable, and removed with the sandbox. */
    | 'private_folder'
    /** Empty and read-only. */
    | 'hidden_folder'
    | 'hidden_file'
    /** A symbolic link to `from`. */
    | 'link'
  /** The source, if it is not the same path. */
  readonly from?: string
}

/** Everything the arguments of bubblewrap depend on. */
export interface SandboxPlan {
  /** In any order: deeper paths are mounted later, and of two at one path the later one applies. */
  readonly mounts: readonly Mount[]
  /** The working directory, and the home that the program sees, which lies in a `private_folder`. */
  readonly folder: string
  readonly home: string
  readonly network: boolean
  /** The program starts its own sandboxes. */
  readonly nests: boolean
  /** Hawser runs as root. */
  readonly superuser: boolean
  readonly bubblewrap: Bubblewrap
}

/** What the installed bubblewrap can do on this machine, as the self-test found. */
export interface Bubblewrap {
  /** Path of the executable. */
  readonly program: string
  readonly disablesNamespaces: boolean
  /** Whether it can mount its own /proc. Inside a sandbox of root, only the outer /proc can be shown again. */
  readonly proc: 'own' | 'shown'
  /** The processor that the seccomp filter is built for. */
  readonly machine: FilteredMachine
}

/** What restricts a program besides the namespaces. */
export interface SandboxRestrictions {
  /** The descriptor from which bubblewrap reads the seccomp filter. */
  readonly filter?: number
  /** The descriptor of the gate at which the first process waits. */
  readonly gate?: number
  /** The program arrives at the gate; see `gateLine`. */
  readonly argumentsAtGate?: boolean
  /** The process limit. For users other than root it counts all processes of the user. */
  readonly processes?: number
  /** Memory per process, where the group has no limit. */
  readonly dataBytes?: number
}

/** Builds the argument vector that runs `argv` in a sandbox. Pure. */
export function sandboxArgs(
  plan: SandboxPlan,
  argv: readonly string[],
  hold: SandboxRestrictions = {},
): [string, ...string[]] {
  const { folder, bubblewrap } = plan
  const { filter } = hold
  return [
    bubblewrap.program,
    ...namespaces(plan),
    ...(filter === undefined ? [] : ['--seccomp', String(filter)]),
    ...mounting(plan),
    '--dir',
    plan.home,
    '--chdir',
    folder,
    // The first process of the namespace is our own shell. When it ends, the kernel kills all others before bubblewrap
    // exits.
    '--as-pid-1',
    '--',
    '/bin/sh',
    '-c',
    firstProcess(hold),
    'sh',
    ...argv,
  ]
}

/** The variable whose value becomes the `.gitconfig` of the home inside. */
export const GIT_SETTINGS = 'HAWSER_GIT_SETTINGS'

/**
 * Merges stderr into stdout, so that bubblewrap's own messages stay separate; sets limits that cannot be raised again; waits until
 * it is certain that the sandbox ends with its parents; and waits for the program, so that this shell, not the program, is the
 * process that signals from inside cannot reach. A limit that is already lower, or that this shell does not support (`-u` in bash
 * is `-p` in dash), is left as it is. The git settings arrive in a variable because they are a filtered copy and exist in no file.
 */
function firstProcess({
  processes = 4_096,
  dataBytes,
  gate,
  argumentsAtGate,
}: SandboxRestrictions): string {
  const data = dataBytes === undefined ? '' : `ulimit -d ${Math.ceil(dataBytes / 1024)}; `
  const pass = argumentsAtGate === true ? passGateWithArguments : passGate
  return [
    'exec 2>&1',
    `[ -z "$${GIT_SETTINGS}" ] || { printf %s "$${GIT_SETTINGS}" >"$HOME/.gitconfig"; } 2>/dev/null`,
    `unset ${GIT_SETTINGS}`,
    `{ ulimit -c 0; ulimit -f 2097152; ${data}ulimit -u ${processes} || ulimit -p ${processes}; } 2>/dev/null`,
    ...(gate === undefined ? [] : [pass(gate)]),
    '"$@"',
    'exit $?',
  ].join('\n')
}

/** Programs of root see themselves as this user: without capabilities, a uid of 0 only misleads them. */
const ORDINARY = '1000'

function namespaces({ network, nests, superuser, bubblewrap }: SandboxPlan): string[] {
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
    ...(bubblewrap.disablesNamespaces && !nests ? ['--disable-userns'] : []),
  ]
}

function mounting(plan: SandboxPlan): string[] {
  const ordered = shallowFirst(lastOfEach(plan.mounts))
  const own = ordered.filter(({ at }) => at === '/')
  const below = ordered.filter(({ at }) => at !== '/')
  // Folders that must stay empty become read-only last, because mount points for deeper mounts are created in them first.
  const closed = below.filter(({ as }) => as === 'hidden_folder')
  return [
    ...own.flatMap(mountArgs),
    '--dev',
    '/dev',
    ...procArgs(plan),
    ...below.flatMap(mountArgs),
    ...closed.flatMap(({ at }) => ['--remount-ro', at]),
    // The root starts empty, and folders on the way to a mount are created in it.
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
 * Root owns the kernel settings in /proc even without capabilities, and a program that can write `core_pattern` can run
 * code as root outside. So /proc is read-only. Nested sandboxes need to write there; for them, at least the machine-wide
 * settings are read-only.
 */
function procArgs({ nests, superuser, bubblewrap }: SandboxPlan): string[] {
  if (bubblewrap.proc === 'shown') return ['--ro-bind', '/proc', '/proc']
  if (!nests) return ['--proc', '/proc', '--remount-ro', '/proc']
  if (!superuser) return ['--proc', '/proc']
  const covered = MACHINE_WIDE.flatMap((path) => ['--ro-bind-try', path, path])
  // Limits on namespaces. Each user namespace has its own, which only a process with capabilities in it can change.
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
