import { readFileSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { connect, createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { firstOf, type Attack } from '../sandbox/attack.ts'
import { guestIn, OWN_SECRET, toolCommand } from './guest-scene.ts'
import { CANARY, type Scene } from '../sandbox/sandbox-scene.ts'

/** What a guest that has been taken over tries to reach, read or write. */
export const GUEST_ATTACKS: readonly Attack[] = [
  {
    row: 19,
    name: 'connect to the socket of the server, by its path and through links',
    run: async (scene) => {
      const socket = join(scene.hawserHome, 'hawserd.sock')
      const links = `ln -s ${socket} link; ln -s ${scene.hawserHome} folder`
      const paths = [{ path: 'link' }, { path: 'folder/hawserd.sock' }]
      return connected(scene, [{ path: socket }], paths, links)
    },
  },
  {
    row: 19,
    name: 'connect to any other socket outside, abstract ones included',
    run: (scene) =>
      connected(
        scene,
        [{ path: join(scene.outside, 'agent.sock') }, { path: scene.abstractName }],
        [{ path: '/run/dbus/system_bus_socket' }, { path: '/var/run/docker.sock' }],
      ),
  },
  {
    row: 31,
    name: 'connect to the network: IPv4, IPv6, an address elsewhere, the metadata service, a name',
    run: async (scene) => {
      const six = createServer((socket) => socket.destroy())
      const address = await new Promise<AddressInfo | undefined>((resolve) => {
        six.once('error', () => resolve(undefined))
        six.listen({ host: '::1', port: 0 }, () => {
          const at = six.address()
          resolve(typeof at === 'object' && at !== null ? at : undefined)
        })
      })
      const ours = [
        { host: '127.0.0.1', port: scene.port },
        // Some machines have no IPv6.
        ...(address === undefined ? [] : [{ host: '::1', port: address.port }]),
      ]
      const others = ['192.0.2.1', '169.254.169.254', '2001:db8::1', 'localhost', 'example.org']
      try {
        const targets = others.map((host) => ({ host, port: scene.port }))
        return await connected(scene, ours, targets)
      } finally {
        six.close()
      }
    },
  },
  {
    row: 20,
    name: 'remount, unmount or bind in a namespace of its own, to write or read what is closed',
    run: async (scene) => {
      const { ended, place } = await guestIn(
        scene,
        `unshare -Urm sh -c '
           mount -o remount,rw,bind /; mount -o remount,rw /; mount -o remount,rw,bind /usr
           umount -l ${scene.hawserHome}; umount -l AGENTS.md; umount -l .git/config
           mount -o remount,rw,bind AGENTS.md; mount -o remount,rw,bind .git/config
           mkdir bound all over u w; mount --bind . bound && echo evil >bound/AGENTS.md
           mount --rbind / all; touch all${scene.outside}/new; cat all${scene.hawserHome}/config.json
           mount -t overlay -o lowerdir=/,upperdir=$PWD/u,workdir=$PWD/w none over; cat over${scene.hawserHome}/config.json
           echo evil >AGENTS.md; echo evil >.git/config; echo evil >all$PWD/AGENTS.md; touch ${scene.outside}/new
           cat ${scene.hawserHome}/config.json; echo tried everything'
         umount -l AGENTS.md; mount -o remount,rw,bind AGENTS.md; echo evil >AGENTS.md; echo evil >.git/config`,
      )
      const output = await ended()
      const read = (name: string) => readFileSync(join(place.workspace, name), 'utf8')
      return firstOf({
        'it wrote outside': await exists(join(scene.outside, 'new')),
        'it read $HAWSER_HOME': output.includes(CANARY),
        [`it did not try: ${output}`]: !output.includes('tried everything'),
        'it changed AGENTS.md': read('AGENTS.md').includes('evil'),
        'it changed the configuration of git': read('.git/config').includes('evil'),
      })
    },
  },
  {
    row: 20,
    name: 'have a capability outside, or gain one',
    run: async (scene) => {
      const { ended } = await guestIn(
        scene,
        "grep -E '^(Cap|NoNewPrivs|Seccomp:)' /proc/self/status",
      )
      const output = await ended()
      return firstOf({
        [`it has powers: ${output}`]: /^Cap\w+:\s*0*[1-9a-f]/m.test(output),
        'it may gain powers': !/^NoNewPrivs:\s*1$/m.test(output),
        'its calls are not filtered': !/^Seccomp:\s*2$/m.test(output),
      })
    },
  },
  {
    row: 21,
    name: 'trace, signal, read or see the server or any other process outside',
    run: async (scene) => {
      const { pid, ppid } = process
      // ptrace (attach, seize), process_vm_readv, pidfd_open.
      const { ended } = await guestIn(
        scene,
        `for pid in ${pid} ${ppid} 1; do
           perl -e 'my $p = shift; for my $how (16, 0x4206) { print "TRACED $p\\n" if $p != 1 && syscall(101, $how, $p, 0, 0) == 0 }
             print "HELD $p\\n" if $p != 1 && syscall(434, $p, 0) >= 0; print "SIGNALLED $p\\n" if $p != 1 && kill 0, $p' $pid
         done
         cat /proc/${pid}/cmdline /proc/${pid}/mem && echo READ
         ls -d /proc/[0-9]* | wc -l; tr '\\0' ' ' </proc/1/cmdline
         ls /proc/1/root/${scene.hawserHome} /proc/1/cwd/${scene.hawserHome}`,
      )
      const output = await ended()
      const [count] = /^\d+$/m.exec(output) ?? []
      return firstOf({
        [output]: /^(TRACED|HELD|SIGNALLED) \d|^READ$|^config\.json$/m.test(output),
        [`it sees ${count} processes`]: count === undefined || Number(count) > 6,
        'the first process is not ours': !output.includes('/bin/sh -c'),
      })
    },
  },
  {
    row: 21,
    name: 'find a key in its environment, in /proc, in files, or with another guest',
    run: async (scene) => {
      const other = await guestIn(scene, 'sleep 1000')
      const { ended } = await guestIn(
        scene,
        `env; cat /proc/*/environ /proc/*/cmdline /proc/*/task/*/environ | tr '\\0' '\\n'
         cat ${other.place.ownHome}/own ${other.place.workspace}/.hawser/own ${other.place.records}/own; ls ${scene.hawserHome}/instances
         grep -rs '${pattern(CANARY)}' ${scene.root} --exclude-dir=.hawser
         grep -rs '${pattern(OWN_SECRET)}' ${scene.hawserHome} | wc -l`,
      )
      const output = await ended()
      await other.process.stop(0)
      const instances = output.match(/^-.*-ws-\d+$/gm) ?? []
      return firstOf({
        'it found a key': output.includes(CANARY),
        'it read the home of another guest': output.includes(OWN_SECRET),
        [`it sees others: ${instances.join(' ')}`]: instances.length > 1,
        'it does not see its own home': !output.endsWith('\n1\n'),
      })
    },
  },
  {
    row: 21,
    name: 'use a descriptor that it was not given by name',
    run: async (scene) => {
      const { ended } = await guestIn(scene, 'ls -l /proc/self/fd /proc/1/fd; ls /proc/self/fd/9/')
      const output = await ended()
      const open = [...output.matchAll(/ (\d+) -> (.*)$/gm)].filter(
        ([, , what = '']) =>
          what !== '/dev/null' && !what.startsWith('/proc/') && !/\/hawser-pipe-[^ ]* /.test(what),
      )
      const others = open.filter(
        ([, fd, what]) => !(['4', '5'].includes(fd ?? '') && what?.startsWith('socket:')),
      )
      return firstOf({
        [others.map(([line]) => line).join('; ')]: others.length > 0,
        'it did not get its own': open.length !== 4,
        'it reached outside': output.includes('outside'),
      })
    },
  },
  {
    row: 22,
    name: 'write a file of 100 GB',
    run: async (scene) => {
      const { ended, place } = await guestIn(
        scene,
        `for f in big .hawser/big $HAWSER_HOME/big; do truncate -s 100G $f; dd if=/dev/zero of=$f bs=1 count=1 seek=2G; done`,
      )
      await ended()
      const sizes = await Promise.all(
        [place.workspace, place.records, place.ownHome].map((folder) =>
          stat(join(folder, 'big')).then(
            ({ size }) => size,
            () => 0,
          ),
        ),
      )
      return Math.max(...sizes) > 1024 ** 3 ? `it wrote ${Math.max(...sizes)} bytes` : undefined
    },
  },
  {
    row: 22,
    name: 'type into a terminal (TIOCSTI)',
    run: async (scene) => {
      const { ended } = await guestIn(
        scene,
        `( exec 3<>/dev/tty ) 2>/dev/null && echo TERMINAL
         perl -e 'for my $fd (0 .. 20, "/dev/tty", "/dev/console", "/dev/pts/0") { my $h; open($h, $fd =~ /^\\d/ ? "<&=$fd" : "+<$fd") or next; my $c = "x"; ioctl($h, 0x5412, $c) and print "TYPED $fd\\n" }'
         set -- $(cat /proc/self/stat); echo session $6 terminal $7`,
      )
      const output = await ended()
      return firstOf({
        [output]: /TERMINAL|TYPED/.test(output) || !output.includes('terminal 0'),
        'it is in a session of ours': output.includes('session 0'),
      })
    },
  },
  {
    row: 0,
    name: 'run a tool in a sandbox of its own, which sees the workspace but not what the guest owns',
    run: async (scene) => {
      const script = `
        cat .hawser/own "$OWN/own" 2>/dev/null; ls .hawser; ls -l /proc/self/fd; cat note; echo made >made
        echo evil >AGENTS.md; (exec 3<>/dev/tcp/127.0.0.1/${scene.port}) 2>/dev/null && echo CONNECTED
        cat /proc/*/environ | tr '\\0' '\\n'; unshare -U true && echo NAMESPACE`
      const { ended, place } = await guestIn(
        scene,
        `${toolCommand(script)}; cat .hawser/own; ${toolCommand('echo second')}`,
      )
      const output = await ended()
      const [tool = '', rest = ''] = output.split(OWN_SECRET)
      const read = (name: string) => readFileSync(join(place.workspace, name), 'utf8')
      return firstOf({
        [`it did not work: ${output}`]:
          !rest.includes('second') || !tool.includes('\na\n') || !output.includes(OWN_SECRET),
        'it did not write': !(await exists(join(place.workspace, 'made'))),
        [`the tool got too far: ${tool}`]: /CONNECTED|NAMESPACE|socket:/.test(tool),
        'it found a key': tool.includes(CANARY),
        'it changed AGENTS.md': read('AGENTS.md').includes('evil'),
      })
    },
  },
]

type Target = { readonly path: string } | { readonly host: string; readonly port: number }

/** Which of these a guest can connect to. `ours` can be reached from outside. */
async function connected(
  scene: Scene,
  ours: readonly Target[],
  others: readonly Target[],
  before = ':',
): Promise<string | undefined> {
  const targets = [...ours, ...others]
  const program = `
    const net = require('node:net')
    for (const target of ${JSON.stringify(targets)}) {
      const socket = net.connect(target)
      const told = (what) => { console.log(what, JSON.stringify(target)); socket.destroy() }
      socket.on('connect', () => told('CONNECTED')).on('error', () => told('REFUSED')).setTimeout(10_000, () => told('REFUSED'))
    }`
  const control = await Promise.all(ours.map(connects))
  const { ended } = await guestIn(
    scene,
    `${before}; '${process.execPath}' -e '${program.replaceAll("'", `'\\''`)}'`,
  )
  const output = await ended()
  const refused = output.match(/^REFUSED/gm)?.length ?? 0
  return firstOf({
    [output]: output.includes('CONNECTED'),
    [`only ${refused} were tried: ${output}`]: refused !== targets.length,
    'nothing listens there': !control.every(Boolean),
  })
}

function connects(target: Target): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(target)
    socket.on('connect', () => resolve(true)).on('error', () => resolve(false))
  })
}

/** Matches the text, which is not in the pattern itself: a guest finds its own script in /proc. */
function pattern(text: string): string {
  return `[${text.slice(0, 1)}]${text.slice(1)}`
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}
