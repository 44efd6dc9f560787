import { LIMITS } from '../../../model/limits.ts'
import type { LiveFrame } from '../../../tether/frames/frame-log.ts'
import { liveResponse, type LiveOutput, type StreamMessage } from '../exchange/live-response.ts'
import { route } from '../exchange/route.ts'
import { PollQuery, SentFrame, StreamQuery } from './protocol.ts'
import { NO_PARAMETERS, parameters, type TetherParts } from './tether-parts.ts'

/** Sends frames to an Instance, and reads them: in pages, or as they come. */
export const FRAME_ROUTES = [
  route('POST /v1/instances/:id/tether', {
    ...NO_PARAMETERS,
    summary: 'Sends a frame. It is durable when the response arrives; the same `msg_id` runs once.',
    body: SentFrame,
    limit: LIMITS.frame_bytes,
    answer: 'AcceptedFrame',
    status: 202,
    handle: ({ tether }: TetherParts, { context, body }) =>
      tether.send(context.req.param('id'), body),
  }),
  route('GET /v1/instances/:id/tether/poll', {
    summary: 'A page of frames. With `wait_ms`, waits for the first one.',
    query: PollQuery,
    parameters,
    answer: 'FramePage',
    handle: ({ tether }: TetherParts, { context, query: { wait_ms: waitMs = 0, ...asked } }) => {
      // A client that disconnects frees its place at once.
      const { signal } = context.req.raw
      return tether.poll(context.req.param('id'), asked, { waitMs, signal })
    },
  }),
  route('GET /v1/instances/:id/tether/stream', {
    summary: 'Streams the frames above a number, then each one as it comes.',
    query: StreamQuery,
    parameters,
    resumes: true,
    answer: 'events',
    handle: async (parts: TetherParts, { context, query: { after_seq, ...filter } }) => {
      const stop = new AbortController()
      const id = context.req.param('id')
      const followed = await parts.tether.follow(id, after_seq, filter, stop.signal)
      if (!followed.ok) return followed
      const { signal } = context.req.raw
      return liveResponse(parts, { signal, onDisconnect: () => stop.abort() }, async (output) => {
        try {
          await sendFrames(output, followed.value)
        } finally {
          stop.abort()
        }
      })
    },
  }),
]

/** As fast as the client reads: nothing is queued for it, because its position is a number. */
async function sendFrames(
  output: LiveOutput,
  frames: AsyncGenerator<LiveFrame, void, void>,
): Promise<void> {
  for await (const frame of frames) {
    output.send([messageOf(frame)])
    await output.room()
    if (output.signal.aborted) return
  }
}

/** The `id` of each message is the number up to which its reader has everything that there is. */
function messageOf(live: LiveFrame): StreamMessage {
  switch (live.kind) {
    case 'frame':
      return { event: 'frame', data: live.frame, id: live.frame.seq }
    case 'missing': {
      const { what, after_seq, through_seq } = live
      return { event: 'missing', data: { what, after_seq, through_seq }, id: through_seq }
    }
    case 'failed': {
      const { kind, message, details } = live.failure.error
      return { event: 'stream:error', data: { kind, message, details } }
    }
  }
}
