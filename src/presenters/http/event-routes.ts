import { resourcesOf, sinceLastTurn } from '../../history/results/turn-notices.ts'
import { ofSession, route } from './exchange/route.ts'
import { attachSession, type AttachedSession } from './attached-session.ts'
import { liveResponse, type LiveOutput } from './exchange/live-response.ts'
import { EventsQuery } from './protocol.ts'
import type { ServerParts } from './server-parts.ts'
import { UpdateTranslation, waitingMessages } from './translate-updates.ts'
import { startAfter, type StreamStart } from './translation-start.ts'

/** Streams everything that happens in a Session, from any Event on. */
export const EVENT_ROUTES = [
  route('GET /api/harness/session/:id/events', {
    summary: 'Streams every Event after a number, then everything that happens.',
    query: EventsQuery,
    resumes: true,
    answer: 'events',
    handle: async (parts: ServerParts, { context, query }) => {
      const attached = await attachSession(parts, context.req.param('id'), { answers: true })
      if (!attached.ok) return ofSession(attached)
      const start = await startAfter(attached.value, query.after_seq)
      if (!start.ok) {
        await attached.value.leave()
        return start
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
    },
  }),
]

/** Past Events are sent as fast as the client reads; what happens now cannot wait for it. */
async function sendUpdates(
  output: LiveOutput,
  { session }: AttachedSession,
  { seq, ...model }: StreamStart,
): Promise<void> {
  const replayed = session.nextSeq
  const translation = new UpdateTranslation({
    ...model,
    knownEvents: sinceLastTurn(session.events, seq),
    resourceOf: resourcesOf(() => session.events),
  })
  for await (const update of session.stream({ after_seq: seq - 1, signal: output.signal })) {
    output.send(translation.messages(update))
    if (update.kind === 'event' && update.raw.seq < replayed) await output.room()
  }
}
