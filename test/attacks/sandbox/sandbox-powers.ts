import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { firstOf, type Attack } from './attack.ts'
import { CANARY, running, type Ground, type Scene } from './sandbox-scene.ts'

/** Sockets, privileges, keys, processes, network: everything but files of the workspace. */
export const POWER_ATTACKS: readonly Attack[] = [
  ...['home', 'outside'].map((where): Attack => ({
    row: 19,
    name: `connect to a socket in ${where === 'home' ? '$HAWSER_HOME' : 'a folder outside'}`,
    run: async (scene) => {
      const socket = where === 'home' ? 'home/hawserd.sock' : 'outside/agent.sock'
      return connecting(await scene.workspace(), { path: join(scene.root, socket) })
    },
  })),
  {
    row: 19,
    name: 'connect to an abstract socket',
    run: async (scene) => connecting(await scene.workspace(), { path: scene.abstractName }),
  },
  {
    row: 19,
    name: 'find any socket below /run, /var/run, /tmp',
    run: async (scene) => {
      const ground = await scene.workspace()
      const { output } = await ground.sh('find /run/ /var/run/ /tmp/ -type s; ls /run')
      return output.trim() === '' ? undefined : output
    },
  },
  {
    row: 20,
    name: 'remount / writable, unmount what hides, mount anew',
    run: async (scene) => {
      const ground = await scene.workspace()
      await ground.sh(`
        mount -o remount,rw,bind /; mount -o remount,rw /; umount -l .hawser; umount -l ${scene.hawserHome}
        mount --bind / /mnt; mount -t tmpfs none /mnt; mount -t proc proc /proc
        unshare -Urm sh -c 'mount -o remount,rw,bind /; umount -l .hawser; cat .hawser/sessions/log; touch ${scene.outside}/new'
        touch ${scene.outside}/new; cat .hawser/sessions/log > got; cat ${scene.hawserHome}/config.json >> got`)
      return firstOf({
        'it wrote outside': await there(scene, 'outside/new'),
        'it unmasked': (await ground.read('got'))?.includes(CANARY) === true,
      })
    },
  },
  {
    row: 20,
    name: 'have or regain a capability',
    run: async (scene) => {
      const ground = await scene.workspace()
      const { output } = await ground.sh(`
        grep -E '^(Cap|NoNewPrivs)' /proc/self/status
        unshare -U grep -E '^Cap' /proc/self/status; unshare -Ur grep -E '^Cap' /proc/self/status
        su -c 'grep -E "^Cap" /proc/self/status' </dev/null; setpriv --reuid=0 grep -E '^Cap' /proc/self/status`)
      return firstOf({
        [`it has powers: ${output}`]: /^Cap\w+:\s*0*[1-9a-f]/m.test(output),
        'it may gain powers': !/^NoNewPrivs:\s*1$/m.test(output),
      })
    },
  },
  {
    row: 20,
    name: 'change a setting of the kernel, which is a file of root',
    run: async (scene) => {
      const ground = await scene.workspace()
      const attempt = async (guest: boolean) =>
        (
          await ground.sh(
            `for f in /proc/sys/kernel/core_pattern /proc/sys/kernel/modprobe /proc/sysrq-trigger; do
               ( exec 3<>$f ) 2>/dev/null && echo OPENED $f
             done; find /sys -maxdepth 3 -type f -writable 2>/dev/null | while read f; do ( exec 3<>$f ) 2>/dev/null && echo OPENED $f; done`,
            {},
            { guest },
          )
        ).output
      return firstOf({
        'it opened one': (await attempt(false)).includes('OPENED'),
        'a guest opened one': (await attempt(true)).includes('OPENED'),
      })
    },
  },
  {
    row: 22,
    name: 'leave its control group, or raise the limits of it',
    run: async (scene) => {
      const ground = await scene.workspace()
      const { output } = await ground.sh(
        `find /sys/fs/cgroup/ -name cgroup.procs -o -name pids.max -o -name memory.max -o -name memory.limit_in_bytes 2>/dev/null |
           head -200 | while read f; do ( echo 0 >$f ) 2>/dev/null && echo WROTE $f; done`,
      )
      return output.includes('WROTE') ? output : undefined
    },
  },
  {
    row: 20,
    name: 'make or find a device of the machine',
    run: async (scene) => {
      const ground = await scene.workspace()
      const { output } = await ground.sh(
        'mknod d b 254 0 && echo MADE; find /dev -type b; ls /dev/mem /dev/kmsg /dev/kvm 2>/dev/null',
      )
      return output.split('\n').find((line) => line === 'MADE' || line.startsWith('/dev/'))
    },
  },
  {
    row: 20,
    name: 'make a user namespace of its own, unless it is a guest',
    run: async (scene) => {
      const { output } = await (await scene.workspace()).sh('unshare -U true && echo MADE')
      return output.includes('MADE') ? 'it made one' : undefined
    },
  },
  {
    row: 20,
    name: 'as a guest: get another /proc, and with it the settings of the kernel',
    run: async (scene) => {
      const ground = await scene.workspace()
      const { output } = await ground.sh(
        `unshare -Urmpf sh -c 'mount -t proc proc /proc; ( exec 3<>/proc/sys/kernel/core_pattern ) 2>/dev/null && echo OPENED'
         unshare -Urm sh -c 'umount -R -l /proc/sys /proc; ( exec 3<>/proc/sys/kernel/core_pattern ) 2>/dev/null && echo OPENED'`,
        {},
        { guest: true },
      )
      return output.includes('OPENED') ? 'it opened one' : undefined
    },
  },
  {
    row: 0,
    name: 'as a guest: have a sandbox of its own that proves itself',
    run: async (scene) => {
      const ground = await scene.workspace()
      const argv = [process.execPath, process.argv[1] ?? '', scene.root, 'prove']
      const readable = [process.argv[1] ?? '']
      const { output } = await ground.sh('', { argv }, { guest: true, readable })
      return output.includes('"isConfined":true') ? undefined : output
    },
  },
  {
    row: 21,
    name: 'find a key in the environment, or in that of any process',
    run: async (scene) => {
      const ground = await scene.workspace()
      const { output } = await ground.sh(
        `env; for pid in $(seq 1 40) ${process.pid} ${process.ppid}; do tr '\\0' '\\n' </proc/$pid/environ; done 2>/dev/null; cat /proc/*/environ 2>/dev/null`,
      )
      return output.includes(CANARY) ? 'it found one' : undefined
    },
  },
  {
    row: 21,
    name: 'see or trace a process outside',
    run: async (scene) => {
      const ground = await scene.workspace()
      const { output } = await ground.sh(
        'ls -d /proc/[0-9]*; tr "\\0" " " </proc/1/cmdline; kill -9 1; echo alive',
      )
      const count = [...output.matchAll(/^\/proc\/\d+$/gm)].length
      return firstOf({
        'it sees others': count > 5,
        'the first process is not ours': !output.includes('/bin/sh -c'),
        'it could end the first process': !output.includes('alive'),
      })
    },
  },
  {
    row: 21,
    name: 'read $HAWSER_HOME, by its path and by a link',
    run: async (scene) => {
      const ground = await scene.workspace()
      const { output } = await ground.sh(
        `ln -s ${scene.hawserHome} link; cat ${scene.hawserHome}/config.json link/config.json; grep -rs ${CANARY} ${scene.hawserHome}/ link/`,
      )
      return output.includes(CANARY) ? 'it read it' : undefined
    },
  },
  {
    row: 21,
    name: 'read the keys in the home of the person, and the passwords of the system',
    run: async (scene) => {
      const ground = await scene.workspace()
      const { output } = await ground.sh(
        `grep -rs ${CANARY} ${scene.root}/person; cat /etc/shadow /etc/gshadow 2>/dev/null | head -c 10`,
      )
      return output === '' ? undefined : output
    },
  },
  {
    row: 21,
    name: 'use a descriptor that we were given by whoever started us',
    run: async (scene) => {
      const ground = await scene.workspace()
      // The child was started with the folder of the scene as descriptor 10.
      const { output } = await ground.sh('ls /proc/self/fd/9/; cat /proc/self/fd/9/outside/target')
      return /^(outside|untouched)$/m.test(output) ? 'it reached outside' : undefined
    },
  },
  ...leaving(),
  {
    row: 22,
    name: 'run on after we ourselves were killed',
    run: async (scene) => {
      const mark = '31535999'
      const holder = spawn(process.execPath, [process.argv[1] ?? '', scene.root, mark])
      await new Promise<void>((resolve, reject) => {
        holder.stdout.once('data', resolve)
        holder.once('close', () => reject(new Error('it did not start')))
      })
      holder.kill('SIGKILL')
      // Nothing reports their end: a sandbox that lets them live is detected by the time limit of the whole test.
      while (running(mark) > 0) await new Promise<void>((resolve) => void setTimeout(resolve, 5))
      return undefined
    },
  },
  {
    row: 22,
    name: 'write a file of 100 GB',
    run: async (scene) => {
      const ground = await scene.workspace()
      const { output } = await ground.sh(
        'truncate -s 100G big; dd if=/dev/zero of=big2 bs=1 count=1 seek=2G; ls -l big big2',
      )
      return /\s\d{10,}\s/.test(output.replaceAll('1073741824', '')) ? output : undefined
    },
  },
  {
    row: 22,
    name: 'raise its limits',
    run: async (scene) => {
      const ground = await scene.workspace()
      const { output } = await ground.sh(
        'ulimit -c unlimited; ulimit -f unlimited; ulimit -u 100000; echo $(ulimit -c) $(ulimit -f) $(ulimit -u)',
      )
      return /^0 1048576 \d{1,4}$/m.test(output) ? undefined : output
    },
  },
  {
    row: 22,
    name: 'type into a terminal (TIOCSTI)',
    run: async (scene) => {
      const ground = await scene.workspace()
      const { output } = await ground.sh(
        '( exec 3<>/dev/tty ) 2>/dev/null && echo TERMINAL; set -- $(cat /proc/self/stat); echo session $6 terminal $7',
      )
      return firstOf({
        'it has a terminal': output.includes('TERMINAL') || !output.includes('terminal 0'),
        'it is in a session of ours': output.includes('session 0'),
      })
    },
  },
  {
    row: 31,
    name: 'reach the network, here or elsewhere',
    run: async (scene) => {
      const ground = await scene.workspace()
      const { output } = await ground.sh(
        'sed 1,2d /proc/net/dev | cut -d: -f1; sed 1d /proc/net/route',
      )
      return (
        (await connecting(ground, { host: '127.0.0.1', port: scene.port })) ??
        (output.trim() === 'lo' ? undefined : output)
      )
    },
  },
  {
    row: 0,
    name: 'reach the network when that was allowed',
    run: async (scene) => {
      const ground = await scene.workspace()
      const reached = await connecting(ground, { host: '127.0.0.1', port: scene.port }, true)
      return reached === undefined ? 'it did not reach it' : undefined
    },
  },
]

