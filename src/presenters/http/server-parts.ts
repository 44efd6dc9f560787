import type { AppFiles } from '../../host/server/app-files.ts'
import type { PageCodes } from '../../host/server/page-codes.ts'
import type { StagedFiles } from '../../host/server/staged-files.ts'
import type { Redactor } from '../../encoding/redaction.ts'
import type { Clock } from '../../host/clock.ts'
import type { ModelRow } from '../../model/model-facts.ts'
import type { KeptValues } from '../../host/server/kept-values.ts'
import type { Result } from '../../model/errors.ts'
import type { SessionId } from '../../model/ids.ts'
import type { MessageDraft, WaitingMessage } from '../../model/messages/message-draft.ts'
import type { LastOutcomes } from '../../session/queries/turn-outcomes.ts'
import type { Tether } from '../../tether/tether.ts'
import type { RecentKeys } from './exchange/recent-keys.ts'
import type { SettledQuestions } from './exchange/settled-questions.ts'
import type { Workspaces } from '../../session/workspace/open-workspaces.ts'

/** What the routes need. */
export interface ServerParts {
  readonly token: string
  /** The app for browsers. */
  readonly app: AppFiles
  /** For its page. */
  readonly codes: PageCodes
  /** What the command line of this home proves itself with. */
  readonly control: string
  /** Called when the command line asks the server to stop. Returns at once. */
  readonly onStop: () => void
  readonly workspaces: Workspaces
  /** Serves MCP. */
  readonly mcp: McpRoute
  readonly telegram: ChatGateway
  readonly settledQuestions: SettledQuestions
  /** Of texts that were added to running Turns, which end with this process. */
  readonly steeredKeys: RecentKeys
  readonly stagedFiles: StagedFiles
  /** What people typed into Sessions and did not send, by Session. */
  readonly drafts: KeptValues<MessageDraft>
  readonly queues: MessageQueues
  readonly outcomes: LastOutcomes
  readonly tether: Tether
  readonly clock: Clock
  readonly env: Readonly<Record<string, string | undefined>>
  /** Of the keys of this process, for JSON text. Nothing leaves without it, except attached originals. */
  readonly redactor: Redactor
  /** The model catalogue with the settings of the user, read now. */
  readonly models: () => Promise<Result<ServedModels>>
  /** Called once for each request, when its response is ready. Never throws. */
  readonly onRequest: (served: ServedRequest) => void
  /** Called for a defect after the response has begun. Never throws. */
  readonly onDefect: (error: unknown) => void
}

/**
 * The messages that wait in each Session. The server sends the first one when no Turn runs there, also after a restart: a
 * message is removed only when its Turn is in the Log, and its key keeps it from running twice.
 */
export interface MessageQueues {
  list(id: SessionId): Promise<Result<WaitingMessages>>
  /** A message whose key already waits replaces nothing. `backpressure` if too many wait. */
  add(id: SessionId, message: WaitingMessage): Promise<Result<WaitingMessages>>
  /** `not_found` once the message was sent. */
  change(id: SessionId, key: string, change: MessageChange): Promise<Result<WaitingMessages>>
  /** Returns the message, so that it can be edited as a draft. */
  remove(id: SessionId, key: string): Promise<Result<{ readonly message: WaitingMessage }>>
  /** The keys must be those that wait. */
  order(id: SessionId, keys: readonly string[]): Promise<Result<WaitingMessages>>
  /** The Session is gone. */
  forget(id: SessionId): Promise<void>
  /** Sends what waited when the server stopped. */
  resume(): Promise<void>
  /** Sends nothing any more. What waits stays. */
  close(): void
}

export type MessageChange = {
  readonly [Field in Exclude<keyof WaitingMessage, 'messageKey' | 'refused'>]?:
    | WaitingMessage[Field]
    | undefined
}

export interface WaitingMessages {
  readonly queue: readonly WaitingMessage[]
}

/** What serves MCP at `/mcp`, behind the same checks as every route. */
export interface McpRoute {
  readonly fetch: (request: Request) => Promise<Response>
  /** Ends what is running. */
  readonly close: () => Promise<void>
}

/** What connects chats of a messenger with Instances. */
export interface ChatGateway {
  /** As JSON, for the command line. */
  readonly state: () => object
  /** The chat that shows a code, as JSON. */
  readonly find: (code: string) => object | undefined
  /** Applies what was stored. */
  readonly reload: () => Promise<void>
  readonly close: () => Promise<void>
}

export interface ServedModels {
  /** The day the figures were looked up, such as 2026-01-31. */
  readonly asOf: string
  readonly models: readonly ModelRow[]
  /** What the names of sources refer to. */
  readonly references: Readonly<Record<string, string>>
}

/** One request, for the log. Without its query, which may contain names of files. */
export interface ServedRequest {
  readonly request_id: string
  readonly method: string
  readonly path: string
  readonly status: number
  readonly duration_ms: number
  /** The kind of the error, or where a defect was thrown. */
  readonly error?: string
}
