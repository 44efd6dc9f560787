import type { PageCodes } from '../../host/server/page-codes.ts'
import type { StagedFiles } from '../../host/server/staged-files.ts'
import type { Redactor } from '../../encoding/redaction.ts'
import type { Clock } from '../../host/clock.ts'
import type { ModelRow } from '../../model/model-facts.ts'
import type { Result } from '../../model/errors.ts'
import type { Tether } from '../../tether/tether.ts'
import type { SettledQuestions } from './settled-questions.ts'
import type { Workspaces } from '../../session/workspace/open-workspaces.ts'

/** What the routes need. */
export interface ServerParts {
  readonly token: string
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
  readonly stagedFiles: StagedFiles
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
