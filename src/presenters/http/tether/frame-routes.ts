import { Hono } from 'hono'
import { LIMITS } from '../../../model/limits.ts'
import type { LiveFrame } from '../../../tether/frames/frame-log.ts'
import { answerFailure, type RequestVariables } from '../exchange/answer.ts'
import { liveResponse, type LiveOutput, type StreamMessage } from '../exchange/live-response.ts'
import { jsonBody } from '../exchange/request-body.ts'
import { NoQuery, PollQuery, SentFrame, StreamQuery } from './protocol.ts'
import { answerTether, queryOf, type TetherParts } from './tether-parts.ts'

/** Sends frames to an Instance, and reads them: in pages, or as they come. */
export function frameRoutes(parts: TetherParts): Hono<RequestVariables> {
  const { tether } = parts
  const routes = new Hono<RequestVariables>()
  routes.post('/instances/:id/tether', async (context) => {
    const query = queryOf(context, NoQuery)
    if (!query.ok) return answerFailure(context, query.error)
    const frame = await jsonBody(context.req.raw, SentFrame, LIMITS.frame_bytes)
    if (!frame.ok) return answerFailure(context, frame.error)
    return answerTether(context, await tether.send(context.req.param('id'), frame.value), 202)
  })
  routes.get('/instances/:id/tether/poll', async (context) => {
    const query = queryOf(context, PollQuery)
    if (!query.ok) return answerFailure(context, query.error)
    const { wait_ms: waitMs = 0, ...asked } = query.value
    // A client that disconnects frees its place at once.
    const { signal } = context.req.raw
    return answerTether(
      context,
      await tether.poll(context.req.param('id'), asked, { waitMs, signal }),
    )
  })
  routes.get('/instances/:id/tether/stream', async (context) => {
    // A client that reconnects by itself repeats its first query, and knows more than that.
    const last = context.req.header('last-event-id')
    const query = queryOf(context, StreamQuery, last === undefined ? {} : { after_seq: last })
    if (!query.ok) return answerFailure(context, query.error)
    const { after_seq, ...filter } = query.value
    const stop = new AbortController()
    const id = context.req.param('id')
    const followed = await tether.follow(id, after_seq, filter, stop.signal)
    if (!followed.ok) return answerFailure(context, followed.error)
    const { signal } = context.req.raw
    return liveResponse(parts, { signal, disconnected: () => stop.abort() }, async (output) => {
      try {
        await sendFrames(output, followed.value)
      } finally {
        stop.abort()
      }
    })
  })
  return routes
}

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
