import { execFile, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { copyFile, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import { spawn as spawnTerminal } from '@lydell/node-pty'
import { z } from 'zod'
import { MADE_IN } from '../support/log/stored-home.ts'
import { BotDouble } from '../support/telegram/bot-double.ts'
import { BOT_TOKEN } from '../support/telegram/bot-identity.ts'

/**
 * Makes the files of a format with the built program: `npm run format -- NAME`. A stored format is never made again: it says
 * what a version really wrote. A later one gets its own name, and its story is added here.
 */
const HELP = `Usage: npm run format -- NAME

Runs the built program in ${MADE_IN} and stores every file that it wrote in test/formats/NAME/files.json.`

const ROOT = new URL('../../', import.meta.url)
const PROGRAM = fileURLToPath(new URL('dist/hawser.cjs', ROOT))

/** What identifies a running server, and what nothing reads again. */
const LEFT_OUT = /^home\/(token|hawserd|logs\/|cache\/)|\.(lock|sock|tmp|lease)$/

const SKILL = `---
name: tides
description: Knows the tides of the harbour. Use for questions about high water.
---

High water is at noon. Say so in one sentence.
`

const Forked = z.object({ session_id: z.string() })

const Address = z.object({ environment: z.record(z.string(), z.string()) })

const Status = z.object({ server: z.object({ origin: z.string() }) })

/** Every format by its name, with what writes it. The story of `shared-records` cannot be repeated: its version wrote other files. */
const STORIES: Readonly<Record<string, () => Promise<void>>> = {
  forks,
  'sessions-and-instances': everything,
  snapshots,
  'unsent-and-telegram': unsentAndTelegram,
}

await main(process.argv[2])

async function main(name: string | undefined): Promise<void> {
  const story = STORIES[name ?? '']
  if (name === undefined || story === undefined) return print(HELP)
  const folder = fileURLToPath(new URL(`test/formats/${name}/`, ROOT))
  if (existsSync(join(folder, 'files.json')))
    throw new Error(`test/formats/${name} is stored already; choose another name`)
  await rm(MADE_IN, { recursive: true, force: true })
  await mkdir(join(MADE_IN, 'workspace'), { recursive: true, mode: 0o700 })
  await mkdir(join(MADE_IN, 'home', 'skills', 'tides'), { recursive: true, mode: 0o700 })
  await story()
  const files = await storedIn(MADE_IN)
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'files.json'), `${JSON.stringify(files, null, 2)}\n`)
  await rm(MADE_IN, { recursive: true })
  print(`stored ${Object.keys(files).length} files in test/formats/${name}/files.json`)
}

/** A Session, a deleted fork that shares its first Turn, and a fork of that fork. */
async function forks(): Promise<void> {
  await writeFile(join(MADE_IN, 'workspace', 'notes.txt'), 'rope and sail\n')
  await hawser('run', 'Read notes.txt')
  await hawser('run', '--continue', 'What happened?')
  const middle = await fork('latest', '--turn', '1')
  await hawser('run', '--session', middle, 'What did you read?')
  const last = await fork(middle)
  await hawser('run', '--session', last, 'Read notes.txt again')
  await hawser('sessions', 'delete', middle, '--yes')
}

