import { mkdir, readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { systemClock, type Clock } from '../../../src/host/clock.ts'
import { openHome } from '../../../src/host/home.ts'
import { systemIds } from '../../../src/host/ids.ts'
import { httpFetch, type Fetch } from '../../../src/host/net/http.ts'
import { newSecret } from '../../../src/host/server/secret.ts'
import { writeSettings } from '../../../src/host/settings.ts'
import { writeBot } from '../../../src/host/telegram/bot-record.ts'
import { changeChats } from '../../../src/host/telegram/chat-register.ts'
import type { InstanceInfo } from '../../../src/tether/tether.ts'
import type { Frame, FrameToHost } from '../../../src/model/tether/frame.ts'
import type { TelegramGateway } from '../../../src/presenters/telegram/gateway.ts'
import { openGateway } from '../../../src/presenters/telegram/serve.ts'
import { freshFolder } from '../host/folder.ts'
import { value } from '../log/story.ts'
import { openFakeTether, type FakeTether } from '../tether/fake-tether.ts'
import { BotDouble } from './bot-double.ts'
import { BOT, BOT_TOKEN } from './bot-identity.ts'

export interface GatewayPlaceOptions {
  readonly clock?: Clock
  readonly fetch?: Fetch
  readonly drafts?: boolean
  readonly workspace?: string | undefined
}

/** The gateway with the double, and Instances without guests: the test answers for them. */
export class GatewayPlace {
  readonly double: BotDouble
  readonly tether: FakeTether
  readonly notes: Readonly<Record<string, unknown>>[] = []
  readonly defects: unknown[] = []
  readonly root: string
  readonly home: string
  readonly instance: InstanceInfo
  gateway: TelegramGateway | undefined
  readonly #options: GatewayPlaceOptions
  readonly #folders: Awaited<ReturnType<typeof openFolders>>

  private constructor(
    folders: Awaited<ReturnType<typeof openFolders>>,
    instance: InstanceInfo,
    options: GatewayPlaceOptions,
  ) {
    this.#folders = folders
    this.#options = options
    this.double = folders.double
    this.tether = folders.tether
    this.root = folders.root
    this.home = folders.path
    this.instance = instance
  }

  /** With a connected bot, and one Instance `painter`. */
  static async open(options: GatewayPlaceOptions = {}): Promise<GatewayPlace> {
    const folders = await openFolders(options)
    const workspace = 'workspace' in options ? options.workspace : 'own'
    const request = { handle: 'painter', workspace, isolation: 'process' as const }
    const instance = value(await folders.tether.create(request, 'operator'))
    const place = new GatewayPlace(folders, instance, options)
    onTestFinished(async () => {
      await place.stop()
      await folders.close()
    })
    return place
  }

  async start(): Promise<void> {
    const { own, ids } = this.#folders
    this.gateway = await openGateway({
      home: own,
      tether: this.tether,
      clock: this.#options.clock ?? systemClock,
      ids,
      fetch: this.#options.fetch ?? httpFetch(),
      secret: newSecret,
      note: (entry) => void this.notes.push(entry),
      onDefect: (error) => void this.defects.push(error),
    })
  }

  async stop(): Promise<void> {
    await this.gateway?.close()
    this.gateway = undefined
  }

  /** Pairs a chat as the command does. */
  async pair(chat: number, instance: InstanceInfo = this.instance): Promise<void> {
    const { own: home, ids } = this.#folders
    const kind = chat < 0 ? ('group' as const) : ('private' as const)
    const paired_at = new Date().toISOString()
    const paired = { chat, kind, name: 'Ada', instance: instance.id, paired_at, after_seq: 0 }
    value(await changeChats({ home, ids, clock: systemClock }, (all) => [...all, paired]))
    await this.gateway?.reload()
  }

  async unpair(chat: number): Promise<void> {
    const { own: home, ids } = this.#folders
    const place = { home, ids, clock: systemClock }
    value(await changeChats(place, (all) => all.filter((one) => one.chat !== chat)))
    await this.gateway?.reload()
  }

  /** Messages that the Instance got, when there are so many. */
  async messages(count: number): Promise<readonly UserMessage[]> {
    for (;;) {
      const { frames } = value(
        await this.tether.poll('painter', { after_seq: 0, types: ['user.message'], limit: 200 }),
      )
      if (frames.length >= count) return frames.filter((frame) => frame.type === 'user.message')
      await this.tether.poll(
        'painter',
        { after_seq: frames.at(-1)?.seq ?? 0, types: ['user.message'] },
        { waitMs: 30_000 },
      )
    }
  }

  /** Every message that the Instance has now, after waiting for the next one. */
  async everyMessage(): Promise<readonly UserMessage[]> {
    const found: UserMessage[] = []
    for (let after_seq = 0; ;) {
      const query = { after_seq, types: ['user.message'], limit: 200 }
      const { frames, next_seq } = value(await this.tether.poll('painter', query, { waitMs: 50 }))
      if (frames.length === 0) return found
      found.push(...frames.filter((frame) => frame.type === 'user.message'))
      after_seq = next_seq
    }
  }

  /** All frames of these types. */
  async polled(types: readonly Frame['type'][]) {
    return value(await this.tether.poll('painter', { after_seq: 0, types, limit: 200 }))
  }

  /** What the guest says about a message. */
  async says<T extends FrameToHost['type']>(
    message: UserMessage,
    type: T,
    payload: Extract<FrameToHost, { type: T }>['payload'],
  ): Promise<void> {
    const frame = {
      v: 1,
      type,
      ts: message.ts,
      session: message.session,
      msg_id: `${message.msg_id}/${type}`,
      in_reply_to: message.msg_id,
      payload,
    }
    await this.tether.says('painter', frame as FrameToHost)
  }

  async answers(message: UserMessage, text: string, images: Images = []): Promise<void> {
    const more = images.length === 0 ? {} : { images }
    await this.says(message, 'assistant.done', { text, status: 'completed', ...more })
  }

  /** Everything below the home, as one text. */
  async stored(): Promise<string> {
    const names = await readdir(this.home, { recursive: true })
    const texts: string[] = []
    for (const name of names) {
      const path = join(this.home, name)
      if ((await stat(path)).isFile()) texts.push(`${name}\n${await readFile(path, 'latin1')}`)
    }
    return texts.join('\n')
  }
}

export type UserMessage = Extract<Frame, { type: 'user.message' }>
type Images = NonNullable<Extract<FrameToHost, { type: 'assistant.done' }>['payload']['images']>

async function openFolders({ drafts = false }: GatewayPlaceOptions) {
  const root = await freshFolder()
  const path = join(root, 'home')
  await mkdir(join(root, 'workspace'))
  const home = value(await openHome(path))
  const ids = systemIds(systemClock)
  const double = await BotDouble.open()
  const telegram = { token: BOT_TOKEN, api_root: double.url, drafts }
  value(await writeSettings(home.own, { telegram }, ids))
  const bot = { id: BOT.id, username: BOT.username, api_root: double.url }
  value(await writeBot({ home: home.own, ids }, bot))
  const instances = value(await openFakeTether(home.own))
  const close = async () => {
    await instances.close()
    await double.close()
    await home.close()
  }
  return { root, path, own: home.own, ids, double, tether: instances.tether, close }
}
