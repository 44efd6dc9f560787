import { expect, test } from 'vitest'
import { sandboxArgs, type Mount, type SandboxPlan } from './args.ts'

const PLAN: SandboxPlan = {
  mounts: [],
  folder: '/ws/sub',
  home: '/tmp/.home',
  network: false,
  nests: false,
  superuser: false,
  bubblewrap: { program: '/usr/bin/bwrap', disablesNamespaces: true, proc: 'own', machine: 'x64' },
}

/** The flags before the program, one per line. */
function flags(plan: Partial<SandboxPlan>): string[] {
  const args = sandboxArgs({ ...PLAN, ...plan }, ['true'])
  const own = args.slice(1, args.indexOf('--as-pid-1'))
  return own
    .join(' ')
    .split(/ (?=--)/)
    .filter(Boolean)
}

test('every sandbox has its own namespaces and session, no capabilities, and dies with its parent', () => {
  expect(flags({})).toEqual([
    '--unshare-user',
    '--unshare-pid',
    '--unshare-ipc',
    '--unshare-uts',
    '--unshare-cgroup-try',
    '--unshare-net',
    '--cap-drop ALL',
    '--die-with-parent',
    '--new-session',
    '--disable-userns',
    '--dev /dev',
    '--proc /proc',
    '--remount-ro /proc',
    '--remount-ro /',
    '--dir /tmp/.home',
    '--chdir /ws/sub',
  ])
})

test('the program follows all flags, even if it looks like one', () => {
  const args = sandboxArgs(PLAN, ['--bind', '/', '/'])
  expect(args.slice(args.indexOf('--'), args.indexOf('--') + 3)).toEqual(['--', '/bin/sh', '-c'])
  expect(args.slice(-4)).toEqual(['sh', '--bind', '/', '/'])
})

test('the network is shared only on request', () => {
  expect(flags({ network: true })).not.toContain('--unshare-net')
})

test('root runs as an ordinary user inside', () => {
  expect(flags({ superuser: true })).toEqual(
    expect.arrayContaining(['--uid 1000', '--gid 1000', '--remount-ro /proc']),
  )
})

test('a guest may create namespaces, and machine-wide settings are read-only for guests of root', () => {
  const ordinary = flags({ nests: true })
  expect(ordinary).not.toContain('--disable-userns')
  expect(ordinary.filter((flag) => flag.includes('/proc'))).toEqual(['--proc /proc'])
  const superusers = flags({ nests: true, superuser: true })
  expect(superusers).toContain('--ro-bind-try /proc/sys /proc/sys')
  expect(superusers.indexOf('--bind /proc/sys/user /proc/sys/user')).toBeGreaterThan(
    superusers.indexOf('--ro-bind-try /proc/sys /proc/sys'),
  )
})

test('if /proc cannot be mounted, the existing one is shown read-only', () => {
  const shown = flags({ bubblewrap: { ...PLAN.bubblewrap, proc: 'shown' } })
  expect(shown.filter((flag) => flag.includes('/proc'))).toEqual(['--ro-bind /proc /proc'])
})

test('an old bubblewrap gets no flags it does not support', () => {
  const old = flags({ bubblewrap: { ...PLAN.bubblewrap, disablesNamespaces: false } })
  expect(old).not.toContain('--disable-userns')
})

test('deeper paths are mounted later, and hidden folders become read-only last', () => {
  const mounts: Mount[] = [
    { at: '/home/me/.hawser/instances/a/ws/.git/config', as: 'readable' },
    { at: '/home/me/.hawser/instances/a/ws', as: 'writable' },
    { at: '/home/me/.hawser/instances/a/ws/.git', as: 'writable' },
    { at: '/home/me/.netrc', as: 'hidden_file' },
    { at: '/home/me/.hawser', as: 'hidden_folder' },
    { at: '/tmp', as: 'private_folder' },
    { at: '/run/bin', as: 'readable', from: '/store/bin' },
    { at: '/run', as: 'hidden_folder' },
    { at: '/bin', as: 'link', from: 'usr/bin' },
  ]
  const all = flags({ mounts })
  expect(all.slice(all.indexOf('--remount-ro /proc') + 1, -2)).toEqual([
    '--tmpfs /tmp',
    '--tmpfs /run',
    '--symlink usr/bin /bin',
    '--ro-bind /store/bin /run/bin',
    '--ro-bind /dev/null /home/me/.netrc',
    '--tmpfs /home/me/.hawser',
    '--bind /home/me/.hawser/instances/a/ws /home/me/.hawser/instances/a/ws',
    '--bind /home/me/.hawser/instances/a/ws/.git /home/me/.hawser/instances/a/ws/.git',
    '--ro-bind /home/me/.hawser/instances/a/ws/.git/config /home/me/.hawser/instances/a/ws/.git/config',
    '--remount-ro /run',
    '--remount-ro /home/me/.hawser',
    '--remount-ro /',
  ])
})

test('of two mounts at one path only the later one applies', () => {
  const mounts: Mount[] = [
    { at: '/run', as: 'hidden_folder' },
    { at: '/run', as: 'writable' },
  ]
  expect(flags({ mounts }).filter((flag) => flag.includes('/run'))).toEqual(['--bind /run /run'])
})

test('a workspace at / is mounted before the paths hidden in it', () => {
  const mounts: Mount[] = [
    { at: '/tmp', as: 'private_folder' },
    { at: '/', as: 'writable' },
  ]
  const all = flags({ mounts })
  expect(all.slice(all.indexOf('--bind / /'))).toEqual([
    '--bind / /',
    '--dev /dev',
    '--proc /proc',
    '--remount-ro /proc',
    '--tmpfs /tmp',
    '--dir /tmp/.home',
    '--chdir /ws/sub',
  ])
})
