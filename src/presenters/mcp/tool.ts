import type { CallToolResult, ContentBlock, Tool } from '@modelcontextprotocol/server'
import type { Clock } from '../../host/clock.ts'
import type { Ids } from '../../host/ids.ts'
import type { Tether } from '../../tether/tether.ts'

/** What the tools work with. */
export interface ToolParts {
  readonly tether: Tether
  readonly clock: Clock
  readonly ids: Pick<Ids, 'request'>
}

/** The answer of a tool. */
export type CallResult = CallToolResult
export type ToolContent = ContentBlock

/** A tool as clients see it, and what it does. */
export interface ServedTool {
  readonly definition: Tool
  /** Checks its arguments itself. Expected failures are results with `isError`. */
  call(args: unknown, context: CallContext): Promise<CallResult>
}

/** One call of a tool. */
export interface CallContext {
  /** Aborts when the client cancelled the call or is gone. */
  readonly signal: AbortSignal
  /** Aborts when the program is about to end: a call should return what it has instead of waiting for more. */
  readonly ending: AbortSignal
  /** Reports progress to a client that asked for it. Never throws. */
  readonly progress: (progress: ToolProgress) => void
}

export interface ToolProgress {
  readonly progress: number
  readonly total?: number
  readonly message?: string
}