/** Ways to leave something running; `marked` is an endless program that can be found by its arguments. */
function leaving(): Attack[] {
  const ways: Readonly<Record<string, string>> = {
    'in the background': 'MARKED & MARKED >/dev/null 2>&1 & echo started',
    'in its own session':
      'setsid MARKED & setsid -f MARKED >/dev/null 2>&1 </dev/null; echo started',
    'by forking twice, deaf to signals':
      '( trap "" HUP TERM INT; ( nohup setsid -f sh -c "touch up; exec MARKED" >/dev/null 2>&1 </dev/null & ) & ) & while ! [ -e up ]; do :; done; echo started',
    'in its own namespace': 'unshare -Upf MARKED & echo started',
  }
  const ends: Readonly<Record<string, (ground: Ground, script: string) => Promise<unknown>>> = {
    'after it ended': (ground, script) => ground.sh(script),
    'after it was interrupted': (ground, script) => {
      const abort = new AbortController()
      return ground.sh(`${script}; sleep 1000`, {
        signal: abort.signal,
        onOutput: (chunk) => {
          if (chunk.includes('started')) abort.abort()
        },
      })
    },
  }
  return Object.entries(ways).flatMap(([how, script]) =>
    Object.entries(ends).map(([when, end]): Attack => ({
      row: 22,
      name: `run on ${when}, ${how}`,
      run: async (scene) => {
        const mark = `31536000.${Math.abs(hash(how + when + scene.root))}`
        await end(await scene.workspace(), script.replaceAll('MARKED', `sleep ${mark}`))
        const left = running(mark)
        return left === 0 ? undefined : `${left} run on`
      },
    })),
  )
}

/** A number that no other attack uses. */
function hash(text: string): number {
  let sum = 7
  for (const letter of text) sum = (sum * 31 + (letter.codePointAt(0) ?? 0)) | 0
  return sum
}

async function connecting(
  ground: Ground,
  target: { path: string } | { host: string; port: number },
  network = false,
): Promise<string | undefined> {
  const program = `
    const socket = require('node:net').connect(${JSON.stringify(target)})
    socket.on('connect', () => { console.log('CONNECTED'); process.exit(0) }).on('error', (error) => { console.log(error.code) })`
  const { output } = await ground.sh('exec "$0" -e "$1"', {
    argv: [process.execPath, '-e', program],
    network,
  })
  return output.includes('CONNECTED') ? 'it connected' : undefined
}

async function there(scene: Scene, name: string): Promise<boolean> {
  const child = spawn('test', ['-e', join(scene.root, name)])
  return new Promise((resolve) => void child.on('close', (code) => resolve(code === 0)))
}
