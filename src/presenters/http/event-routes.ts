import { Hono } from 'hono'
import { resourcesOf, sinceLastTurn } from '../../history/results/turn-notices.ts'
import { answerFailure, answerResult, type RequestVariables } from './exchange/answer.ts'
import { attachSession, type AttachedSession } from './attached-session.ts'
import { liveResponse, type LiveOutput } from './exchange/live-response.ts'
import { EventsQuery } from './protocol.ts'
import { checkValue } from './exchange/request-body.ts'
import type { ServerParts } from './server-parts.ts'
import { UpdateTranslation, waitingMessages } from './translate-updates.ts'
import { startAfter, type StreamStart } from './translation-start.ts'

/** Streams everything that happens in a Session, from any Event on. */
export function eventRoutes(parts: ServerParts): Hono<RequestVariables> {
  const routes = new Hono<RequestVariables>()
  routes.get('/session/:id/events', async (context) => {
    const { after_seq: asked } = context.req.query()
    // A client that reconnects by itself repeats its first query, and knows more than that.
    const after_seq = context.req.header('last-event-id') ?? asked
    const query = checkValue(EventsQuery, after_seq === undefined ? {} : { after_seq })
    if (!query.ok) return answerFailure(context, query.error)
    const attached = await attachSession(parts, context.req.param('id'), { answers: true })
    if (!attached.ok) return answerResult(context, attached)
    const start = await startAfter(attached.value, query.value.after_seq)
    if (!start.ok) {
      await attached.value.leave()
      return answerFailure(context, start.error)
    }
    const { session: watched } = attached.value
    const waiting = () => waitingMessages(watched.questions)
    return liveResponse(parts, { signal: context.req.raw.signal, waiting }, async (output) => {
      try {
        await sendUpdates(output, attached.value, start.value)
      } finally {
        await attached.value.leave()
      }
    })
  })
  return routes
}

/** Past Events are sent as fast as the client reads; what happens now cannot wait for it. */
async function sendUpdates(
  output: LiveOutput,
  { session }: AttachedSession,
  { seq, ...model }: StreamStart,
): Promise<void> {
  const replayed = session.nextSeq
  const translation = new UpdateTranslation({
    ...model,
    known: sinceLastTurn(session.events, seq),
    resourceOf: resourcesOf(() => session.events),
  })
  for await (const update of session.stream({ after_seq: seq - 1, signal: output.signal })) {
    output.send(translation.messages(update))
    if (update.kind === 'event' && update.raw.seq < replayed) await output.room()
  }
}
