import { execFile, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { copyFile, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { z } from 'zod'
import { MADE_IN } from '../support/log/stored-home.ts'

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

await main(process.argv[2])

async function main(name: string | undefined): Promise<void> {
  if (name === undefined || !/^[a-z0-9-]+$/.test(name)) return print(HELP)
  const folder = fileURLToPath(new URL(`test/formats/${name}/`, ROOT))
  if (existsSync(join(folder, 'files.json')))
    throw new Error(`test/formats/${name} is stored already; choose another name`)
  await rm(MADE_IN, { recursive: true, force: true })
  await mkdir(join(MADE_IN, 'workspace'), { recursive: true, mode: 0o700 })
  await mkdir(join(MADE_IN, 'home', 'skills', 'tides'), { recursive: true, mode: 0o700 })
  await (name === 'forks' ? forks() : everything())
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
