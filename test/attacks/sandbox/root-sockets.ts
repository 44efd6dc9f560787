import { execFile, spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { access, constants, mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { RootAttack, RootScene } from './root-attack.ts'

/** Sockets of every kind, at every kind of location, bound in every way: none outside the workspace is reachable. */
export const SOCKET_ATTACKS: readonly RootAttack[] = [
  ...(['workspace', 'nothing'] as const).map((writable): RootAttack => ({
    name: `connect to any socket outside, ${writable} writable`,
    run: async (scene) => {
      const reached = await reachedFrom(scene, writable)
      return reached.length === 0 ? undefined : `it reached ${reached.join(' ')}`
    },
  })),
  {
    name: 'control: with a read-only root every socket is reached',
    run: async (scene) => {
      const sockets = await listening(scene)
      const args = ['--ro-bind', '/', '/', '--dev-bind', '/dev', '/dev', ...client(sockets)]
      const { stdout } = await promisify(execFile)('bwrap', args)
      const reached = new Set(stdout.split('\n'))
      const missed = sockets.filter((socket) => !reached.has(describeSocket(socket)))
      if (sockets.length < 100) return `there are only ${sockets.length} sockets`
      return missed.length === 0
        ? undefined
        : `it did not reach ${missed.map(describeSocket).join(' ')}`
    },
  },
  {
    name: 'use sockets of its own, and those of the workspace',
    run: async (scene) => {
      const sockets = [
        {
          kind: 1,
          bind: 'own.sock',
          folder: scene.workspace,
          path: join(scene.workspace, 'own.sock'),
        },
      ]
      await serve(scene, sockets)
      const { output } = await scene.run(scene.workspace, client(sockets))
      const inside = await scene.sh(
        scene.workspace,
        `perl -MSocket -e 'socket(A,1,1,0); bind(A,sockaddr_un("/tmp/a"))||die; listen(A,5); socket(B,1,1,0); connect(B,sockaddr_un("/tmp/a"))||die; print "INSIDE"'`,
      )
      return output.includes('own.sock') && inside.output.includes('INSIDE')
        ? undefined
        : `${output}${inside.output}`
    },
  },
]

interface Socket {
  /** 1 stream, 2 datagram, 5 seqpacket. */
  readonly kind: number
  readonly folder: string
  /** The name it is bound to, relative to the folder or absolute; abstract with `@`. */
  readonly bind: string
  /** Its name after a rename. */
  readonly after?: 'renamed' | 'linked' | undefined
  /** The path to connect to. */
  readonly path: string
}

const KINDS = { stream: 1, dgram: 2, seqpacket: 5 }

/** Names of well-known programs. */
const SHAPES = [
  'ssh-XXXXabcd/agent.1',
  'docker.sock',
  'X11-unix/X0',
  'user/1000/bus',
  'S.gpg-agent',
  'containerd/containerd.sock',
]

let served: Promise<readonly Socket[]> | undefined

function listening(scene: RootScene): Promise<readonly Socket[]> {
  served ??= made(scene)
  return served
}

async function made(scene: RootScene): Promise<readonly Socket[]> {
  const places = [
    scene.person,
    join(scene.person, '.gnupg'),
    join(scene.person, 'bin'),
    join(scene.person, '.cargo/registry'),
    join(scene.person, '.rustup'),
    join(scene.person, '.local/bin'),
    join(scene.root, 'beside'),
    join(scene.root, 'cargo'),
    join(scene.root, 'allowed/deep'),
    ...['/run', '/srv', '/var/tmp', '/tmp', '/dev/shm', '/opt', '/etc'].map((folder) =>
      join(folder, `h${process.pid}`),
    ),
  ]
  scene.onClear(() => {
    for (const folder of places) rmSync(folder, { recursive: true, force: true })
  })
  const usable: string[] = []
  for (const folder of places) {
    const isMade = await mkdir(folder, { recursive: true }).then(
      () => access(folder, constants.W_OK).then(() => true),
      () => false,
    )
    if (isMade) usable.push(folder)
  }
  const sockets = usable.flatMap((folder, at) =>
    Object.entries(KINDS).flatMap(([kind, number]): Socket[] => {
      const base = { kind: number, folder }
      const name = (how: string) => `${kind}-${how}`
      return [
        { ...base, bind: join(folder, name('abs')), path: join(folder, name('abs')) },
        { ...base, bind: name('rel'), path: join(folder, name('rel')) },
        {
          ...base,
          bind: join(folder, name('ren')),
          after: 'renamed',
          path: join(folder, `${name('ren')}.after`),
        },
        {
          ...base,
          bind: name('relren'),
          after: 'renamed',
          path: join(folder, `${name('relren')}.after`),
        },
        {
          ...base,
          bind: join(folder, name('link')),
          after: 'linked',
          path: join(folder, `${name('link')}.after`),
        },
        {
          ...base,
          bind: `@hawser-${process.pid}-${at}-${kind}`,
          path: `@hawser-${process.pid}-${at}-${kind}`,
        },
      ]
    }),
  )
  const shaped = usable.map((folder, at): Socket => {
    const path = join(folder, SHAPES[at % SHAPES.length] ?? '')
    return { kind: 1, folder: join(path, '..'), bind: path, path }
  })
  for (const { folder } of shaped) await mkdir(folder, { recursive: true })
  const all = [...sockets, ...shaped]
  await serve(scene, all)
  return all
}

async function reachedFrom(
  scene: RootScene,
  writable: 'workspace' | 'nothing',
): Promise<readonly string[]> {
  const sockets = await listening(scene)
  const links = join(scene.workspace, `links-${writable}`)
  await mkdir(links)
  const linked = await Promise.all(
    sockets
      .filter(({ path }) => !path.startsWith('@'))
      .map(async (socket, at): Promise<Socket> => {
        const path = join(links, String(at))
        await symlink(socket.path, path)
        return { ...socket, path }
      }),
  )
  const more = { writable, readable: [join(scene.root, 'allowed')] }
  const { output } = await scene.run(scene.workspace, client([...sockets, ...linked]), more)
  return output
    .split('\n')
    .filter((line) => line !== 'DONE' && line !== '')
    .concat(output.includes('DONE') ? [] : ['it did not end'])
}

function describeSocket({ kind, path }: Socket): string {
  return `${kind} ${path}`
}

function client(sockets: readonly Socket[]): string[] {
  const program = `use Socket; for (@ARGV) { my ($k, $p) = split / /, $_, 2; (my $n = $p) =~ s/^@/\\0/;
    socket(my $s, AF_UNIX, $k, 0) or next; print "$_\\n" if connect($s, $n =~ /^\\0/ ? pack("S a*", AF_UNIX, $n) : sockaddr_un($n)); } print "DONE\\n";`
  return ['/usr/bin/perl', '-e', program, ...sockets.map(describeSocket)]
}

/** Listens until this process ends. */
async function serve(scene: RootScene, sockets: readonly Socket[]): Promise<void> {
  const program = `use Socket; my @open; $| = 1; while (@ARGV) { my ($k, $f, $b, $t) = splice @ARGV, 0, 4; chdir $f or die "$f: $!";
    socket(my $s, AF_UNIX, $k, 0) or die; (my $n = $b) =~ s/^@/\\0/;
    bind($s, $n =~ /^\\0/ ? pack("S a*", AF_UNIX, $n) : sockaddr_un($n)) or die "$b: $!";
    listen($s, 100) if $k != 2; chmod 0777, $b;
    rename($b, "$b.after") or die if $t eq "renamed"; if ($t eq "linked") { link($b, "$b.after") or die; unlink $b; }
    push @open, $s; } print "READY\\n"; <STDIN>;`
  const args = sockets.flatMap(({ kind, folder, bind, after = '' }) => [
    String(kind),
    folder,
    bind,
    after,
  ])
  const server = spawn('/usr/bin/perl', ['-e', program, ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  scene.onClear(() => server.kill('SIGKILL'))
  await new Promise<void>((resolve, reject) => {
    server.stdout.once('data', () => resolve())
    server.once('close', () => reject(new Error('nothing listens')))
  })
}
