import type { EphemeralEvent, WholeEvent } from '../../../src/model/events/event.ts'
import type { MessageDraft, WaitingMessage } from '../../../src/model/messages/message-draft.ts'

/** What the server sends; see `docs/http.md`. */

export interface ApiSession {
  readonly sessionId: string
  readonly projectRoot: string
  readonly title: string
  readonly turns: number
  readonly provider: string
  readonly model: string
  readonly effort?: string
  readonly mode: string
  readonly permissionMode: string
  readonly parentSessionId?: string
  readonly updatedAt?: string
  readonly busy: boolean
  readonly turnOpen: boolean
  readonly foreign: boolean
  readonly damage?: { readonly message: string }
  readonly runsHere?: boolean
  readonly questions?: number
  readonly lastStatus?: string
}

export interface ApiWorkspace {
  readonly projectRoot: string
  readonly sessions: readonly ApiSession[]
  readonly problem?: string
}

/** A message that was sent and not acknowledged yet. */
export type SentMessage = MessageDraft['unconfirmed'][number]

/** A line of the Log; `event` has a shape that this version knows only if `known`. */
export type LogLine =
  | { readonly known: true; readonly event: WholeEvent }
  | { readonly known: false; readonly event: { readonly seq: number; readonly type: string } }

export interface Verdict {
  readonly accepted: boolean
  readonly code?: string
  readonly reason?: string
  readonly kind?: string
  readonly sizeBytes?: number
}

export interface Upload {
  readonly path: string
  readonly name: string
  readonly sizeBytes: number
  readonly mediaType: string
  readonly verdict: Verdict
}

export interface ApiModel {
  readonly provider: string
  readonly id: string
}

export interface ApiSkill {
  readonly name: string
  readonly description: string
  readonly trust: string
}

export type { EphemeralEvent, MessageDraft, WaitingMessage, WholeEvent }
