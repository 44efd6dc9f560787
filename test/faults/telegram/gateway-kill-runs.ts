import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '../../../src/host/clock.ts'
import { openHome } from '../../../src/host/home.ts'
import { systemIds } from '../../../src/host/ids.ts'
import { writeSettings } from '../../../src/host/settings.ts'
import { writeBot } from '../../../src/host/telegram/bot-record.ts'
import { changeChats } from '../../../src/host/telegram/chat-register.ts'
import { InstanceId } from '../../../src/model/ids.ts'
import type { Frame } from '../../../src/model/tether/frame.ts'
import { FramePageShape, InstanceInfoShape } from '../../../src/tether/tether-shapes.ts'
import { random } from '../../support/host/random.ts'
import { value } from '../../support/log/story.ts'
import { TINY_IMAGES } from '../../support/resources/tiny-images.ts'
import { BotDouble } from '../../support/telegram/bot-double.ts'
import { BOT, BOT_TOKEN } from '../../support/telegram/bot-identity.ts'
import type { DoubleChat } from '../../support/telegram/double-chat.ts'
import { KilledServer } from '../tether/daemon-kill-server.ts'
import { instanceRecords } from '../tether/instance-records.ts'
import { gatewayVerdict, type ChatEvidence } from './gateway-kill-judge.ts'

export interface GatewayKills {
  readonly violations: readonly string[]
  readonly messages: number
  /** Answers that a chat shows twice, each because of a kill between the two. */
  readonly doubled: number
  /** Messages that a crash ended, whose answers say so. */
  readonly interrupted: number
}

const CHATS = 20
/** What is sent before each kill: text, a photo, and a message whose answer is a photo. */
const KINDS = ['text', 'photo', 'drawing'] as const
const MOST_DRAIN_MS = 120_000
/** Messages without an end when the next ones are sent: a slow machine has no more of them than a fast one. */
const MOST_OPEN = 12

/** People in 20 chats send and ask for texts and photos while a real server is killed at random moments. Every message is answered, in order. */
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
  const sent: Sent = new Map(chats.map((chat) => [chat, []]))
  const violations: string[] = []
  try {
    await connect(server, double)
    await server.end('SIGTERM')
    await server.start()
    for (let round = 0; round < rounds; round++) {
      if (!(await server.ready())) violations.push(`the server did not start: ${server.complaint}`)
      await caughtUp(server, double)
      for (const kind of KINDS) {
        const chat = chance.pick(chats)
        sent.get(chat)?.push(await write(server, chat, kind, sent.get(chat)?.length ?? 0))
      }
      await sleep(chance.below(1_500))
      await server.end('SIGKILL')
      // What it had sent has arrived.
      await sleep(20)
      double.era += 1
      await server.start()
    }
    if (!(await server.ready())) violations.push(`the server did not start: ${server.complaint}`)
    if (!(await drained(server, double, chats))) violations.push('something was not sent in time')
  } finally {
    await server.end('SIGTERM')
    await double.close()
  }
  const { stored, events } = await instanceRecords(server, CHATS, violations)
  const evidence = chats.map((chat): ChatEvidence => {
    violations.push(...[...chat.violations, ...chat.refusals].map((what) => `${chat.id}: ${what}`))
    return { chat: chat.id, sent: sent.get(chat) ?? [], shown: chat.fromBot }
  })
  const { offences, doubled, interrupted } = gatewayVerdict({ chats: evidence, stored, events })
  violations.push(...offences)
  if (violations.length === 0) await rm(root, { recursive: true })
  const messages = evidence.reduce((sum, one) => sum + one.sent.length, 0)
  return { violations, messages, doubled, interrupted }
}

type Sent = Map<DoubleChat, ChatEvidence['sent'][number][]>

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

/** Each message names itself, and so does its answer: the offline model cannot find a file of text, and attaches a picture. */
async function write(
  { workspace }: KilledServer,
  chat: DoubleChat,
  kind: (typeof KINDS)[number],
  count: number,
): Promise<ChatEvidence['sent'][number]> {
  const word = `m${chat.id}x${count}y`
  if (kind === 'drawing') await writeFile(join(workspace, `${word}.png`), TINY_IMAGES.png)
  const text = kind === 'drawing' ? `attach ${word}.png` : `read ${word}.txt`
  const id = kind === 'photo' ? chat.photographs(TINY_IMAGES.png, text) : chat.writes(text)
  return { word, key: `${BOT.id}/${chat.id}/${id}` }
}

async function caughtUp(server: KilledServer, double: BotDouble): Promise<void> {
  const until = performance.now() + MOST_DRAIN_MS
  while (performance.now() < until) {
    const info = await server.call('GET', '/instances/painter')
    const waiting = info?.status === 200 ? InstanceInfoShape.parse(info.body).waiting : Infinity
    if (waiting + double.pending <= MOST_OPEN) return
    await sleep(50)
  }
}

/** Whether every update was acknowledged and every answer sent, in time. */
async function drained(
  server: KilledServer,
  double: BotDouble,
  chats: readonly DoubleChat[],
): Promise<boolean> {
  const until = performance.now() + MOST_DRAIN_MS
  while (performance.now() < until) {
    const isSent = await Promise.all(chats.map(({ id }) => hasAll(server, id)))
    if (double.pending === 0 && isSent.every(Boolean)) return true
    await sleep(50)
  }
  return false
}

/** Whether no message of a chat is open, and its last answer is recorded as sent. */
async function hasAll(server: KilledServer, chat: number): Promise<boolean> {
  const newest = async (...types: readonly Frame['type'][]) => {
    const query = `session_id=${chat}&types=${types.join()}&limit=1&before_seq=${Number.MAX_SAFE_INTEGER}`
    const path = `/instances/painter/tether/poll?${query}`
    const answer = await server.call('GET', path)
    return answer?.status === 200 ? FramePageShape.parse(answer.body).frames[0] : undefined
  }
  const message = await newest('user.message')
  if (message === undefined) return true
  const end = await newest('assistant.done', 'error')
  if (end?.in_reply_to !== message.msg_id) return false
  const record = await readFile(join(server.home, `telegram/sent${chat}.json`), 'utf8').catch(
    () => '{}',
  )
  return Number((JSON.parse(record) as { seq?: number }).seq) >= end.seq
}
