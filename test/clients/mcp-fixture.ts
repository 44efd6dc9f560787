import { Redactor } from '../../src/encoding/redaction.ts'
import { serveFetch } from '../../src/host/net/fetch-server.ts'
import { serveMcpHttp, type McpHandler } from '../../src/presenters/mcp/serve-http.ts'
import type { ServedTool, CallContext, CallResult } from '../../src/presenters/mcp/tool.ts'
import { TINY_IMAGES } from '../support/resources/tiny-images.ts'

/**
 * The tools that the conformance suite calls by name, on the serving code of Hawser: its server, its HTTP handler, and the
 * guards of its listener. The suite cannot send a token, so there is none.
 */
export async function serveFixture(): Promise<{ readonly url: string; close(): Promise<void> }> {
  let sessions = 0
  const handler: McpHandler = serveMcpHttp({
    ids: { request: () => `req_${(sessions += 1)}` },
    version: '0.0.0',
    instructions: 'Fixtures of the conformance suite.',
    tools: FIXTURES,
    onDefect: () => {},
    redactor: new Redactor([]),
  })
  const server = await serveFetch({
    ports: [0],
    fetch: (request) => handler.fetch(request),
    refusalResponse: (why) => Response.json({ error: why }, { status: 403 }),
  })
  if (!server.ok) throw new Error(server.error.message)
  const listening = server.value
  return {
    url: `http://127.0.0.1:${listening.port}/mcp`,
    close: async () => {
      await handler.close()
      await listening.close()
    },
  }
}

const TEXT = { type: 'text', text: 'This is a simple text response for testing.' } as const
const IMAGE = {
  type: 'image',
  data: TINY_IMAGES.png.toString('base64'),
  mimeType: 'image/png',
} as const
const AUDIO = {
  type: 'audio',
  data: Buffer.from('RIFF$\0\0\0WAVEfmt ').toString('base64'),
  mimeType: 'audio/wav',
} as const
const RESOURCE = {
  type: 'resource',
  resource: { uri: 'test://embedded', mimeType: 'text/plain', text: 'An embedded resource.' },
} as const

const EMPTY = { type: 'object', properties: {}, additionalProperties: false } as const

/** With the keywords of JSON Schema 2020-12 that a server must pass on. */
const SCHEMA_2020_12: ServedTool['definition']['inputSchema'] = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: {
    address: {
      $anchor: 'addressDef',
      type: 'object',
      properties: { street: { type: 'string' }, city: { type: 'string' } },
    },
  },
  properties: {
    name: { type: 'string' },
    address: { $ref: '#/$defs/address' },
    contactMethod: { type: 'string', enum: ['phone', 'email'] },
    phone: { type: 'string' },
    email: { type: 'string' },
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
}

const FIXTURES: readonly ServedTool[] = [
  fixture('test_simple_text', async () => ({ content: [TEXT] })),
  fixture('test_image_content', async () => ({ content: [IMAGE] })),
  fixture('test_audio_content', async () => ({ content: [AUDIO] })),
  fixture('test_embedded_resource', async () => ({ content: [RESOURCE] })),
  fixture('test_multiple_content_types', async () => ({ content: [TEXT, IMAGE, RESOURCE] })),
  fixture('test_error_handling', async () => ({ content: [TEXT], isError: true })),
  fixture('test_tool_with_progress', async ({ progress }) => {
    for (const done of [0, 50, 100]) {
      progress({ progress: done, total: 100 })
      await new Promise((resolve) => void setTimeout(resolve, 50))
    }
    return { content: [TEXT] }
  }),
  fixture('json_schema_2020_12_tool', async () => ({ content: [TEXT] }), SCHEMA_2020_12),
]

function fixture(
  name: string,
  run: (context: CallContext) => Promise<CallResult>,
  inputSchema: ServedTool['definition']['inputSchema'] = EMPTY,
): ServedTool {
  const description = 'A fixture of the conformance suite.'
  return { definition: { name, description, inputSchema }, call: (_, context) => run(context) }
}
