import type { Clock } from '../../host/clock.ts'
import type { Folder } from '../../host/files/files.ts'
import type { Ids } from '../../host/ids.ts'
import type { Fetch } from '../../host/net/http.ts'
import type { Tether } from '../../tether/tether.ts'
import type { UnpairedChat } from './pairing-codes.ts'
import type { PollState } from './updates.ts'

/** The world of the gateway; the composition root creates it. */
export interface GatewayWorld {
  readonly home: Folder
  readonly tether: Tether
  readonly clock: Clock
  readonly ids: Ids
  readonly fetch: Fetch
  /** 43 random characters. */
  readonly secret: () => string
  /** Writes a line into the log of the server. */
  readonly note: (entry: Readonly<Record<string, unknown>>) => void
  readonly onDefect: (error: unknown) => void
}

/** `off`: no bot is connected. `stale`: its token belongs to another server. */
export type GatewayState = BotState | { readonly state: 'off' | 'stale' | 'unreadable' }

/** The gateway to Telegram in a running server. Does nothing while no bot is connected. */
export interface TelegramGateway {
  state(): GatewayState
  /** The chat that shows a code. */
  find(code: string): UnpairedChat | undefined
  /** Reads what was stored again: connects, disconnects, begins and ends with chats. Resolves when it is in force. */
  reload(): Promise<void>
  /** Stops receiving and sending. What was not finished is finished after the next start. */
  close(): Promise<void>
}

/** A connected bot and its chats, for programs. */
export interface BotState {
  readonly state: PollState
  /** The code of the last failure, while there is one. */
  readonly code?: number
  readonly network?: string
  readonly chats: readonly {
    readonly chat: number
    readonly is_parked: boolean
    /** Answers that were not sent yet. */
    readonly waiting: number
  }[]
}
