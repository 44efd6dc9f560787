import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../../src/host/clock.ts'
import { openHome } from '../../../src/host/home.ts'
import { systemIds } from '../../../src/host/ids.ts'
import { writeBot } from '../../../src/host/telegram/bot-record.ts'
import { runCli } from '../../support/cli/cli.ts'
import { freshFolder } from '../../support/host/folder.ts'
import { value } from '../../support/log/story.ts'
import { BotDouble } from '../../support/telegram/bot-double.ts'
import { BOT, BOT_TOKEN } from '../../support/telegram/bot-identity.ts'
import {
  connectedBot,
  pairedBot,
  servedDouble,
  shownCode,
} from '../../support/telegram/connected-bot.ts'

const hawser = (root: string, ...argv: readonly string[]) => runCli({ root }, 'telegram', ...argv)
const connect = (root: string, token = BOT_TOKEN) =>
  runCli({ root, stdin: `${token}\n` }, 'telegram', 'connect')
const statusOf = async (root: string) =>
  JSON.parse((await hawser(root, 'status', '--json')).stdout) as Record<string, unknown>

test('a running server begins with a bot when it is connected, and ends when it is disconnected', async () => {
  const root = await freshFolder()
  const double = await servedDouble(root)
  expect(await statusOf(root)).toMatchObject({ connected: false, state: 'off' })
  expect((await connect(root)).code).toBe(0)
  await expect.poll(() => double.isPolled).toBe(true)
  const path = join(root, 'home', 'config.json')
  expect(await readFile(path, 'utf8')).toContain(BOT_TOKEN)
  expect((await stat(path)).mode & 0o777).toBe(0o600)
  expect((await hawser(root, 'disconnect', '--yes')).code).toBe(0)
  await expect.poll(() => double.isPolled).toBe(false)
  expect(await statusOf(root)).toMatchObject({ connected: false, state: 'off' })
  expect(await readFile(path, 'utf8')).not.toContain(BOT_TOKEN)
  const polls = double.callsOf('getUpdates').length
  double.chat(42).writes('Hello')
  expect([double.pending, double.callsOf('getUpdates').length]).toEqual([1, polls])
})

test('a pairing begins and ends in a running server by the commands, and a code works once', async () => {
  const root = await freshFolder()
  const code = await shownCode(root, 42)
  expect((await hawser(root, 'pair', code)).code).toBe(0)
  const paired = await statusOf(root)
  expect(paired).toMatchObject({ chats: [{ chat: 42, name: 'Ada', instance: 'telegram-42' }] })
  const again = await hawser(root, 'pair', code)
  expect([again.code, again.stderr.includes('No chat shows this code')]).toEqual([1, true])
  expect((await hawser(root, 'unpair', '42')).code).toBe(0)
  expect(await statusOf(root)).toMatchObject({ chats: [] })
})

test.each([
  ['what is no token', 'hello'],
  ['a token with a space', `${BOT_TOKEN} x`],
  ['nothing', ''],
])('%s is refused, and not shown', async (_, token) => {
  const root = await freshFolder()
  await servedDouble(root)
  const { code, stdout, stderr } = await connect(root, token)
  expect([code, stdout]).toEqual([2, ''])
  expect(stderr).not.toContain(BOT_TOKEN)
})

test('a token that Telegram does not accept, a bot with a webhook, and another server are refused', async () => {
  const root = await freshFolder()
  const double = await servedDouble(root)
  const unknown = await connect(root, BOT_TOKEN.replace('AAE', 'BBB'))
  expect(unknown.stderr).toContain('Telegram does not accept this token.')
  double.webhook = 'https://bots.example/hook'
  expect((await connect(root)).stderr).toContain('has a webhook')
  const other = createServer((_, response) => void response.end('<html>'))
  other.listen(0, '127.0.0.1')
  await once(other, 'listening')
  onTestFinished(() => void other.close())
  const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`
  await runCli({ root }, 'config', 'set', 'telegram.api_root', url)
  expect((await connect(root)).stderr).toContain('is not a Bot API server')
  await runCli({ root }, 'config', 'set', 'telegram.api_root', 'http://bots.example')
  expect((await connect(root)).stderr).toContain('would expose the token')
  expect(await statusOf(root)).toMatchObject({ connected: false })
})

test('after a change of telegram.api_root, the token is not sent there before the bot is connected again', async () => {
  const root = await freshFolder()
  await pairedBot(root, 42)
  const other = await BotDouble.open()
  onTestFinished(() => other.close())
  await runCli({ root }, 'config', 'set', 'telegram.api_root', other.url)
  // The running server reads everything again.
  expect((await hawser(root, 'unpair', '42')).code).toBe(0)
  expect(await statusOf(root)).toMatchObject({ connected: true, state: 'stale' })
  expect((await hawser(root, 'status')).stdout).toContain('the token is not sent there')
  expect(other.calls).toEqual([])
  expect((await connect(root)).code).toBe(0)
  await expect.poll(() => other.isPolled).toBe(true)
})

test('connecting again applies the setting of drafts', async () => {
  const root = await freshFolder()
  const double = await connectedBot(root)
  await expect.poll(() => double.callsOf('setMyCommands').length).toBe(1)
  await runCli({ root }, 'config', 'set', 'telegram.drafts', 'true')
  expect((await connect(root)).code).toBe(0)
  await expect.poll(() => double.callsOf('setMyCommands').length).toBe(2)
})

test('another bot forgets the pairings, since its messages have other numbers', async () => {
  const root = await freshFolder()
  await pairedBot(root, 42)
  const home = value(await openHome(join(root, 'home')))
  const place = { home: home.own, ids: systemIds(systemClock) }
  value(
    await writeBot(place, { id: BOT.id + 1, username: 'old_bot', api_root: 'http://127.0.0.1' }),
  )
  await home.close()
  const connected = await connect(root)
  expect(connected.stdout).toContain('must be paired again: 1.')
  expect(await statusOf(root)).toMatchObject({ bot: { username: BOT.username }, chats: [] })
})
