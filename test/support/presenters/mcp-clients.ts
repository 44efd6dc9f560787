import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as OldStdio } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport as OldHttp } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { guestProgram } from '../cli/guest-bundle.ts'
import type { ServedPlace } from '../http/local-server.ts'

/** What a tool returned to a client. */
export interface CallResult {
  readonly isError?: boolean
  readonly content: readonly Readonly<Record<string, unknown>>[]
  readonly structuredContent: Readonly<Record<string, unknown>>
}

/** A client of another vendor, connected. */
export interface McpClient {
  call(name: string, args: object, options?: CallOptions): Promise<CallResult>
  readonly tools: () => Promise<readonly string[]>
  readonly close: () => Promise<void>
  /** Of `hawser mcp`, on stdio. */
  readonly pid: () => number | null
}

export interface CallOptions {
  readonly signal?: AbortSignal
  readonly onprogress?: (progress: { readonly progress: number }) => void
}

export const TRANSPORTS = ['stdio', 'HTTP'] as const
export type TransportName = (typeof TRANSPORTS)[number]

/** The current SDK in each way that it finds out which revision a server speaks, and the SDK before it. */
export type ClientName = 'v2 legacy' | 'v2 auto' | 'v2 pinned' | 'v1'

/** The default of the SDKs is less than one page with images. */
const MOST_BYTES = 96 * 1024 * 1024

const INFO = { name: 'test', version: '1' }
const MODES = {
  'v2 legacy': 'legacy',
  'v2 auto': 'auto',
  'v2 pinned': { pin: '2026-07-28' },
} as const

/** Connects a client to the home of a server that may run or not. It is closed at the end of the test. */
export async function mcpClient(
  name: ClientName,
  transport: TransportName,
  place: Pick<ServedPlace, 'root'> & Partial<Pick<ServedPlace, 'origin' | 'token'>>,
  env: Readonly<Record<string, string>> = {},
): Promise<McpClient> {
  const client = name === 'v1' ? await oldClient() : await newClient(name)
  onTestFinished(() => client.close())
  return client

  async function newClient(mode: keyof typeof MODES): Promise<McpClient> {
    const made = new Client(INFO, { versionNegotiation: { mode: MODES[mode] } })
    const stdio = new StdioClientTransport(await started())
    await made.connect(
      transport === 'stdio' ? stdio : new StreamableHTTPClientTransport(...address()),
    )
    return {
      call: async (tool, args, options) =>
        asCallResult(await made.callTool({ name: tool, arguments: { ...args } }, options)),
      tools: async () => (await made.listTools()).tools.map((tool) => tool.name),
      close: () => made.close(),
      pid: () => stdio.pid,
    }
  }

  async function oldClient(): Promise<McpClient> {
    const made = new OldClient(INFO)
    const stdio = new OldStdio(await started())
    const wire = transport === 'stdio' ? stdio : new OldHttp(...address())
    await made.connect(wire)
    return {
      call: async (tool, args, options) =>
        asCallResult(
          await made.callTool({ name: tool, arguments: { ...args } }, undefined, options),
        ),
      tools: async () => (await made.listTools()).tools.map((tool) => tool.name),
      close: () => made.close(),
      pid: () => stdio.pid,
    }
  }

  async function started() {
    const [command, ...args] = (await guestProgram()).argv
    const { root } = place
    return {
      command,
      args: [...args, 'mcp'],
      env: { PATH: process.env['PATH'] ?? '', HAWSER_HOME: join(root, 'home'), ...env },
      cwd: join(root, 'workspace'),
      stderr: 'inherit' as const,
      maxBufferSize: MOST_BYTES,
    }
  }

  function address() {
    const { origin = '', token = '' } = place
    const headers = { authorization: `Bearer ${token}` }
    return [new URL('/mcp', origin), { requestInit: { headers } }] as const
  }
}

function asCallResult(result: object): CallResult {
  return result as CallResult
}
