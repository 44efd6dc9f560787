import { stringify } from 'yaml'
import * as z from 'zod'
import * as protocol from '../../src/presenters/http/protocol.ts'
import { ERROR_RESPONSES } from '../../src/presenters/http/exchange/error-table.ts'
import { RESPONSES, STREAM_EVENTS } from './http-responses.ts'
import type { Operation } from './operation.ts'
import { TETHER_OPERATIONS } from './tether-operations.ts'

const SESSION = '/api/harness/session'

/** Every route of the API, by method and path. A test compares it with the routes of the server. */
export const OPERATIONS: Readonly<Record<string, Operation>> = {
  'GET /healthz': {
    summary: 'Whether the server answers. Needs no token.',
    answer: 'Health',
    open: true,
  },
  'POST /page/token': {
    summary: 'Exchanges the code of `hawser up --open` for the token, once. Needs no token.',
    body: protocol.PageCode,
    answer: 'PageToken',
    open: true,
  },
  'GET /api/harness/limits': {
    summary: 'The limits, and the file types that can be attached.',
    answer: 'Limits',
  },
  'GET /api/harness/models': { summary: 'The known models.', answer: 'Models' },
  [`POST ${SESSION}/create`]: {
    summary: 'Creates a Session.',
    body: protocol.CreateSession,
    answer: 'CreatedSession',
    status: 201,
  },
  [`GET ${SESSION}/list`]: {
    summary: 'The Sessions of a folder, the latest first.',
    query: protocol.ListQuery,
    answer: 'Sessions',
  },
  [`GET ${SESSION}/{id}`]: { summary: 'One Session.', answer: 'OneSession' },
  [`DELETE ${SESSION}/{id}`]: { summary: 'Deletes a Session.', answer: 'DeletedSession' },
  [`POST ${SESSION}/{id}/compact`]: {
    summary: 'Records a checkpoint, or shows what it would do.',
    body: protocol.CompactBody,
    answer: 'Compacted',
  },
  'PUT /api/harness/attachments': {
    summary: 'Stages an upload.',
    query: protocol.UploadQuery,
    bytes: true,
    answer: 'Upload',
    status: 201,
  },
  'POST /api/harness/attachments/check': {
    summary: 'Whether files would be accepted.',
    body: protocol.CheckAttachments,
    answer: 'Verdicts',
  },
  'POST /api/harness/turn': {
    summary: 'Runs a Turn and streams its events; the last one is `process:exit`.',
    body: protocol.TurnBody,
    answer: 'events',
  },
  'POST /api/harness/interrupt': {
    summary: 'Interrupts the running Turn of a Session.',
    body: protocol.InterruptBody,
    answer: 'Interrupted',
  },
  [`GET ${SESSION}/{id}/events`]: {
    summary: 'Streams every Event after a number, then everything that happens.',
    query: protocol.EventsQuery,
    answer: 'events',
  },
  'POST /api/harness/permission': {
    summary: 'Answers a permission question. The first answer counts.',
    body: protocol.PermissionBody,
    answer: 'Answered',
  },
  [`GET ${SESSION}/{id}/resources/{resource}`]: {
    summary: 'The bytes of a Resource, or a thumbnail of an image.',
    query: protocol.ResourceQuery,
    answer: 'bytes',
  },
  ...TETHER_OPERATIONS,
}

/** The description of the API in OpenAPI 3.1, as YAML. */
export function openApi(): string {
  const paths: Record<string, Record<string, object>> = {}
  for (const [route, operation] of Object.entries(OPERATIONS)) {
    const [method = '', path = ''] = route.split(' ')
    paths[path] = { ...paths[path], [method.toLowerCase()]: described(operation, path) }
  }
  const named = {
    ...RESPONSES,
    ...Object.fromEntries(Object.entries(STREAM_EVENTS).map(eventName)),
  }
  const schemas = Object.fromEntries(
    Object.entries(named).map(([name, shape]) => [name, schemaOf(shape, 'output')]),
  )
  const document = {
    openapi: '3.1.0',
    info: {
      title: 'Hawser local server',
      version: '1',
      description:
        'See docs/http.md and docs/tether.md. Each event of a stream is described by the schema of its name.',
    },
    servers: [{ url: 'http://127.0.0.1:4600' }],
    security: [{ token: [] }],
    paths,
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
      responses: {
        Failure: {
          description: `A failure: ${failureTypes()}.`,
          content: json({ $ref: '#/components/schemas/Failure' }),
        },
      },
      schemas,
    },
  }
  return stringify(document, { lineWidth: 100, aliasDuplicateObjects: false })
}

/** For example `event.chat.delta`: a name in OpenAPI has no colon. */
function eventName([name, shape]: readonly [string, z.ZodType]): [string, z.ZodType] {
  return [`event.${name.replace(':', '.')}`, shape]
}

function described(
  { summary, query, body, bytes, answer, status = 200, open }: Operation,
  path: string,
): object {
  const segments = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }))
  const parameters = [...segments, ...(query === undefined ? [] : queryParameters(query))]
  const content = bytes === true ? BYTES : json(body === undefined ? {} : schemaOf(body, 'input'))
  return {
    summary,
    ...(open === true ? { security: [] } : {}),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined && bytes !== true ? {} : { requestBody: { required: true, content } }),
    responses: {
      [status]: { description: 'Done.', content: answerContent(answer) },
      ...(open === true && body === undefined
        ? {}
        : { default: { $ref: '#/components/responses/Failure' } }),
    },
  }
}

const BYTES = { 'application/octet-stream': {} }

function answerContent(answer: Operation['answer']): object {
  if (answer === 'bytes') return BYTES
  if (answer === 'events') return { 'text/event-stream': { schema: { type: 'string' } } }
  return json({ $ref: `#/components/schemas/${answer}` })
}

function json(schema: object): object {
  return { 'application/json': { schema } }
}

function queryParameters(query: z.ZodObject): object[] {
  const { properties = {}, required = [] } = z.toJSONSchema(query, {
    io: 'input',
    unrepresentable: 'any',
  })
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    schema,
  }))
}

/** The status and type of every failure. */
function failureTypes(): string {
  const known = Object.values(ERROR_RESPONSES).map(({ status, type }) => `${status} ${type}`)
  const types = [...new Set([...known, '401 UNAUTHORIZED', '404 SESSION_NOT_FOUND'])]
  return types.toSorted().join(', ')
}

function schemaOf(shape: z.ZodType, io: 'input' | 'output'): object {
  const { $schema: _, ...schema } = z.toJSONSchema(shape, { io, unrepresentable: 'any' })
  return schema
}
