/** What a model reads about the server before it sees any tool. */
export const INSTRUCTIONS = `Hawser runs agents as Instances. An Instance is an agent with its own sandboxed process and workspace folder. It sleeps at no cost until a message arrives, works on it in the background, and keeps its conversations across restarts.

To delegate work:
1. instance_list shows the Instances; instance_create makes one. Names are stable: remember the handle.
2. tether_send stores a message and returns at once with msg_id and ingress_seq. It wakes the Instance.
3. tether_read with after_seq = ingress_seq and reply_to_msg_id = msg_id waits for the answer. If timed_out is true, the agent is still working: read again with after_seq = next_seq. Every message ends in exactly one assistant.done or error frame.

Cursors and handles stay valid when you, the host or the server restart. An image in an answer follows the text of the result, in order.`

interface ToolWords {
  readonly title: string
  readonly description: string
  readonly annotations: {
    readonly readOnlyHint: boolean
    readonly destructiveHint: boolean
    readonly idempotentHint: boolean
    readonly openWorldHint: boolean
  }
}

const READS = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
} as const

/** The agent may change files of its workspace and call a model, so a message can do both. */
const ACTS = {
  readOnlyHint: false,
  destructiveHint: true,
  idempotentHint: false,
  openWorldHint: true,
} as const

export const TOOL_WORDS = {
  tether_send: {
    title: 'Send a message to an Instance',
    description: `Sends a message to the agent of an Instance, and wakes it if it sleeps. Returns as soon as the message is stored, without waiting for the agent: it cannot be lost from then on, and the answer is read with tether_read.

Messages of one session_id run one after the other; different session_ids are separate conversations. Up to 4 images (png, jpeg, gif, webp; 10 MiB each, 18 MiB together) can be sent as base64. If one of them is refused, nothing is sent.`,
    annotations: ACTS,
  },
  tether_read: {
    title: "Read an Instance's answers",
    description: `Waits for frames of an Instance and returns them: the answer to a message (assistant.done), or why there is none (error).

After tether_send, call it with after_seq = ingress_seq and reply_to_msg_id = msg_id. If timed_out is true, call it again with after_seq = next_seq; a task may take many such calls. The first content item is the page as JSON. Images of answers follow as image items, in the order of the frames; if you see none although a frame has images, open .hawser/blobs/<blob> in the workspace of the Instance. A page ends early before its images exceed 40 MiB: read on from next_seq. An answer with truncated = true is only the beginning of a long text.

Reading changes nothing, wakes nothing, and can be repeated with any cursor. If frames at the cursor are no longer kept, the error cursor_expired names the first one that is.`,
    annotations: READS,
  },
  instance_create: {
    title: 'Create an Instance',
    description:
      'Creates an Instance: a sandboxed agent with a name, a workspace folder and separate conversations. It is not started: the first message does that. Create one per task or project, and use it again by its handle.',
    annotations: { ...ACTS, destructiveHint: false, openWorldHint: false },
  },
  instance_list: {
    title: 'List Instances',
    description: 'Lists all Instances with their handles, states and workspaces. Wakes none.',
    annotations: READS,
  },
  instance_info: {
    title: 'Show an Instance',
    description:
      'Shows one Instance: its state, its workspace, how many messages have not ended, what it spent, and why it stopped if it failed. Does not wake it.',
    annotations: READS,
  },
  instance_start: {
    title: 'Start an Instance',
    description:
      'Starts an Instance now, and waits until it is ready. Not needed before a message, which starts it too; useful after an error wake_failed, once its cause is fixed.',
    annotations: { ...ACTS, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  },
  instance_stop: {
    title: 'Stop an Instance',
    description:
      'Stops an Instance. The message that it works on ends as interrupted; messages that wait stay stored. The next message, or instance_start, starts it again with all its conversations.',
    annotations: { ...ACTS, idempotentHint: true, openWorldHint: false },
  },
} as const satisfies Readonly<Record<string, ToolWords>>

export type ToolName = keyof typeof TOOL_WORDS
