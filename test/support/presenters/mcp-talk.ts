import type { CallResult, McpClient } from './mcp-clients.ts'

/** Anything that calls tools: an SDK that is connected, or a program that is started for each call. */
export type ToolCaller = Pick<McpClient, 'call'>

interface Page {
  readonly frames: readonly {
    readonly type: string
    readonly seq: number
    readonly payload: Readonly<Record<string, unknown>>
  }[]
  readonly next_seq: number
  readonly timed_out: boolean
}

export interface McpMessage {
  readonly text: string
  readonly images?: readonly object[]
  readonly session_id?: string
}

/** The send/read loop as `docs/mcp.md` describes it. Resolves to the read that has the end of the message. */
export async function ask(
  client: ToolCaller,
  instance: string,
  message: McpMessage,
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
