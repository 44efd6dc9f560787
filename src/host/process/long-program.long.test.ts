import { existsSync, readFileSync } from 'node:fs'
import { once } from 'node:events'
import process from 'node:process'
import { expect, onTestFinished, test } from 'vitest'
import { systemClock, type Clock } from '../clock.ts'
import { listKin, parseStat } from './kin.ts'
import { startLong, type LongOrder, type RunningProgram } from './long-program.ts'

const PATH = '/usr/bin:/bin'
const hasPerl = existsSync('/usr/bin/perl')

interface Started {
  readonly program: RunningProgram
  readonly output: () => string
  /** Resolves when the output contains `text`. */
  readonly says: (text: string) => Promise<void>
}

async function start(
  argv: LongOrder['argv'],
  more: Partial<LongOrder> = {},
  clock?: Clock,
): Promise<Started> {
  let output = ''
  let heard = () => {}
  const started = await startLong(
    {
      argv,
      folder: '/',
      env: { PATH, LC_ALL: 'C' },
      errors: 'merged',
      wrappers: 0,
      onOutput: (chunk) => {
        output += chunk.toString()
        heard()
      },
      ...more,
    },
    clock,
  )
  if (!started.ok) throw new Error(started.error.message)
  onTestFinished(() => started.value.stop(0))
  return {
    program: started.value,
    output: () => output,
    says: async (text) => {
      while (!output.includes(text)) await new Promise<void>((resolve) => void (heard = resolve))
    },
  }
}

const sh = (script: string, more?: Partial<LongOrder>, clock?: Clock) =>
  start(['/bin/sh', '-c', script], more, clock)
const perl = (script: string, more?: Partial<LongOrder>, clock?: Clock) =>
  start(['/usr/bin/perl', '-e', `$| = 1; ${script}`], more, clock)

/** Ticks of the CPU that all processes of a program have used, by pid. */
function ticks(pid: number): readonly (readonly [number, number])[] {
  return listKin(pid).map((one) => {
    const stat = readFileSync(`/proc/${one.pid}/stat`, 'latin1')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return [one.pid, Number(fields[11]) + Number(fields[12])] as const
  })
}

function pass(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms))
}

test('a program gets its sockets in order from descriptor 4, and no other descriptor', async () => {
  const { program, says, output } = await sh(
    'ls -l /proc/self/fd; echo one >&4; echo two >&5; read answer <&5; echo answer $answer; exit 7',
    { sockets: 2 },
  )
  const [first, second] = program.sockets
  expect(String((await once(first!, 'data'))[0])).toBe('one\n')
  expect(String((await once(second!, 'data'))[0])).toBe('two\n')
  second!.write('yes\n')
  await says('answer yes')
  expect(await program.exit).toEqual({ code: 7, signal: null, wasStopped: false, complaint: '' })
  const open = [...output().matchAll(/ (\d+) -> (.*)$/gm)]
    .filter(([, , what]) => what !== '/dev/null' && !what?.startsWith('/proc/'))
    .map(([, fd]) => Number(fd))
  expect(open).toEqual([1, 2, 4, 5])
})

test('a program that cannot be started is an error', async () => {
  const order = { folder: '/', env: {}, errors: 'merged', wrappers: 0, onOutput: () => {} } as const
  expect(await startLong({ ...order, argv: ['/nowhere/at/all'] })).toMatchObject({
    ok: false,
    error: { kind: 'not_found' },
  })
})

test('a stopped program ends by itself if it can', async () => {
  const { program, says, output } = await sh(
    'trap "echo ending; exit 9" TERM; echo up; while :; do sleep 0.01; done',
  )
  await says('up')
  await program.stop()
  expect(output()).toContain('ending')
  expect(await program.exit).toMatchObject({ code: 9, wasStopped: true })
  await program.stop()
})

test('a program that does not end is killed with all its descendants', async () => {
  const { program, says } = await sh(
    'trap "" TERM; setsid sleep 1000 & sleep 1000 & sh -c "sleep 1000; :" & echo up; wait',
  )
  await says('up')
  const kin = await untilKin(program.pid, 5)
  await program.stop(10)
  expect(await program.exit).toMatchObject({ signal: 'SIGKILL', wasStopped: true })
  expect(kin.filter(({ pid }) => lives(pid))).toEqual([])
})

/** Unlike a zombie, which nothing may have reaped yet. */
function lives(pid: number): boolean {
  try {
    return parseStat(readFileSync(`/proc/${pid}/stat`, 'latin1')) !== undefined
  } catch {
    return false
  }
}

async function untilKin(pid: number, count: number) {
  for (;;) {
    const kin = listKin(pid)
    if (kin.length >= count) return kin
    await pass(1)
  }
}

