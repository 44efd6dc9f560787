import type * as z from 'zod'
import { knownSession } from './attached-session.ts'
import { ofSession, route } from './exchange/route.ts'
import {
  AddedMessage,
  ChangedMessage,
  QueueOrder,
  SessionParam,
  TURN_BYTES,
  WaitingParam,
} from './protocol.ts'
import type { ServerParts } from './server-parts.ts'

/** The messages that wait for the end of a Turn. The server sends them, whether or not a client is there. */
export const QUEUE_ROUTES = [
  route('GET /api/harness/session/:id/queue', {
    summary: 'The messages that wait in a Session.',
    ids: SessionParam,
    answer: 'MessageQueue',
    handle: async (parts: ServerParts, { ids: { id } }) => {
      const found = await knownSession(parts, id)
      return found.ok ? parts.queues.list(id) : ofSession(found)
    },
  }),
  route('POST /api/harness/session/:id/queue', {
    summary: 'Adds a message that is sent after the Turns before it.',
    ids: SessionParam,
    body: AddedMessage,
    limit: TURN_BYTES,
    answer: 'MessageQueue',
    status: 201,
    handle: async (parts: ServerParts, { ids: { id }, body }) => {
      const found = await knownSession(parts, id)
      return found.ok
        ? parts.queues.add(id, withoutKeys(parts, AddedMessage, body))
        : ofSession(found)
    },
  }),
  route('POST /api/harness/session/:id/queue/order', {
    summary: 'Puts the waiting messages into another order.',
    ids: SessionParam,
    body: QueueOrder,
    answer: 'MessageQueue',
    handle: ({ queues }: ServerParts, { ids: { id }, body }) => queues.order(id, body.messageKeys),
  }),
  route('PATCH /api/harness/session/:id/queue/:message_key', {
    summary: 'Changes a waiting message.',
    ids: WaitingParam,
    body: ChangedMessage,
    limit: TURN_BYTES,
    answer: 'MessageQueue',
    handle: (parts: ServerParts, { ids: { id, message_key }, body }) =>
      parts.queues.change(id, message_key, withoutKeys(parts, ChangedMessage, body)),
  }),
  route('DELETE /api/harness/session/:id/queue/:message_key', {
    summary: 'Takes a waiting message back.',
    ids: WaitingParam,
    answer: 'RemovedMessage',
    handle: ({ queues }: ServerParts, { ids: { id, message_key } }) =>
      queues.remove(id, message_key),
  }),
]

/** API keys are not stored. */
function withoutKeys<T>(
  { redactor }: Pick<ServerParts, 'redactor'>,
  shape: z.ZodType<T>,
  value: unknown,
): T {
  return shape.parse(JSON.parse(redactor.text(JSON.stringify(value))))
}