/** Everything that leaves something on disk: Turns of each dialect, Resources, Skills, file changes, a checkpoint, an Instance. */
async function everything(): Promise<void> {
  const workspace = join(MADE_IN, 'workspace')
  await writeFile(join(workspace, 'notes.txt'), 'rope and sail\n')
  await writeFile(join(MADE_IN, 'home', 'skills', 'tides', 'SKILL.md'), SKILL)
  await copyFile(new URL('examples/harbour.png', ROOT), join(workspace, 'harbour.png'))

  await hawser('run', 'What do you see?', '--attach', 'harbour.png')
  await hawser('run', '--continue', 'Look at @img1 again')
  await hawser('run', '--continue', 'write "hello" to hello.txt', '--permission', 'auto')
  await hawser('undo', 'latest')
  await hawser('pin', 'latest', 'The berth is number 7.')
  await hawser('run', '--continue', '/tides When is high water?')
  for (let turn = 0; turn < 6; turn += 1)
    await hawser(
      'run',
      '--continue',
      `Read notes.txt (${turn}) ${'and think about it '.repeat(40)}`,
    )
  await hawser('compact', 'latest')
  await hawser('run', '--continue', 'What happened?')

  const vendors = await rehearse()
  try {
    const messages = { ...vendors.environment, HAWSER_PROVIDER: 'anthropic' }
    await hawserWith(messages, 'run', 'Read notes.txt')
    const responses = { ...vendors.environment, HAWSER_PROVIDER: 'openai' }
    await hawserWith(responses, 'run', '--continue', '--provider', 'openai', 'Read notes.txt')
  } finally {
    vendors.stop()
  }

  await hawser('up', '--background')
  try {
    await hawser('instance', 'create', 'painter', '--workspace', workspace)
    await hawser(
      'instance',
      'send',
      'painter',
      'What do you see?',
      '--attach',
      'harbour.png',
      '--wait',
    )
    await hawser('instance', 'send', 'painter', 'Attach harbour.png', '--session', 'two', '--wait')
  } finally {
    await hawser('down')
  }
}

/** Commands whose snapshots undo and rewind need, and a file that only a snapshot still has. */
async function snapshots(): Promise<void> {
  await writeFile(join(MADE_IN, 'workspace', 'notes.txt'), 'rope and sail\n')
  await hawser('run', 'run `rm notes.txt`', '--permission', 'auto')
  await hawser('undo', 'latest')
  await hawser('run', '--continue', 'run `mv notes.txt old.txt`')
  const branch = Forked.parse(
    JSON.parse(await hawser('rewind', 'latest', '--turn', '2', '--files', '--json')),
  )
  await hawser('run', '--session', branch.session_id, 'run `rm notes.txt`')
}

/** What people typed and did not send, in a chat and in the app, and a Telegram chat that talks to an Instance. */
async function unsentAndTelegram(): Promise<void> {
  await writeFile(join(MADE_IN, 'workspace', 'notes.txt'), 'rope and sail\n')
  const { session_id } = Forked.parse(
    JSON.parse(await hawser('run', 'Read notes.txt', '--output', 'json')),
  )
  await typedInChat(session_id)
  const double = await BotDouble.open()
  try {
    await hawser('config', 'set', 'telegram.api_root', double.url)
    await hawserWith({ TELEGRAM_BOT_TOKEN: BOT_TOKEN }, 'telegram', 'connect')
    await hawser('up', '--background')
    try {
      await unsentInApp(session_id)
      await talkInTelegram(double)
    } finally {
      await hawser('down')
    }
  } finally {
    await double.close()
  }
}

/** A message that was sent, and a draft that was not. */
async function typedInChat(session: string): Promise<void> {
  const chat = spawnTerminal(process.execPath, [PROGRAM, 'chat', '--session', session], {
    cwd: join(MADE_IN, 'workspace'),
    env: environment({ HAWSER_PROVIDER: 'rehearsal', TERM: 'xterm-256color' }),
  })
  const ended = new Promise<void>((resolve) => {
    chat.onExit(() => resolve())
  })
  let shown = ''
  chat.onData((text) => (shown += text))
  await until(() => shown.includes('hawser ·'))
  chat.write('What happened?\r')
  const log = join(MADE_IN, 'workspace', '.hawser', 'sessions', `${session}.ndjson`)
  await until(async () => (await readFile(log, 'utf8')).split('"turn_ended"').length === 3)
  chat.write('And when is high water?')
  await until(() => typedFiles().then((names) => names.some((name) => name.includes('draft-'))))
  chat.kill('SIGHUP')
  await ended
}

