// A chat in a pseudoterminal: until it accepts keys, relative to the first request of a run; a key until it is shown, while an answer
// streams, relative to a bare readline; a Session of 5,000 Turns until it accepts keys, relative to a new one; and `@` until its list.
import { execFile } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { spawn } from '@lydell/node-pty'
import { bundled } from './bundled.ts'
import { full, median, medianRatio, quantile, tell } from './figure.ts'
import { firstRequest } from './first-request.ts'
import { builtProgram, said, type Place } from './program.ts'
import { inScratch } from './scratch.ts'

const ROUNDS = full ? 15 : 3
const KEYS = full ? 1_000 : 100
const TURNS = full ? 5_000 : 500
const KEY_PAUSE_MS = 20
/** A person types this long before the first file. */
const FIRST_WORDS_MS = 1_000

const READLINE = `require('node:readline').createInterface({ input: process.stdin, output: process.stdout, prompt: '/help ' }).prompt()`

const program = await builtProgram()

await inScratch(async (folder) => {
  const worker = await bundled('chat.worker.ts', folder)
  const cwd = join(folder, 'workspace')
  await mkdir(cwd)
  const place = { cwd, env: { ...process.env, HAWSER_HOME: join(folder, 'home') } }
  await measureStart(place)
  await measureMention(await smallRepository(join(folder, 'small')))
  await measureLong(worker, place, join(folder, 'long'))
  await measureKeys(worker, place, join(folder, 'keys'))
})

async function measureStart(place: Place): Promise<void> {
  const request = () => firstRequest([program, 'run', 'What happened?', '--json'], place)
  const ready = () => readyIn([program, 'chat'], place)
  await request()
  await ready()
  const [run, chat]: [number[], number[]] = [[], []]
  for (let round = 0; round < ROUNDS; round += 1) {
    run.push(await request())
    chat.push(await ready())
  }
  tell({
    bench: 'chat: start until it accepts keys, relative to the first request of a run',
    ratio: medianRatio(chat, run),
    bar: '<= 1.3',
    more: { ms: median(chat), run_ms: median(run) },
  })
}

/** Its chats store no draft, which the next one would restore. */
async function smallRepository(path: string): Promise<Place> {
  const home = join(path, 'home')
  const cwd = join(path, 'workspace')
  await mkdir(home, { recursive: true, mode: 0o700 })
  await writeFile(join(home, 'config.json'), JSON.stringify({ input: { history: false } }))
  await mkdir(cwd)
  for (const name of ['README.md', 'harbour.ts', 'tide.ts']) await writeFile(join(cwd, name), '')
  await promisify(execFile)('git', ['init', '-q', cwd])
  return { cwd, env: { ...process.env, HAWSER_HOME: home } }
}

async function measureMention(place: Place): Promise<void> {
  const listed = async (afterMs: number) => {
    const chat = await opened([program, 'chat'], place)
    await pause(afterMs)
    const ms = await chat.echo('@', '› ')
    chat.end()
    return ms
  }
  await listed(0)
  const [ms, atOnce]: [number[], number[]] = [[], []]
  for (let round = 0; round < ROUNDS; round += 1) {
    ms.push(await listed(FIRST_WORDS_MS))
    atOnce.push(await listed(0))
  }
  tell({
    bench: 'chat: ms from @ to its list in a repository of three files, one second after the start',
    ratio: median(ms),
    bar: '<= 100',
    more: { most_ms: Math.max(...ms), at_start_ms: median(atOnce) },
  })
}

async function measureLong(worker: string, place: Place, root: string): Promise<void> {
  await mkdir(join(root, 'workspace'), { recursive: true })
  const order = (more: object) => [worker, JSON.stringify({ root, ...more })]
  const session = (await said(order({ turns: TURNS }), place)).trim()
  const [fresh, long]: [number[], number[]] = [[], []]
  for (let round = 0; round <= ROUNDS; round += 1) {
    const ms = [await readyIn(order({}), place), await readyIn(order({ session }), place)] as const
    // Warm up: reading the files of the program for the first time is not measured.
    if (round === 0) continue
    fresh.push(ms[0])
    long.push(ms[1])
  }
  tell({
    bench: 'chat: a Session of 5,000 Turns until it accepts keys, relative to a new one',
    ratio: medianRatio(long, fresh),
    bar: '<= 1.5',
    more: { ms: median(long), new_ms: median(fresh), turns: TURNS },
  })
}

async function measureKeys(worker: string, place: Place, root: string): Promise<void> {
  await mkdir(join(root, 'workspace'), { recursive: true })
  const chat = await opened([worker, JSON.stringify({ root })], place)
  const floor = await opened(['-e', READLINE], place)
  chat.write('What happened?\r')
  await chat.shows('answering')
  const [echo, bare]: [number[], number[]] = [[], []]
  for (let key = 0; key < KEYS; key += 1) {
    const letter = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'.charAt(key % 26)
    bare.push(await floor.echo(letter, letter))
    echo.push(await chat.echo(letter, `${letter}▏`))
    // The line stays short.
    if (key % 26 === 25) for (const pty of [floor, chat]) pty.write('\u0015')
  }
  chat.end()
  floor.end()
  tell({
    bench: 'chat: p99 of key to echo while 200 tokens a second stream, in ms above a bare readline',
    ratio: quantile(echo, 0.99) - quantile(bare, 0.99),
    bar: '<= 8',
    more: {
      p99_ms: quantile(echo, 0.99),
      p50_ms: median(echo),
      readline_p99_ms: quantile(bare, 0.99),
    },
  })
}

/** Milliseconds until a chat shows its status line, which is when it accepts keys. */
async function readyIn(args: readonly string[], place: Place): Promise<number> {
  const pty = await opened(args, place)
  pty.end()
  return pty.readyMs
}

/** Starts a program in a pseudoterminal, and waits until it accepts keys. */
async function opened(args: readonly string[], { cwd, env }: Place) {
  const started = performance.now()
  const options = { name: 'xterm-256color', cols: 80, rows: 24, cwd, env }
  const child = spawn(process.execPath, [...args], options)
  let output = ''
  let look: (() => void) | undefined
  child.onData((text) => {
    output = (output + text).slice(-10_000)
    look?.()
  })
  const shows = (text: string) =>
    new Promise<void>((resolve) => {
      look = () => {
        if (output.includes(text)) resolve()
      }
      look()
    })
  await shows('/help')
  const readyMs = performance.now() - started
  return {
    readyMs,
    shows,
    write: (text: string) => child.write(text),
    echo: async (key: string, expected: string) => {
      await pause(KEY_PAUSE_MS)
      output = ''
      const pressed = performance.now()
      child.write(key)
      await shows(expected)
      return performance.now() - pressed
    },
    end: () => child.kill('SIGKILL'),
  }
}
