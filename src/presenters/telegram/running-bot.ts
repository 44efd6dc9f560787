import { setMaxListeners } from 'node:events'
import { changeChats, type PairedChat } from '../../host/telegram/chat-register.ts'
import { readDelivery } from '../../host/telegram/deliveries.ts'
import type { InstanceId } from '../../model/ids.ts'
import { wait } from '../../host/wait.ts'
import { ok, type Result } from '../../model/errors.ts'
import { Albums } from './albums.ts'
import type { BotAccess, BotApi, BotFailure } from './bot-api.ts'
import { acceptMessages, say, type InboxParts } from './chat-inbox.ts'
import { ChatLane, type LaneParts } from './chat-lane.ts'
import { pauseMs } from './chat-sender.ts'
import { readInstance } from './instance-reader.ts'
import type { PairingCodes } from './pairing-codes.ts'
import { messageOf, type Me, type Message, type Update } from './protocol.ts'
import type { BotState, GatewayWorld } from './gateway.ts'
import { isForBot, nameOf, topicOf } from './translate.ts'
import { receiveUpdates, type PollState } from './updates.ts'
import { COMMAND_HELP, WORDS } from './words.ts'

export interface RunningBotParts extends GatewayWorld {
  readonly api: BotApi
  readonly access: BotAccess
  readonly me: Pick<Me, 'id' | 'username'>
  readonly drafts: boolean
  readonly codes: PairingCodes
}

