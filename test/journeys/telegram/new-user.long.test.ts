import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { systemSandbox } from '../../../src/host/sandbox/sandbox.ts'
import { runCli } from '../../support/cli/cli.ts'
import { startProgram } from '../../support/cli/program.ts'
import { guestProgram, removeGuestProgram } from '../../support/cli/guest-bundle.ts'
import { freshFolder } from '../../support/host/folder.ts'
import { localServer } from '../../support/http/local-server.ts'
import { TINY_IMAGES } from '../../support/resources/tiny-images.ts'
import { BotDouble } from '../../support/telegram/bot-double.ts'
import { BOT, BOT_TOKEN } from '../../support/telegram/bot-identity.ts'

const status = await systemSandbox().status()
const canNest = status.isConfined && status.nests === true

afterAll(removeGuestProgram)

async function place() {
  const root = await freshFolder()
  const double = await BotDouble.open()
  onTestFinished(() => double.close())
  const server = await localServer({ root, program: await guestProgram() })
  const hawser = (...argv: readonly string[]) => runCli({ root }, ...argv)
  expect((await hawser('config', 'set', 'telegram.api_root', double.url)).code).toBe(0)
  const connect = () => runCli({ root, stdin: `${BOT_TOKEN}\n` }, 'telegram', 'connect')
  return { root, double, server, hawser, connect, home: join(root, 'home') }
}

test.runIf(canNest)(
  'a new user connects a bot, pairs a chat, sends a photo, and gets an answer and an image [TI-088] [TI-091] [TI-092] [TI-099] [TI-115] [TI-116] [TI-123] [TI-124]',
  async () => {
    const { double, hawser, connect, home, server } = await place()
    const connected = await connect()
    expect([connected.code, connected.stderr]).toEqual([0, ''])
    expect(connected.stdout).toContain(`Connected @${BOT.username}.`)
    expect((await stat(join(home, 'config.json'))).mode & 0o777).toBe(0o600)
    const chat = double.chat(4242)
    chat.writes('/start')
    await chat.until(({ fromBot }) => fromBot.length === 1)
    const [, code = ''] = /hawser telegram pair (\S+)/.exec(chat.fromBot[0]?.text ?? '') ?? []
    const paired = await hawser('telegram', 'pair', code, '--workspace', '.')
    expect([paired.code, paired.stderr]).toEqual([0, ''])
    await chat.until(({ fromBot }) => fromBot.length === 2)
    chat.photographs(TINY_IMAGES.png, 'What is in this picture?')
    await chat.until(({ fromBot }) => fromBot.length === 3)
    expect(chat.fromBot[2]?.text).toContain('is a PNG picture, 3 by 2 pixels')
    await writeFile(join(server.workspace, 'boat.png'), TINY_IMAGES.png)
    chat.writes('Attach boat.png')
    await chat.until(({ fromBot }) => fromBot.length === 4)
    expect(chat.fromBot[3]?.bytes?.equals(TINY_IMAGES.png)).toBe(true)
    expect(chat.fromBot[3]?.kind).toBe('photo')
    const shown = await hawser('telegram', 'status', '--json')
    expect(JSON.parse(shown.stdout)).toMatchObject({ connected: true, state: 'receiving' })
    expect(chat.violations).toEqual([])
    await server.running.close()
    const texts = await Promise.all(
      (await readdir(home, { recursive: true }))
        .filter((name) => /\.(ndjson|log|jsonl)$/.test(name))
        .map((name) => readFile(join(home, name), 'utf8')),
    )
    expect(texts.some((text) => text.includes(BOT_TOKEN))).toBe(false)
  },
)

test('with the debug output of Node and of libraries, and while everything fails, no one sees the token', async () => {
  const root = await freshFolder()
  await mkdir(join(root, 'workspace'))
  const double = await BotDouble.open()
  onTestFinished(() => double.close())
  await runCli({ root }, 'config', 'set', 'telegram.api_root', double.url)
  expect((await runCli({ root, stdin: BOT_TOKEN }, 'telegram', 'connect')).code).toBe(0)
  double.fail({ method: 'getUpdates', code: 502, times: 2 })
  double.fail({ method: 'getUpdates', code: 500, afterEffect: true })
  double.fail({ method: 'sendMessage', code: 500, afterEffect: true })
  const env = { DEBUG: '*', NODE_DEBUG: 'http,https,net', HAWSER_PROVIDER: 'rehearsal' }
  const program = await startProgram({ root, env }, ['up', '--json'])
  const chat = double.chat(42)
  chat.writes('Hello')
  await chat.until(({ fromBot }) => fromBot.length === 1)
  await double.close()
  const state = async () => (await runCli({ root }, 'telegram', 'status', '--json')).stdout
  await expect.poll(state).toContain('unreachable')
  const logs = join(root, 'home', 'logs')
  const texts = (await readdir(logs)).map((name) => readFile(join(logs, name), 'utf8'))
  const log = (await Promise.all(texts)).join('\n')
  expect(log).toContain('ECONNREFUSED')
  // Node prints its connections, so that a token in one would be seen.
  const printed = program.stdout() + program.stderr() + program.child.spawnargs.join(' ')
  expect(printed).toContain('127.0.0.1')
  expect(printed + log + (await state())).not.toContain(BOT_TOKEN.slice(10))
})
