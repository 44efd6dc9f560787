import type { HawserParts } from './hawser.ts'
import type { McpHandler } from './serve-http.ts'

/** Serves the Instances of a server over MCP. Loaded with the first request: most servers never get one. */
export function lazyMcpHandler(parts: HawserParts): McpHandler {
  let loaded: Promise<McpHandler> | undefined
  const load = async () => {
    const [{ serveMcpHttp }, { hawserMcp }] = await Promise.all([
      import('./serve-http.ts'),
      import('./hawser.ts'),
    ])
    return serveMcpHttp(hawserMcp(parts))
  }
  return {
    fetch: async (request) => (await (loaded ??= load())).fetch(request),
    close: async () => (await loaded)?.close(),
  }
}
