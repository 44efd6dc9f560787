import { onTestFinished } from 'vitest'
import { runCli, type CliRun } from '../cli/cli.ts'
import { localServer } from '../http/local-server.ts'
import { openFakeTether } from '../tether/fake-tether.ts'
import { BotDouble } from './bot-double.ts'
import { BOT_TOKEN } from './bot-identity.ts'

/** The double as the Bot API server of a home, and a local server with Instances without guests. No bot is connected. */
export async function servedDouble(root: string): Promise<BotDouble> {
  const double = await BotDouble.open()
  onTestFinished(() => double.close())
  await localServer({ root, openTether: openFakeTether })
  done(await runCli({ root }, 'config', 'set', 'telegram.api_root', double.url))
  return double
}

/** With the bot connected by the command. */
export async function connectedBot(root: string): Promise<BotDouble> {
  const double = await servedDouble(root)
  done(await runCli({ root, stdin: `${BOT_TOKEN}\n` }, 'telegram', 'connect'))
  return double
}

/** The code that a private chat shows after its first message. */
export async function shownCode(root: string, chat: number): Promise<string> {
  const shown = (await connectedBot(root)).chat(chat)
  shown.writes('Hello')
  await shown.until(({ fromBot }) => fromBot.length === 1)
  return /telegram pair (\S+)/.exec(shown.fromBot[0]?.text ?? '')?.[1] ?? ''
}

/** With one private chat paired by the command. */
export async function pairedBot(root: string, chat: number): Promise<void> {
  done(await runCli({ root }, 'telegram', 'pair', await shownCode(root, chat)))
}

function done({ code, stderr }: CliRun): void {
  if (code !== 0) throw new Error(stderr)
}
