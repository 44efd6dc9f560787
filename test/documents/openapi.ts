import { stringify } from 'yaml'
import * as z from 'zod'
import { ROUTES } from '../../src/presenters/http/app.ts'
import { ERROR_RESPONSES } from '../../src/presenters/http/exchange/error-table.ts'
import type { Route } from '../../src/presenters/http/exchange/route.ts'
import type { ServerParts } from '../../src/presenters/http/server-parts.ts'
import { RESPONSES, STREAM_EVENTS } from './http-responses.ts'

type Operation = Route<ServerParts> & { readonly answer: string }

/** Every route of the API, by method and path, in the order in which the server looks for them. */
export const OPERATIONS: Readonly<Record<string, Operation>> = Object.fromEntries(
  ROUTES.filter((one): one is Operation => one.summary !== undefined)
    .toSorted((a, b) => Number(b.open ?? false) - Number(a.open ?? false))
    .map((one) => [`${one.method} ${one.path.replaceAll(/:(\w+)/g, '{$1}')}`, one]),
)

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
  if (!Object.hasOwn(RESPONSES, answer)) throw new Error(`the response ${answer} has no shape`)
  return json({ $ref: `#/components/schemas/${answer}` })
}

function json(schema: object): object {
  return { 'application/json': { schema } }
}

function queryParameters(query: z.ZodType): object[] {
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
