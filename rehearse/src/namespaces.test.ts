import { OpenAI } from 'openai'
import { expect, test } from 'vitest'
import { openRehearsal } from '../../test/support/providers/rehearsal-server.ts'

const NO_PARAMETERS = { type: 'object', properties: {} }

test('Responses: a tool of a namespace is called by its own name, and its result is read', async () => {
  const seen: unknown[] = []
  const vendor = await openRehearsal({
    brain: async ({ segments }) => {
      const known = segments.flatMap((one) =>
        one.role === 'tool' || one.role === 'tool_result' ? [[one.role, one.name]] : [],
      )
      seen.push(known)
      if (known.some(([role]) => role === 'tool_result')) return { text: 'Done.', calls: [] }
      return { text: '', calls: [{ name: 'harbour__list', arguments: { berth: 4 } }] }
    },
  })
  const client = new OpenAI({ apiKey: 'any', baseURL: vendor.baseUrl('responses') })
  const asked = { role: 'user', content: 'List it.' } as const
  const tools: OpenAI.Responses.Tool[] = [
    {
      type: 'namespace',
      name: 'harbour',
      description: 'Of the harbour.',
      tools: [{ type: 'function', name: 'list', parameters: NO_PARAMETERS }],
    },
  ]
  const ask = (input: OpenAI.Responses.ResponseInput) =>
    client.responses.create({ model: 'any-model', tools, input })
  const { output } = await ask([asked])
  expect(output).toMatchObject([
    { type: 'function_call', name: 'list', namespace: 'harbour', arguments: '{"berth":4}' },
  ])
  const [call] = output
  if (call?.type !== 'function_call') throw new Error('no call')
  const result = { type: 'function_call_output', call_id: call.call_id, output: 'full' } as const
  const { output_text } = await ask([asked, call, result])
  expect([output_text, seen]).toEqual([
    'Done.',
    [
      [['tool', 'harbour__list']],
      [
        ['tool', 'harbour__list'],
        ['tool_result', 'harbour__list'],
      ],
    ],
  ])
})
