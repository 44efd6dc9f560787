import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { expect, test } from 'vitest'
import { freshFolder } from '../../../test/support/host/folder.ts'
import { systemClock, type Clock } from '../clock.ts'
import { isRunning } from './holder.ts'
import { kinOf, parseStat } from './kin.ts'
import { runProgram, type ProcessEnding, type Program } from './process.ts'

const PATH = '/usr/bin:/bin'

interface Run {
  readonly ending: ProcessEnding
  readonly output: string
}

async function run(script: string, more: Partial<Program> = {}, clock?: Clock): Promise<Run> {
  const chunks: Buffer[] = []
  const program: Program = {
    argv: ['/bin/sh', '-c', script],
    folder: '/',
    env: { PATH },
    wallMs: 60_000,
    signal: new AbortController().signal,
    errors: 'merged',
    onOutput: (chunk) => void chunks.push(chunk),
    ...more,
  }
  const result = await runProgram(program, clock)
  if (!result.ok) throw new Error(result.error.message)
  return { ending: result.value, output: Buffer.concat(chunks).toString() }
}

/** A clock whose timer for `ms` fires when the test calls it. */
function clockFiringOnDemand(ms: number) {
  let fire = () => {}
  const clock: Clock = {
    ...systemClock,
    after: (requested, then) => {
      if (requested !== ms) return systemClock.after(requested, then)
      fire = then
      return () => {}
    },
  }
  return { clock, fire: () => fire() }
}

test('stdout and stderr arrive merged, in the order they were written', async () => {
  const { output } = await run('for i in 1 2 3 4 5; do echo o$i; echo e$i >&2; done')
  expect(output).toBe('o1\ne1\no2\ne2\no3\ne3\no4\ne4\no5\ne5\n')
})

test('a script can open /dev/stdout and /dev/stderr', async () => {
  expect((await run('echo a >/dev/stdout; echo b >/dev/stderr')).output).toBe('a\nb\n')
})

test('separate stderr is returned at the end and is not part of the output', async () => {
  const { output, ending } = await run('echo a; echo b >&2', { errors: 'apart' })
  expect([output, ending.complaint]).toEqual(['a\n', 'b\n'])
})

test('exit codes and signals are reported unchanged', async () => {
  const endingOf = async (script: string) => {
    const { code, signal, timedOut, wasInterrupted } = (await run(script)).ending
    return { code, signal, timedOut, wasInterrupted }
  }
  const rest = { timedOut: false, wasInterrupted: false }
  expect(await endingOf('exit 0')).toEqual({ code: 0, signal: null, ...rest })
  expect(await endingOf('exit 7')).toEqual({ code: 7, signal: null, ...rest })
  expect(await endingOf('kill -TERM $$')).toEqual({ code: null, signal: 'SIGTERM', ...rest })
})

test('the environment contains only the given variables', async () => {
  process.env['HAWSER_TEST_CANARY'] = 'canary'
  const { output } = await run('env', { env: { PATH, A: '1' } })
  delete process.env['HAWSER_TEST_CANARY']
  const names = output
    .trim()
    .split('\n')
    .map((line) => line.split('=')[0])
  // A shell sets these two for itself.
  expect(new Set(names.filter((name) => name !== 'PWD' && name !== '_'))).toEqual(
    new Set(['A', 'PATH']),
  )
})

test('the program gets only three descriptors, whatever this process inherited', async () => {
  const { output } = await run('ls -l /proc/self/fd')
  const open = [...output.matchAll(/ (\d+) -> (.*)$/gm)].filter(([, fd]) => Number(fd) > 2)
  // `ls` itself opens one folder.
  expect(open.filter(([, , what]) => what !== '/dev/null').map(([, , what]) => what)).toEqual([
    expect.stringMatching(/^\/proc\/\d+\/fd$/),
  ])
})

test('the program leads its own session and has no terminal', async () => {
  const { output } = await run('set -- $(cat /proc/self/stat); echo $6; : </dev/tty')
  const [session, why] = output.trim().split('\n')
  expect(Number(session)).not.toBe(sessionOf(process.pid))
  expect(why).toMatch(/\/dev\/tty/)
})

