import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { CANARY_KEY } from './canary.ts'
import { freshFolder } from './folder.ts'
import { guestProgram } from './guest-bundle.ts'
import { localServer, type LocalServer } from './local-server.ts'
import type { CallResult, McpClient } from './mcp-clients.ts'
import { openRehearsal, type RehearsalVendor } from './rehearsal-server.ts'

/** A local server with real guests, whose model is a vendor's server on this machine. */
export interface McpPlace extends LocalServer {
  readonly vendor: RehearsalVendor
  /** Creates a folder that programs may choose as a workspace. */
  readonly workspaceOf: (name: string) => Promise<string>
}

export async function mcpPlace(): Promise<McpPlace> {
  const root = await freshFolder()
  const vendor = await openRehearsal()
  await allowWorkspaces(root)
  const env = {
    ANTHROPIC_API_KEY: CANARY_KEY,
    ANTHROPIC_BASE_URL: vendor.baseUrl('messages'),
    HAWSER_PROVIDER: 'anthropic',
  }
  const server = await localServer({ root, env, program: await guestProgram() })
  const workspaceOf = async (name: string) => {
    const path = join(root, 'works', name)
    await mkdir(path, { recursive: true })
    return path
  }
  return { ...server, vendor, workspaceOf }
}

/** Settings with which programs may choose workspaces below `works`. */
export async function allowWorkspaces(root: string): Promise<void> {
  const works = join(root, 'works')
  for (const path of [works, join(root, 'home')]) await mkdir(path, { mode: 0o700 })
  await writeFile(
    join(root, 'home', 'config.json'),
    JSON.stringify({ instances: { roots: [works] } }),
    { mode: 0o600 },
  )
}

interface Page {
  readonly frames: readonly {
    readonly type: string
    readonly seq: number
    readonly payload: Readonly<Record<string, unknown>>
  }[]
  readonly next_seq: number
  readonly timed_out: boolean
}

/** The send/read loop as `docs/mcp.md` describes it. Resolves to the read that has the end of the message. */
export async function ask(
  client: McpClient,
  instance: string,
  message: { readonly text: string; readonly images?: readonly object[]; session_id?: string },
): Promise<CallResult & { readonly page: Page }> {
  const sent = await client.call('tether_send', { instance, ...message })
  if (sent.isError === true) throw new Error(JSON.stringify(sent.structuredContent))
  const { msg_id, ingress_seq, session_id } = sent.structuredContent
  for (let after_seq = ingress_seq; ;) {
    const read = await client.call('tether_read', {
      instance,
      session_id,
      after_seq,
      reply_to_msg_id: msg_id,
      wait_ms: 30_000,
    })
    const page = read.structuredContent as unknown as Page
    if (read.isError === true) throw new Error(JSON.stringify(read.structuredContent))
    if (page.frames.length > 0) return { ...read, page }
    after_seq = page.next_seq
  }
}

export function kindOf({ isError, structuredContent }: CallResult): unknown {
  const error = structuredContent['error'] as { readonly kind: string } | undefined
  return isError === true ? error?.kind : undefined
}