async function typedFiles(): Promise<readonly string[]> {
  const folder = join(MADE_IN, 'home', 'input')
  return existsSync(folder) ? readdir(folder, { recursive: true, encoding: 'utf8' }) : []
}

/** A draft, and a message that waits because it was refused. */
async function unsentInApp(session: string): Promise<void> {
  const { server } = Status.parse(JSON.parse(await hawser('status', '--json')))
  const token = (await readFile(join(MADE_IN, 'home', 'token'), 'utf8')).trim()
  const send = async (method: string, path: string, body: object) => {
    const response = await fetch(`${server.origin}/api/harness/session/${session}/${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    if (!response.ok) throw new Error(`${path}: ${await response.text()}`)
    return response.text()
  }
  await send('PUT', 'draft', { text: 'The draft of the app.', caret: { start: 3, end: 3 } })
  const waiting = { messageKey: 'later', text: 'Sent later.', skills: ['missing'] }
  await send('POST', 'queue', waiting)
  await until(async () =>
    (await readFile(join(MADE_IN, 'home', 'queues', `${session}.json`), 'utf8')).includes(
      'refused',
    ),
  )
}

/** A chat is paired, writes, and gets an answer. */
async function talkInTelegram(double: BotDouble): Promise<void> {
  const chat = double.chat(4242)
  chat.writes('/start')
  await chat.until(({ fromBot }) => fromBot.length === 1)
  const [, code = ''] = /hawser telegram pair (\S+)/.exec(chat.fromBot[0]?.text ?? '') ?? []
  await hawser('telegram', 'pair', code)
  await chat.until(({ fromBot }) => fromBot.length === 2)
  chat.writes('What happened?')
  await chat.until(({ fromBot }) => fromBot.length === 3)
}

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await setTimeout(50)
}

async function fork(...args: readonly string[]): Promise<string> {
  return Forked.parse(JSON.parse(await hawser('fork', ...args, '--json'))).session_id
}

function hawser(...args: readonly string[]): Promise<string> {
  return hawserWith({ HAWSER_PROVIDER: 'rehearsal' }, ...args)
}

async function hawserWith(
  env: Readonly<Record<string, string>>,
  ...args: readonly string[]
): Promise<string> {
  const running = promisify(execFile)(process.execPath, [PROGRAM, ...args], {
    cwd: join(MADE_IN, 'workspace'),
    env: environment(env),
  })
  running.child.stdin?.end()
  const { stdout, stderr } = await running
  print(`hawser ${args.join(' ').slice(0, 80)}\n${stdout}${stderr}`)
  return stdout
}

async function rehearse(): Promise<z.infer<typeof Address> & { readonly stop: () => void }> {
  const child = spawn(process.execPath, [PROGRAM, 'rehearse', '--json'], {
    cwd: join(MADE_IN, 'workspace'),
    env: environment({}),
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const line = await new Promise<string>((resolve) => {
    child.stdout.setEncoding('utf8').once('data', (text: string) => resolve(text))
  })
  return { ...Address.parse(JSON.parse(line)), stop: () => void child.kill() }
}

function environment(env: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  return { PATH: process.env['PATH'], HOME: MADE_IN, HAWSER_HOME: join(MADE_IN, 'home'), ...env }
}

/** Every regular file by its path: as text if it is UTF-8, else as base64. */
async function storedIn(root: string): Promise<Record<string, string>> {
  const paths = await readdir(root, { recursive: true, encoding: 'utf8' })
  const files: Record<string, string> = {}
  for (const path of paths.toSorted()) {
    if (LEFT_OUT.test(path) || !(await stat(join(root, path))).isFile()) continue
    const bytes = await readFile(join(root, path))
    const text = bytes.toString('utf8')
    files[path] = Buffer.from(text).equals(bytes)
      ? `text:${text}`
      : `base64:${bytes.toString('base64')}`
  }
  return files
}

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}