function sessionOf(pid: number): number {
  return Number(execFileSync('ps', ['-o', 'sid=', '-p', `${pid}`], { encoding: 'utf8' }))
}

test('stdin arrives complete, and the program may ignore it', async () => {
  const stdin = Buffer.alloc(1_000_000, 'x')
  expect((await run('wc -c', { stdin })).output.trim()).toBe('1000000')
  expect((await run('head -c 1', { stdin })).output).toBe('x')
  expect((await run('exit 3', { stdin })).ending.code).toBe(3)
  expect((await run('cat')).output).toBe('')
})

test('output is delivered completely, one chunk at a time, even to a slow consumer', async () => {
  let taking = 0
  let most = 0
  let bytes = 0
  const onOutput = async (chunk: Buffer) => {
    taking += 1
    most = Math.max(most, taking)
    await new Promise<void>((resolve) => void setImmediate(resolve))
    bytes += chunk.length
    taking -= 1
  }
  const { ending } = await run('head -c 3000000 /dev/zero', { onOutput })
  expect({ bytes, most, code: ending.code }).toEqual({ bytes: 3_000_000, most: 1, code: 0 })
})

test('the program blocks while its output is not consumed', async () => {
  const folder = await freshFolder()
  const first = signalled()
  const go = signalled()
  const running = run('head -c 4000000 /dev/zero; echo done >finished', {
    folder,
    onOutput: async () => {
      first.signal()
      await go.done
    },
  })
  await first.done
  // Megabytes do not fit into a pipe, so the program cannot have got further.
  expect(readdirSync(folder)).toEqual([])
  go.signal()
  expect((await running).ending.code).toBe(0)
  expect(readdirSync(folder)).toEqual(['finished'])
})

function signalled() {
  let signal = () => {}
  const done = new Promise<void>((resolve) => {
    signal = resolve
  })
  return { done, signal: () => signal() }
}

test('at the time limit all descendants are killed, whatever group they are in', async () => {
  const folder = await freshFolder()
  const { clock, fire } = clockFiringOnDemand(1_234)
  const script = [
    'sh -c "echo \\$\\$ >same; sleep 1000" &',
    'setsid sh -c "echo \\$\\$ >other; sleep 1000" &',
    'while ! [ -s same ] || ! [ -s other ]; do :; done; echo ready; sleep 1000',
  ].join('\n')
  const { ending, output } = await run(
    script,
    { folder, wallMs: 1_234, onOutput: () => fire() },
    clock,
  )
  expect(output).toBe('')
  expect(ending).toMatchObject({ code: null, signal: 'SIGKILL', timedOut: true })
  expect(ending.wasInterrupted).toBe(false)
  expect(await areRunning(folder, 'same', 'other')).toEqual([false, false])
})

async function areRunning(folder: string, ...names: string[]): Promise<boolean[]> {
  const pids = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')))
  return pids.map((pid) => isRunning(Number(pid)) && !isZombie(Number(pid)))
}

function isZombie(pid: number): boolean {
  return execFileSync('ps', ['-o', 'stat=', '-p', `${pid}`], { encoding: 'utf8' }).startsWith('Z')
}

test('an abort kills the program, and its output so far is delivered', async () => {
  const abort = new AbortController()
  const output: string[] = []
  const onOutput = (chunk: Buffer) => {
    output.push(chunk.toString())
    abort.abort()
  }
  const { ending } = await run('echo here; sleep 1000', { signal: abort.signal, onOutput })
  expect(output).toEqual(['here\n'])
  expect(ending).toMatchObject({ wasInterrupted: true, timedOut: false, signal: 'SIGKILL' })
})

test('an abort before the start starts nothing', async () => {
  const folder = await freshFolder()
  const { ending } = await run('touch started', { folder, signal: AbortSignal.abort() })
  expect(ending).toMatchObject({ code: null, wasInterrupted: true, durationMs: 0 })
  expect(readdirSync(folder)).toEqual([])
})

