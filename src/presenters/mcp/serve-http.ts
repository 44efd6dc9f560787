import { createMcpHandler } from '@modelcontextprotocol/server'
import { LIMITS } from '../../model/limits.ts'
import { mcpServer, type McpParts } from './server.ts'

/** Serves MCP over HTTP. Whoever calls it has checked token, Host and Origin. */
export interface McpHandler {
  readonly fetch: (request: Request) => Promise<Response>
  /** Ends every call that is running. */
  readonly close: () => Promise<void>
}

/** Each request has a separate server: nothing is kept between requests. A call ends when its client disconnects. */
export function serveMcpHttp(parts: McpParts): McpHandler {
  const ending = new AbortController()
  const served = { ...parts, ending: ending.signal }
  const handler = createMcpHandler(() => mcpServer(served), {
    maxRequestBodySize: LIMITS.mcp_message_bytes,
  })
  return {
    fetch: (request) => handler.fetch(request),
    close: async () => {
      ending.abort()
      await handler.close()
    },
  }
}