/** One bot, from the moment it is connected until it is disconnected or the server stops. */
export class RunningBot {
  readonly #parts: RunningBotParts
  readonly #stop = new AbortController()
  readonly #laneParts: LaneParts
  readonly #inbox: InboxParts
  readonly #albums: Albums
  readonly #lanes = new Map<number, ChatLane>()
  readonly #laneStops = new Map<number, AbortController>()
  readonly #readers = new Map<InstanceId, Promise<void>>()
  /** Groups by their new id: what is written there is handled when that is known. */
  readonly #moves = new Map<number, Promise<void>>()
  #receiving: Promise<void> | undefined
  #poll: { readonly state: PollState; readonly failure?: BotFailure | undefined } = {
    state: 'receiving',
  }

  constructor(parts: RunningBotParts) {
    this.#parts = parts
    const { signal } = this.#stop
    // Each message that is waiting listens to it.
    setMaxListeners(0, signal)
    const { home, ids } = parts
    const onRefusal = (paired: PairedChat, failure: BotFailure) => this.#onRefusal(paired, failure)
    const features = { rich: true }
    this.#laneParts = {
      ...parts,
      place: { home, ids },
      signal,
      features,
      onRefusal,
    }
    const me = { ...parts.me, first_name: parts.me.username }
    this.#inbox = {
      ...parts,
      me,
      signal,
      onChange: (paired, change) => this.#change(paired, change),
    }
    this.#albums = new Albums(parts.clock, signal)
  }

  /** Whether it is this bot with these settings, and receives messages. */
  serves({ access, drafts }: Pick<RunningBotParts, 'access' | 'drafts'>): boolean {
    const own = this.#parts
    const isStopped = this.#poll.state === 'conflict' || this.#poll.state === 'unauthorized'
    const isSame = own.access.token === access.token && own.access.apiRoot === access.apiRoot
    return !isStopped && isSame && own.drafts === drafts
  }

  state(): BotState {
    const { state, failure } = this.#poll
    return {
      state,
      ...(failure === undefined ? {} : { code: failure.code }),
      ...(failure?.network === undefined ? {} : { network: failure.network }),
      chats: [...this.#lanes.values()].map(({ pairing, isParked, waiting }) => ({
        chat: pairing.chat,
        is_parked: isParked,
        waiting,
      })),
    }
  }

  /** Serves these chats and no others; the first time, begins to receive. */
  async use(chats: readonly PairedChat[]): Promise<void> {
    const isFirst = this.#receiving === undefined
    for (const [id, lane] of this.#lanes) {
      const kept = chats.find(({ chat }) => chat === id)
      if (kept !== undefined && kept.paired_at === lane.pairing.paired_at) lane.update(kept)
      else await this.#end(id, lane, kept === undefined)
    }
    for (const paired of chats)
      if (!this.#lanes.has(paired.chat)) await this.#begin(paired, !isFirst)
    for (const instance of new Set(chats.map((one) => one.instance))) this.#read(instance)
    this.#receiving ??= this.#receive()
  }

  async close(): Promise<void> {
    this.#stop.abort()
    const closing = [...this.#lanes.values()].map((lane) => lane.close())
    await Promise.all([this.#receiving, ...closing, ...this.#readers.values()])
  }

  async #begin(paired: PairedChat, greet: boolean): Promise<void> {
    const { home, codes, tether, me } = this.#parts
    codes.remove(paired.chat)
    const delivery = await readDelivery({ home }, paired.chat)
    const stop = new AbortController()
    const signal = AbortSignal.any([this.#stop.signal, stop.signal])
    setMaxListeners(0, signal)
    const known = delivery.ok ? delivery.value : undefined
    const lane = new ChatLane({ ...this.#laneParts, signal }, paired, known)
    this.#lanes.set(paired.chat, lane)
    this.#laneStops.set(paired.chat, stop)
    if (!greet) return
    const info = await tether.info(paired.instance)
    const handle = info.ok ? info.value.handle : paired.instance
    const isGroup = paired.kind === 'group'
    const words = isGroup ? WORDS.pairedGroup(handle, me.username) : WORDS.paired(handle)
    void lane.say(words, undefined)
  }

  async #end(chat: number, lane: ChatLane, tell: boolean): Promise<void> {
    this.#lanes.delete(chat)
    if (tell) await Promise.race([lane.say(WORDS.unpaired, undefined), this.#moment()])
    this.#laneStops.get(chat)?.abort()
    this.#laneStops.delete(chat)
    await lane.close()
  }

  /** How long a chat that ends is informed, if that is possible at all. */
  #moment(): Promise<void> {
    return new Promise((resolve) => void this.#parts.clock.after(2_000, resolve))
  }

  #read(instance: InstanceId): void {
    if (this.#readers.has(instance)) return
    const lanesOf = (of: InstanceId) =>
      [...this.#lanes.values()].filter(({ pairing }) => pairing.instance === of)
    const { tether, clock, onDefect } = this.#parts
    const { signal } = this.#stop
    const reading = readInstance({ tether, clock, signal, lanesOf }, instance)
      .catch(onDefect)
      .finally(() => this.#readers.delete(instance))
    this.#readers.set(instance, reading)
  }

  async #receive(): Promise<void> {
    const { api, clock, home, ids, me, note, onDefect } = this.#parts
    const { signal } = this.#stop
    void this.#registerCommands()
    await receiveUpdates({
      api,
      clock,
      place: { home, ids },
      bot: me.id,
      signal,
      handle: (update) => this.#handle(update).catch(onDefect),
      onState: (state, failure) => {
        if (state !== this.#poll.state) note({ state, ...failure })
        this.#poll = { state, failure }
      },
      note,
    }).catch(onDefect)
  }

  /** As soon as Telegram can be reached. */
  async #registerCommands(): Promise<void> {
    const { api, clock } = this.#parts
    const { signal } = this.#stop
    for (let tries = 0; !signal.aborted; tries++) {
      const set = await api.call('setMyCommands', { commands: [...COMMAND_HELP] }, { signal })
      if (set.ok || !(isUnanswered(set.failure) || set.failure.code === 429)) return
      await wait(clock, pauseMs(tries, set.failure.retrySeconds), signal)
    }
  }

  async #handle(update: Update): Promise<void> {
    const found = messageOf(update)
    if (found === undefined) return
    const { message, isEdit } = found
    // A live location is an edit at each of its moves.
    if (isEdit && message.location !== undefined) return
    const { chat, migrate_to_chat_id: movedTo } = message
    if (movedTo !== undefined) {
      const moving = this.#albums.take(message, () => this.#follow(chat.id, movedTo))
      this.#moves.set(movedTo, moving)
      return moving
    }
    const moving = this.#moves.get(chat.id)
    if (moving !== undefined) await moving
    const lane = this.#laneOf(chat.id)
    if (lane === undefined) return this.#offerCode(message, isEdit)
    await this.#albums.take(message, async (messages) => {
      if (!messages.some((one) => isForBot(one, this.#inbox.me))) return
      if (isEdit) await say(this.#inbox, lane, message, WORDS.edited)
      else await acceptMessages(this.#inbox, lane, messages)
    })
  }

  #laneOf(chat: number): ChatLane | undefined {
    return [...this.#lanes.values()].find(
      ({ pairing }) => pairing.chat === chat || pairing.moved_to === chat,
    )
  }

  /** In a group, only someone who is paired in private gets a code, by a mention. Nothing else is ever said to strangers. */
  async #offerCode(message: Message, isEdit: boolean): Promise<void> {
    const { chat, from } = message
    if (isEdit || from?.is_bot !== false) return
    const isPrivate = chat.type === 'private'
    const isGroup = chat.type === 'group' || chat.type === 'supergroup'
    const isMember = this.#lanes.get(from.id)?.pairing.kind === 'private'
    if (!isPrivate && !(isGroup && isMember && isForBot(message, this.#inbox.me))) return
    const { codes, api } = this.#parts
    const kind = isPrivate ? 'private' : 'group'
    const code = codes.issue({ chat: chat.id, kind, name: nameOf(chat) })
    if (code === undefined) return
    const topic = topicOf(message)
    const text = {
      chat_id: chat.id,
      text: WORDS.pair(code),
      ...(topic === undefined ? {} : { message_thread_id: topic }),
    }
    // Not awaited, and not repeated: strangers delay no one.
    void api.call('sendMessage', text, { signal: this.#stop.signal }).then((sent) => {
      // The chat can ask again; one that refuses its code cannot.
      if (!sent.ok && isUnanswered(sent.failure)) codes.remove(chat.id)
    })
  }

  async #onRefusal(paired: PairedChat, { movedTo }: BotFailure): Promise<void> {
    if (movedTo !== undefined) return this.#move(paired, movedTo)
    this.#poll = { state: 'unauthorized' }
    this.#stop.abort()
  }

  async #follow(chat: number, movedTo: number): Promise<void> {
    const lane = this.#laneOf(chat)
    if (lane !== undefined) await this.#move(lane.pairing, movedTo)
  }

  async #move(paired: PairedChat, moved_to: number): Promise<void> {
    await this.#change(paired, (now) => ({ ...now, moved_to }))
  }

  /** Changes a pairing as it is stored now. */
  async #change(
    { chat, paired_at }: PairedChat,
    change: (now: PairedChat) => PairedChat,
  ): Promise<Result<void>> {
    const isOurs = (one: PairedChat) => one.chat === chat && one.paired_at === paired_at
    const stored = await changeChats(this.#parts, (chats) =>
      chats.map((one) => (isOurs(one) ? change(one) : one)),
    )
    if (!stored.ok) return stored
    const changed = stored.value.find(isOurs)
    if (changed !== undefined) this.#lanes.get(chat)?.update(changed)
    return ok(undefined)
  }
}

function isUnanswered({ code }: BotFailure): boolean {
  return code === 0 || code >= 500
}
