import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { LineTransport, type LineTransportParts } from './line-transport.ts'
import { mcpServer, type McpParts } from './server.ts'

export interface StdioParts extends McpParts, Omit<LineTransportParts, 'onEnding'> {
  /** Ends the connection as the end of the input does. */
  readonly stop: Promise<void>
}

/** Serves MCP on the standard streams. Resolves when the host closed its end, or after `stop`. */
export async function serveMcp(parts: StdioParts): Promise<void> {
  const { streams, clock, stop } = parts
  const ending = new AbortController()
  const transport = new LineTransport({ streams, clock, onEnding: () => ending.abort() })
  const served = { ...parts, ending: ending.signal }
  const server = serveStdio(() => mcpServer(served), { transport })
  void stop.then(() => transport.end())
  await transport.closed
  await server.close()
  streams.release()
}
