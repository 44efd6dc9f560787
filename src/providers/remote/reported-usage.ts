import * as z from 'zod'
import { isJsonObject } from '../../encoding/json.ts'
import { ChatUsage, usageOf as chatUsage } from '../chat/usage.ts'
import type { RemoteDialect } from '../endpoints.ts'
import { laterUsage, MessagesUsage, usageOf as messagesUsage } from '../messages/usage.ts'
import type { CallUsage } from '../provider.ts'
import { ResponsesUsage, usageOf as responsesUsage } from '../responses/usage.ts'

/** The usage that an answer reports, without regard to its content: a broken answer costs as much as a valid one. */
export interface UsageReader {
  /** Takes one JSON value of the answer: the data of an event, or a whole body. */
  take(value: unknown): void
  /** The last figures reported; `final` if no later ones are expected. */
  readonly lastReport: { readonly usage: CallUsage; readonly final: boolean } | undefined
}

export function usageReader(dialect: RemoteDialect): UsageReader {
  return new ReportedUsage(PLACES[dialect])
}

/** Where a dialect reports usage, and how a report changes what is known. */
interface Places {
  /** The member whose `usage` counts. Without one, the `usage` of the value itself counts. */
  readonly inside: readonly { readonly member?: string; readonly final: boolean }[]
  readonly read: (before: unknown, reported: unknown) => Figures | undefined
}

interface Figures {
  /** In the words of the vendor. */
  readonly raw: unknown
  readonly usage: CallUsage
}

const WHOLE = { final: true } as const

const PLACES: Readonly<Record<RemoteDialect, Places>> = {
  messages: {
    inside: [{ member: 'message', final: false }, WHOLE],
    read: (before, reported) => {
      const known = z.safeParse(MessagesUsage, before).data ?? {}
      const read = z.safeParse(MessagesUsage, reported)
      if (!read.success) return undefined
      const raw = laterUsage(known, read.data)
      return { raw, usage: messagesUsage(raw) }
    },
  },
  responses: {
    inside: [{ member: 'response', final: true }, WHOLE],
    read: (_before, reported) => {
      const read = z.safeParse(ResponsesUsage, reported)
      return read.success ? { raw: read.data, usage: responsesUsage(read.data) } : undefined
    },
  },
  chat: {
    inside: [WHOLE],
    read: (_before, reported) => {
      const read = z.safeParse(ChatUsage, reported)
      return read.success ? { raw: read.data, usage: chatUsage(read.data) } : undefined
    },
  },
}

class ReportedUsage implements UsageReader {
  readonly #places: Places
  #figures: Figures | undefined
  #final = false

  constructor(places: Places) {
    this.#places = places
  }

  get lastReport(): UsageReader['lastReport'] {
    return this.#figures && { usage: this.#figures.usage, final: this.#final }
  }

  take(value: unknown): void {
    for (const { member, final } of this.#places.inside) {
      const holder = member !== undefined && isJsonObject(value) ? value[member] : value
      const reported = isJsonObject(holder) ? holder['usage'] : undefined
      if (!isJsonObject(reported)) continue
      const figures = this.#places.read(this.#figures?.raw, reported)
      if (figures === undefined) continue
      this.#figures = figures
      this.#final ||= final
    }
  }
}
