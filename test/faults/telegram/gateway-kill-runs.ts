import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '../../../src/host/clock.ts'
import { openHome } from '../../../src/host/home.ts'
import { systemIds } from '../../../src/host/ids.ts'
import { writeSettings } from '../../../src/host/settings.ts'
import { writeBot } from '../../../src/host/telegram/bot-record.ts'
import { changeChats } from '../../../src/host/telegram/chat-register.ts'
import { InstanceId } from '../../../src/model/ids.ts'
import { random } from '../../support/host/random.ts'
import { value } from '../../support/log/story.ts'
import { TINY_IMAGES } from '../../support/resources/tiny-images.ts'
import { BotDouble } from '../../support/telegram/bot-double.ts'
import { BOT, BOT_TOKEN } from '../../support/telegram/bot-identity.ts'
import type { DoubleChat } from '../../support/telegram/double-chat.ts'
import { KilledServer } from '../tether/daemon-kill-server.ts'

export interface GatewayKills {
  readonly violations: readonly string[]
  readonly messages: number
  /** Answers that a chat shows twice; at most one for each kill. */
  readonly doubled: number
  /** Messages that a crash ended, whose answers say so. */
  readonly interrupted: number
}

const CHATS = 20
const MOST_DRAIN_MS = 120_000

/** People in 20 chats send texts and photos while a real server is killed at random moments. Every message is answered, in order. */
export async function runGatewayKills(
  parent: string,
  rounds: number,
  seed: number,
): Promise<GatewayKills> {
  const root = await mkdtemp(join(parent, 'gateway-kill-'))
  const chance = random(seed)
  const double = await BotDouble.open()
  const server = new KilledServer(root)
  await mkdir(server.workspace, { mode: 0o700 })
  const chats = Array.from({ length: CHATS }, (_, at) => double.chat(at + 1))
  const sent = new Map<DoubleChat, string[]>(chats.map((chat) => [chat, []]))
  const violations: string[] = []
  try {
    await connect(server, double)
    await server.end('SIGTERM')
    await server.start()
    for (let round = 0; round < rounds; round++) {
      if (!(await server.ready())) violations.push(`the server did not start: ${server.complaint}`)
      for (let count = 0; count < 3; count++) write(chance.pick(chats), sent, chance.below(3) === 0)
      await sleep(chance.below(1_500))
      await server.end('SIGKILL')
      await server.start()
    }
    if (!(await server.ready())) violations.push(`the server did not start: ${server.complaint}`)
    await drained(chats, sent)
  } finally {
    await server.end('SIGTERM')
    await double.close()
  }
  const judged = chats.map((chat) => judgedChat(chat, sent.get(chat) ?? []))
  violations.push(...judged.flatMap(({ wrong }) => wrong))
  const doubled = judged.reduce((sum, one) => sum + one.doubled, 0)
  if (doubled > rounds) violations.push(`${doubled} doubled answers after ${rounds} kills`)
  if (violations.length === 0) await rm(root, { recursive: true })
  return {
    violations,
    messages: [...sent.values()].flat().length,
    doubled,
    interrupted: judged.reduce((sum, one) => sum + one.interrupted, 0),
  }
}

/** The bot, one Instance, and all chats paired with it. */
async function connect(server: KilledServer, double: BotDouble): Promise<void> {
  await server.start()
  if (!(await server.ready())) throw new Error(server.complaint)
  const body = { handle: 'painter', workspace: server.workspace }
  const created = await server.call('POST', '/instances', { body })
  if (created?.status !== 201) throw new Error(`no Instance: ${JSON.stringify(created)}`)
  const instance = InstanceId.parse((created.body as { id: string }).id)
  const home = value(await openHome(server.home))
  const place = { home: home.own, ids: systemIds(systemClock), clock: systemClock }
  const telegram = { token: BOT_TOKEN, api_root: double.url }
  value(await writeSettings(home.own, { telegram }, place.ids))
  const bot = { id: BOT.id, username: BOT.username, api_root: double.url }
  value(await writeBot(place, bot))
  const paired = Array.from({ length: CHATS }, (_, at) => ({
    chat: at + 1,
    kind: 'private' as const,
    name: 'Ada',
    instance,
    paired_at: new Date().toISOString(),
    after_seq: 0,
  }))
  value(await changeChats(place, () => paired))
  await home.close()
}

/** Each message names itself, and so does its answer: the offline model cannot find such a file. */
function write(chat: DoubleChat, sent: Map<DoubleChat, string[]>, isPhoto: boolean): void {
  const known = sent.get(chat) ?? []
  const name = `m${chat.id}x${known.length}y`
  known.push(name)
  if (isPhoto) chat.photographs(TINY_IMAGES.png, `read ${name}.txt`)
  else chat.writes(`read ${name}.txt`)
}

async function drained(
  chats: readonly DoubleChat[],
  sent: ReadonlyMap<DoubleChat, readonly string[]>,
): Promise<void> {
  const until = performance.now() + MOST_DRAIN_MS
  const isOpen = (chat: DoubleChat) => chat.fromBot.length < (sent.get(chat)?.length ?? 0)
  while (chats.some(isOpen) && performance.now() < until) await sleep(50)
  // What would be doubled comes now.
  await sleep(1_000)
}

interface JudgedChat {
  readonly wrong: readonly string[]
  readonly doubled: number
  readonly interrupted: number
}

/** Answers in the order of the messages, each once or, after a kill, twice in a row. */
function judgedChat(chat: DoubleChat, names: readonly string[]): JudgedChat {
  const wrong = [...chat.violations, ...chat.refusals].map((text) => `chat ${chat.id}: ${text}`)
  const texts = chat.fromBot.map(({ text }) => text)
  const unlike = texts.filter((text, at) => text !== texts[at - 1])
  const isCut = (text: string) => text.includes('cut off by a crash')
  const interrupted = texts.filter(isCut).length
  const named = unlike.map((text) => names.findIndex((name) => text.includes(name)))
  const known = named.filter((at) => at !== -1)
  if (known.some((at, place) => at <= (known[place - 1] ?? -1)))
    wrong.push(`chat ${chat.id}: answers out of order or run twice: ${known.join(' ')}`)
  if (known.length + interrupted < names.length)
    wrong.push(`chat ${chat.id}: ${known.length} of ${names.length} messages have their own answer`)
  if (texts.length < names.length)
    wrong.push(`chat ${chat.id}: ${names.length} messages, ${texts.length} answers`)
  return { wrong, doubled: Math.max(0, texts.length - names.length), interrupted }
}
