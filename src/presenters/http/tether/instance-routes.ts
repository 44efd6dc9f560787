import { ok } from '../../../model/errors.ts'
import type { InstanceAct } from '../../../tether/tether.ts'
import { route } from '../exchange/route.ts'
import { CreateInstance, CreateQuery, MapInstance } from './protocol.ts'
import { NO_PARAMETERS, parameters, type TetherParts } from './tether-parts.ts'

/** Creates, lists, shows, maps, controls and deletes Instances. `:id` is an id or a handle. */
export const INSTANCE_ROUTES = [
  route('POST /v1/instances', {
    summary: 'Creates an Instance.',
    query: CreateQuery,
    parameters,
    body: CreateInstance,
    answer: 'Instance',
    status: 201,
    handle: ({ tether }: TetherParts, { body, query }) => tether.create(body, query.by),
  }),
  route('GET /v1/instances', {
    ...NO_PARAMETERS,
    summary: 'All Instances, the oldest first.',
    answer: 'Instances',
    handle: async ({ tether }: TetherParts) => {
      const listed = await tether.list()
      return listed.ok ? ok({ instances: listed.value }) : listed
    },
  }),
  route('GET /v1/instances/:id', {
    ...NO_PARAMETERS,
    summary: 'One Instance, by id or handle.',
    answer: 'Instance',
    handle: ({ tether }: TetherParts, { context }) => tether.info(context.req.param('id')),
  }),
  route('PATCH /v1/instances/:id', {
    ...NO_PARAMETERS,
    summary: 'Gives it another workspace. Refused while messages have not ended.',
    body: MapInstance,
    answer: 'Instance',
    handle: ({ tether }: TetherParts, { context, body }) =>
      tether.map(context.req.param('id'), body.workspace),
  }),
  route('DELETE /v1/instances/:id', {
    ...NO_PARAMETERS,
    summary: 'Stops an Instance and deletes its folder. A mapped workspace stays.',
    answer: 'DeletedInstance',
    handle: async ({ tether }: TetherParts, { context }) => {
      const deleted = await tether.delete(context.req.param('id'))
      return deleted.ok ? ok({ deleted: deleted.value }) : deleted
    },
  }),
  acting('start', 'Starts its agent; returns when it is ready.'),
  acting('pause', 'Suspends its agent until there is a message.'),
  acting('resume', 'Continues a paused agent.'),
  acting('stop', 'Ends its agent. Messages that wait stay in the queue.'),
  acting('enable', 'Allows it to be started and to get messages.'),
  acting('disable', 'Stops it, ends all messages, and refuses new ones.'),
]

function acting(act: InstanceAct, summary: string) {
  return route(`POST /v1/instances/:id/${act}`, {
    ...NO_PARAMETERS,
    summary,
    empty: true,
    answer: 'Instance',
    handle: ({ tether }: TetherParts, { context }) => tether.act(context.req.param('id'), act),
  })
}
