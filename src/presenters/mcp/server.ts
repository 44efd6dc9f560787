import { McpServer, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'
import type { Redactor } from '../../encoding/redaction.ts'
import { failed } from '../../model/errors.ts'
import { watchOutgoing } from './outgoing.ts'
import type { SessionCalls } from './running-calls.ts'
import type { ServedTool, CallContext } from './tool.ts'
import { failureResult } from './translate.ts'

/** What is served, on any transport. */
export interface McpParts {
  readonly version: string
  readonly instructions: string
  readonly tools: readonly ServedTool[]
  /** Of the keys of this process. */
  readonly redactor: Redactor
  /** Called for a defect of a tool. Never throws. */
  readonly onDefect: (error: unknown) => void
}

const DAY_MS = 24 * 60 * 60 * 1000
/** The tools are the same for every client, as long as this version runs. */
const FIXED = { ttlMs: DAY_MS, cacheScope: 'public' } as const

interface ServerParts extends McpParts, Pick<CallContext, 'ending'> {
  /** If calls are cancelled by other requests than theirs. */
  readonly calls?: SessionCalls | undefined
}

/** A server for one connection, or for one request over HTTP. Speaks every revision of the protocol that the SDK speaks. */
export function mcpServer(parts: ServerParts): McpServer {
  const { version, instructions, tools, ending, calls } = parts
  const mcp = new McpServer(
    { name: 'hawser', title: 'Hawser', version },
    { instructions, cacheHints: { 'tools/list': FIXED, 'server/discover': FIXED } },
  )
  watchOutgoing(mcp, parts.redactor)
  const byName = new Map(tools.map((tool) => [tool.definition.name, tool]))
  mcp.server.registerCapabilities({ tools: {} })
  mcp.server.setRequestHandler('tools/list', () => ({
    tools: tools.map(({ definition }) => definition),
  }))
  mcp.server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
    const tool = byName.get(params.name)
    if (tool === undefined)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Tool ${params.name} not found`)
    const token = mcpReq._meta?.progressToken
    const progress: CallContext['progress'] = (reported) => {
      if (token === undefined) return
      const notification = { ...reported, progressToken: token }
      mcpReq.notify({ method: 'notifications/progress', params: notification }).catch(() => {})
    }
    const run = async (signal: AbortSignal) => {
      try {
        return await tool.call(params.arguments, { signal, ending, progress })
      } catch (error) {
        parts.onDefect(error)
        return failureResult(DEFECT)
      }
    }
    const { id, signal } = mcpReq
    if (calls === undefined) return run(signal)
    return calls.run(id, (cancelled) => run(AbortSignal.any([signal, cancelled])))
  })
  if (calls !== undefined)
    mcp.server.setNotificationHandler('notifications/cancelled', ({ params }) => {
      if (params.requestId !== undefined) calls.cancel(params.requestId)
    })
  return mcp
}

const { error: DEFECT } = failed('internal', 'An unexpected error. The log of the server has it.')