test('a background process is killed with the program and not waited for', async () => {
  const folder = await freshFolder()
  const script =
    'sleep 1000 & echo $! >left; sleep 1000 >/dev/null 2>&1 & echo $! >silent; echo bye'
  const { ending, output } = await run(script, { folder })
  expect([ending.code, output]).toEqual([0, 'bye\n'])
  expect(await areRunning(folder, 'left', 'silent')).toEqual([false, false])
})

test('a process that left the group and holds the pipe is not waited for', async () => {
  const folder = await freshFolder()
  const script =
    'setsid sh -c "echo \\$\\$ >away; sleep 1000" & while ! [ -s away ]; do :; done; echo bye'
  const { ending, output } = await run(script, { folder })
  expect([ending.code, output]).toEqual([0, 'bye\n'])
  process.kill(-Number(await readFile(join(folder, 'away'), 'utf8')), 'SIGKILL')
})

test('when the output consumer throws, the program is killed and the error is rethrown', async () => {
  const folder = await freshFolder()
  const onOutput = () => {
    throw new Error('no room')
  }
  const running = run('sleep 1000 & echo $! >left; echo a; sleep 1000', { folder, onOutput })
  await expect(running).rejects.toThrow('no room')
  expect(await areRunning(folder, 'left')).toEqual([false])
})

test('a missing or non-executable program is a failure, not an exception', async () => {
  const folder = await freshFolder()
  await writeFile(join(folder, 'text'), 'no program')
  const kindOf = async (file: string) => {
    const program: Program = {
      argv: [file],
      folder,
      env: {},
      wallMs: 1_000,
      signal: new AbortController().signal,
      errors: 'merged',
      onOutput: () => {},
    }
    const result = await runProgram(program)
    return result.ok ? 'ok' : result.error.kind
  }
  expect(await kindOf('/nowhere/at/all')).toBe('not_found')
  expect(await kindOf(join(folder, 'text'))).toBe('permission_denied')
})

test('no descriptor stays open, however the program ended', async () => {
  const open = () => readdirSync('/proc/self/fd').length
  await run('true')
  const before = open()
  for (let i = 0; i < 10; i++) {
    const abort = new AbortController()
    await run('echo; sleep 1000', { signal: abort.signal, onOutput: () => abort.abort() })
    await run('echo a; echo b >&2', { errors: 'apart', stdin: Buffer.from('x') })
    await runProgram({
      argv: ['/nowhere/at/all'],
      folder: '/',
      env: {},
      wallMs: 1_000,
      signal: abort.signal,
      errors: 'merged',
      onOutput: () => {},
    })
  }
  // Destroyed streams are closed in a later turn of the event loop.
  await expect.poll(open).toBeLessThanOrEqual(before)
})

test('the related processes are the group and all descendants, in any order of the list', () => {
  const one = (pid: number, parent: number, group: number) => ({
    pid,
    parent,
    group,
    since: '1',
    state: 'S',
  })
  const all = [one(9, 8, 9), one(8, 7, 8), one(7, 1, 7), one(5, 1, 7), one(6, 5, 6), one(4, 1, 4)]
  expect(kinOf(7, all).map(({ pid }) => pid)).toEqual([9, 8, 7, 5, 6])
})

test('parses /proc stat lines with any process name, and skips zombies', () => {
  const restWith = (threads: number) =>
    `5 6 ${Array.from({ length: 40 }, (_, i) => (i === 14 ? threads : i + 6)).join(' ')}`
  const rest = restWith(1)
  const listed = { pid: 12, parent: 5, group: 6, since: '22', state: 'S' }
  expect(parseStat(`12 (sh) S ${rest}`)).toEqual(listed)
  expect(parseStat(`12 (a) Z (b) S ${rest}`)).toEqual(listed)
  expect(parseStat(`12 (sh) Z ${rest}`)).toBeUndefined()
  // Only its first thread has ended.
  expect(parseStat(`12 (sh) Z ${restWith(2)}`)).toEqual({ ...listed, state: 'Z' })
  expect(parseStat('')).toBeUndefined()
})
