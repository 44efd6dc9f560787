import type { Clock } from '../../host/clock.ts'
import { inOrder } from '../../host/in-order.ts'
import { LIMITS } from '../../model/limits.ts'
import type { Message } from './protocol.ts'

/** Telegram sends an album as one update an image, usually all at once. */
const QUIET_MS = 1_000
const LONGEST_MS = 5_000

interface OpenAlbum {
  readonly author: string
  readonly add: (message: Message) => void
  readonly close: () => void
  readonly completion: Promise<void>
}

/**
 * Messages in the order of their chat, with the parts of an album as one. An album ends when its author sends something else, or
 * nothing of it came for a moment.
 */
export class Albums {
  readonly #clock: Clock
  readonly #signal: AbortSignal
  readonly #open = new Map<string, OpenAlbum>()
  readonly #orders = new Map<number, ReturnType<typeof inOrder>>()

  constructor(clock: Clock, signal: AbortSignal) {
    this.#clock = clock
    this.#signal = signal
  }

  /** Resolves when the message was handled, alone or with its album. Not handled at all if the signal is aborted before. */
  take(message: Message, handle: (messages: readonly Message[]) => Promise<void>): Promise<void> {
    const { chat, media_group_id } = message
    const author = authorOf(message)
    const key = media_group_id === undefined ? undefined : albumKey(author, media_group_id)
    for (const [name, album] of this.#open)
      if (album.author === author && name !== key) album.close()
    if (key === undefined) return this.#orderOf(chat.id)(() => handle([message]))
    const open = this.#open.get(key) ?? this.#begin(key, { chat: chat.id, author }, handle)
    open.add(message)
    return open.completion
  }

  #begin(
    key: string,
    { chat, author }: { readonly chat: number; readonly author: string },
    handle: (messages: readonly Message[]) => Promise<void>,
  ): OpenAlbum {
    const parts: Message[] = []
    let cancelQuiet: (() => void) | undefined
    let settle: (() => void) | undefined
    const closed = new Promise<void>((resolve) => {
      settle = resolve
    })
    const close = () => {
      cancelQuiet?.()
      cancelLongest()
      this.#signal.removeEventListener('abort', close)
      this.#open.delete(key)
      settle?.()
    }
    const cancelLongest = this.#clock.after(LONGEST_MS, close)
    this.#signal.addEventListener('abort', close)
    const add = (message: Message) => {
      // Enough to know that there are too many.
      if (parts.length <= MOST_PARTS) parts.push(message)
      cancelQuiet?.()
      cancelQuiet = this.#clock.after(QUIET_MS, close)
    }
    const completion = this.#orderOf(chat)(async () => {
      await closed
      if (this.#signal.aborted) return
      await handle(parts.toSorted((a, b) => a.message_id - b.message_id))
    })
    const album = { author, add, close, completion }
    this.#open.set(key, album)
    return album
  }

  #orderOf(chat: number): ReturnType<typeof inOrder> {
    const order = this.#orders.get(chat) ?? inOrder()
    this.#orders.set(chat, order)
    return order
  }
}

const MOST_PARTS = 10

/** A person in a chat. */
function authorOf({ chat, from, sender_chat }: Message): string {
  return `${chat.id} ${sender_chat?.id ?? from?.id}`
}

/** Only the author of an album adds to it. */
function albumKey(author: string, group: string): string {
  return `${author} ${group.slice(0, LIMITS.tether_address_bytes)}`
}
