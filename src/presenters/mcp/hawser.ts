import type { McpParts } from './server.ts'
import { instanceTools } from './instance-tools.ts'
import { messageTools } from './message-tools.ts'
import type { ToolParts } from './tool.ts'

export interface HawserParts
  extends ToolParts, Pick<McpParts, 'version' | 'onDefect' | 'redactor'> {}

/** What Hawser serves over MCP, on every transport. */
export function hawserMcp(parts: HawserParts): McpParts & Pick<HawserParts, 'ids'> {
  const { version, onDefect, redactor, ids } = parts
  return {
    version,
    onDefect,
    redactor,
    ids,
    instructions: INSTRUCTIONS,
    tools: [...messageTools(parts), ...instanceTools(parts)],
  }
}

/** What a model reads about the server before it sees any tool. */
export const INSTRUCTIONS = `Hawser runs agents as Instances. An Instance is an agent with its own sandboxed process and workspace folder. It sleeps at no cost until a message arrives, works on it in the background, and keeps its conversations across restarts.

To delegate work:
1. instance_list shows the Instances; instance_create makes one. Names are stable: remember the handle.
2. tether_send stores a message and returns at once with msg_id and ingress_seq. It wakes the Instance.
3. tether_read with after_seq = ingress_seq and reply_to_msg_id = msg_id waits for the answer. If timed_out is true, the agent is still working: read again with after_seq = next_seq. Every message ends in exactly one assistant.done or error frame.

Cursors and handles stay valid when you, the host or the server restart. An image in an answer follows the text of the result, in order.`
