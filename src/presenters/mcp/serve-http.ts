import { createMcpHandler } from '@modelcontextprotocol/server'
import type { Ids } from '../../host/ids.ts'
import { LIMITS } from '../../model/limits.ts'
import { RunningCalls } from './running-calls.ts'
import { mcpServer, type McpParts } from './server.ts'

/** Serves MCP over HTTP. The caller has checked token, Host and Origin. */
export interface McpHandler {
  readonly fetch: (request: Request) => Promise<Response>
  /** Ends every call that is running. */
  readonly close: () => Promise<void>
}

export interface HttpParts extends McpParts {
  readonly ids: Pick<Ids, 'request'>
}

/**
 * Each request has a separate server: nothing but the calls that run is kept between requests. A call ends when its client
 * disconnects or cancels it.
 */
export function serveMcpHttp(parts: HttpParts): McpHandler {
  const ending = new AbortController()
  const calls = new RunningCalls()
  const served = { ...parts, ending: ending.signal }
  const handler = createMcpHandler(
    ({ requestInfo }) => {
      const session = requestInfo?.headers.get(SESSION)
      return mcpServer({ ...served, calls: session ? calls.of(session) : undefined })
    },
    { maxRequestBodySize: LIMITS.mcp_message_bytes },
  )
  return {
    fetch: async (request) => {
      const response = await handler.fetch(request)
      if (needsSession(request) && response.ok) response.headers.set(SESSION, parts.ids.request())
      return response
    },
    close: async () => {
      ending.abort()
      await handler.close()
    },
  }
}

const SESSION = 'mcp-session-id'
/** The first revision in which a client cancels a call by closing its connection. */
const WITHOUT_SESSIONS = '2026-07-28'

/** Earlier clients cancel a call by another request, which needs a session: the ids of calls are unique in one only. */
function needsSession({ headers }: Request): boolean {
  const revision = headers.get('mcp-protocol-version') ?? ''
  return revision < WITHOUT_SESSIONS && !headers.has(SESSION)
}