test('a paused program uses no CPU in any descendant, and continues when it is resumed', async () => {
  const { program, says, output } = await sh(
    'sh -c "while :; do :; done" & setsid sh -c "while :; do :; done" & i=0; while :; do i=$((i+1)); echo $i; sleep 0.01; done',
  )
  await says('3\n')
  expect(await program.pause()).toEqual({ ok: true, value: undefined })
  expect(await program.pause()).toEqual({ ok: true, value: undefined })
  const before = ticks(program.pid)
  expect(before.length).toBeGreaterThanOrEqual(3)
  await pass(2_000)
  expect(ticks(program.pid)).toEqual(before)
  const soFar = output()
  const told: number[] = []
  const resumed = await program.resume((ms) => void told.push(ms, output() === soFar ? 1 : 0))
  expect(resumed).toEqual({ ok: true, value: told[0] })
  expect(told[1]).toBe(1)
  expect(told[0]).toBeGreaterThanOrEqual(2_000)
  const next = soFar.trim().split('\n').length + 2
  await says(`\n${next}\n`)
  expect(await program.resume()).toEqual({ ok: true, value: 0 })
})

test('a process that had stopped before stays stopped', async () => {
  const { program, says } = await sh(
    'sleep 1000 & kill -STOP $!; echo stopped $!; while :; do sleep 0.01; done',
  )
  await says('stopped')
  const stopped = () => listKin(program.pid).filter(({ state }) => state === 'T')
  while (stopped().length === 0) await pass(1)
  await program.pause()
  expect(stopped().length).toBeGreaterThan(1)
  await program.resume()
  while (stopped().length > 1) await pass(1)
  expect(stopped()).toHaveLength(1)
})

test('a paused program is killed at once, and can be neither paused nor resumed then', async () => {
  const { program, says, output } = await sh('trap "echo late" TERM; echo up; sleep 1000')
  await says('up')
  await program.pause()
  await program.stop(1_000_000)
  expect(output()).toBe('up\n')
  expect(await program.pause()).toMatchObject({ ok: false, error: { kind: 'not_found' } })
  expect(await program.resume()).toMatchObject({ ok: false, error: { kind: 'not_found' } })
})

/** Each keeps creating processes, so that every look at /proc is out of date. */
const RESTLESS: Readonly<Record<string, string>> = {
  'starts a process after another':
    'print "up\\n"; while (1) { my $p = fork; if (!$p) { exit } waitpid $p, 0 }',
  // A parent waits in the kernel until its child has executed the program, which a stopped child never does.
  'starts programs by vfork': 'exec "/bin/sh", "-c", "echo up; while :; do /bin/true; done"',
  'forks and exits over and over':
    'print "up\\n"; if (my $p = fork) { sleep 1000 } while (1) { my $p = fork // next; exit if $p }',
  'forks and exits over and over, below a parent that does not reap':
    '$SIG{CHLD} = "IGNORE"; print "up\\n"; syscall(157, 36, 1); if (my $p = fork) { sleep 1000 while 1 } $SIG{CHLD} = "DEFAULT"; while (1) { my $p = fork // next; exit if $p }',
  'has only its first thread stopped':
    'use threads; print "up\\n"; async { while (1) { my $x = 1 } }->detach; syscall(60, 0); sleep 1000',
}

test.skipIf(!hasPerl || process.arch !== 'x64').each(Object.entries(RESTLESS))(
  'a program that %s is paused as a whole',
  async (_, script) => {
    const { program, says } = await perl(script)
    await says('up')
    for (let round = 0; round < 10; round++) {
      const paused = await program.pause()
      if (!paused.ok) throw new Error(paused.error.message)
      const before = ticks(program.pid)
      await pass(50)
      expect(ticks(program.pid)).toEqual(before)
      await program.resume()
      await pass(5)
    }
  },
)

test('a program that cannot be kept stopped is not reported as paused, and continues', async () => {
  let wake = () => {}
  const clock: Clock = {
    ...systemClock,
    after: (ms, then) => {
      // Between two looks.
      if (ms === 1) wake()
      return systemClock.after(ms, then)
    },
  }
  const { program, says, output } = await sh(
    'i=0; while :; do i=$((i+1)); echo $i; done',
    {},
    clock,
  )
  await says('1\n')
  wake = () => void process.kill(program.pid, 'SIGCONT')
  expect(await program.pause()).toMatchObject({ ok: false, error: { kind: 'timeout' } })
  const length = output().length
  while (output().length === length) await pass(1)
})

test.skipIf(!hasPerl || process.arch !== 'x64')(
  'a program that has itself continued is stopped again',
  async () => {
    let look = () => {}
    const clock: Clock = {
      ...systemClock,
      after: (ms, then) => {
        if (ms !== 5_000) return systemClock.after(ms, then)
        look = then
        return () => {}
      },
    }
    // A timer that sends SIGCONT every 10 ms: timer_create, timer_settime.
    const wakes = `
      my $event = pack("x8 i i x48", 18, 0); my $id = pack("i", 0);
      syscall(222, 1, $event, $id) == 0 or die "timer_create: $!";
      my $every = pack("q4", 0, 200_000_000, 0, 200_000_000);
      syscall(223, unpack("i", $id), 0, $every, 0) == 0 or die "timer_settime: $!";
      print "up\\n"; while (1) { print "." }`
    const { program, says, output } = await perl(wakes, {}, clock)
    await says('up')
    await program.pause()
    const length = output().length
    while (output().length === length) await pass(1)
    look()
    const running = () => listKin(program.pid).filter(({ state }) => state !== 'T')
    while (running().length > 0) await pass(1)
    expect(running()).toEqual([])
  },
)
