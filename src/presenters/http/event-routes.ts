import type { SessionUpdate } from '../../session/watch/session-stream.ts'
import { resourcesOf, sinceLastTurn } from '../../history/results/turn-notices.ts'
import { ofSession, route } from './exchange/route.ts'
import { attachSession, type AttachedSession } from './attached-session.ts'
import { liveResponse, type LiveOutput, type StreamMessage } from './exchange/live-response.ts'
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
      const waiting = () => (query.form === 'log' ? [] : waitingMessages(watched.questions))
      return liveResponse(parts, { signal: context.req.raw.signal, waiting }, async (output) => {
        try {
          await (query.form === 'log'
            ? sendLog(output, attached.value, query.after_seq)
            : sendUpdates(output, attached.value, start.value))
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

/** The Events themselves, for a client that folds them, and the notices as they happen. */
async function sendLog(
  output: LiveOutput,
  { session }: AttachedSession,
  after_seq: number,
): Promise<void> {
  const replayed = session.nextSeq
  for await (const update of session.stream({ after_seq, signal: output.signal })) {
    output.send([logMessage(update)])
    if (update.kind === 'event' && update.raw.seq < replayed) await output.room()
  }
}

function logMessage(update: SessionUpdate): StreamMessage {
  switch (update.kind) {
    case 'event': {
      const { raw, event } = update
      const data = { known: event !== undefined, event: event ?? raw }
      return { event: 'log', data, id: raw.seq }
    }
    case 'ephemeral':
      return { event: 'live', data: update.ephemeral }
    case 'rewound':
      return { event: 'rewound', data: { afterSeq: update.after_seq }, id: update.after_seq }
    case 'failed': {
      const { kind, message, details } = update.error
      return { event: 'stream:error', data: { kind, message, details } }
    }
    default:
      return update satisfies never
  }
}
