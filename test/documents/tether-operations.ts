import * as protocol from '../../src/presenters/http/tether/protocol.ts'
import { INSTANCE_ACTS } from '../../src/tether/tether.ts'
import type { Operation } from './operation.ts'

const INSTANCE = '/v1/instances/{id}'

const ACTS = {
  start: 'Starts its agent; returns when it is ready.',
  pause: 'Suspends its agent until there is a message.',
  resume: 'Continues a paused agent.',
  stop: 'Ends its agent. Messages that wait stay in the queue.',
  enable: 'Allows it to be started and to get messages.',
  disable: 'Stops it, ends all messages, and refuses new ones.',
} as const

/** The routes of Instances, by method and path. */
export const TETHER_OPERATIONS: Readonly<Record<string, Operation>> = {
  'POST /v1/instances': {
    summary: 'Creates an Instance.',
    query: protocol.CreateQuery,
    body: protocol.CreateInstance,
    answer: 'Instance',
    status: 201,
  },
  'GET /v1/instances': { summary: 'All Instances, the oldest first.', answer: 'Instances' },
  [`GET ${INSTANCE}`]: { summary: 'One Instance, by id or handle.', answer: 'Instance' },
  [`PATCH ${INSTANCE}`]: {
    summary: 'Gives it another workspace. Refused while messages have not ended.',
    body: protocol.MapInstance,
    answer: 'Instance',
  },
  [`DELETE ${INSTANCE}`]: {
    summary: 'Stops an Instance and deletes its folder. A mapped workspace stays.',
    answer: 'DeletedInstance',
  },
  ...Object.fromEntries(
    INSTANCE_ACTS.map((act) => [
      `POST ${INSTANCE}/${act}`,
      { summary: ACTS[act], answer: 'Instance' } satisfies Operation,
    ]),
  ),
  [`POST ${INSTANCE}/tether`]: {
    summary: 'Sends a frame. It is durable when the response arrives; the same `msg_id` runs once.',
    body: protocol.SentFrame,
    answer: 'AcceptedFrame',
    status: 202,
  },
  [`GET ${INSTANCE}/tether/poll`]: {
    summary: 'A page of frames. With `wait_ms`, waits for the first one.',
    query: protocol.PollQuery,
    answer: 'FramePage',
  },
  [`GET ${INSTANCE}/tether/stream`]: {
    summary: 'Streams the frames above a number, then each one as it comes.',
    query: protocol.StreamQuery,
    answer: 'events',
  },
  [`POST ${INSTANCE}/blobs`]: {
    summary: 'Stores an image in the workspace of the Instance.',
    bytes: true,
    answer: 'StoredImage',
    status: 201,
  },
  [`GET ${INSTANCE}/blobs/{key}`]: {
    summary: 'An image of the workspace of the Instance.',
    answer: 'bytes',
  },
}
