import {
  BROKEN_PIXEL,
  GIF,
  NOT_A_PDF,
  PIXEL,
  repeated,
  without,
  type WrongRequest,
} from './wrong-requests.ts'

const asks = (...messages: unknown[]) => ({ model: 'm', messages })
const text = { type: 'text', text: 'a' }
const user = (...content: unknown[]) => ({ role: 'user', content })
const image = (url: string) => ({ type: 'image_url', image_url: { url } })
const called = (id: string, more: object = {}) => ({
  id,
  type: 'function',
  function: { name: 'read', arguments: '{}', ...more },
})
const model = (...tool_calls: unknown[]) => ({ role: 'assistant', content: null, tool_calls })
const result = (id: string) => ({ role: 'tool', tool_call_id: id, content: 'c' })
const tool = { type: 'function', function: { name: 'read', parameters: { type: 'object' } } }
const toolOf = (more: object) => ({ type: 'function', function: { ...tool.function, ...more } })
const file = (data: string) => ({ type: 'file', file: { filename: 'a.pdf', file_data: data } })

/** A valid request. */
export const RIGHT_CHAT = {
  ...asks(
    { role: 'system', content: 's' },
    user(text, image(`data:image/png;base64,${PIXEL}`)),
    { role: 'assistant', content: 'b', tool_calls: [called('c1'), called('c2')] },
    result('c2'),
    result('c1'),
    { role: 'developer', content: 'late' },
    { role: 'assistant', content: 'b' },
    { role: 'user', content: 'a' },
  ),
  tools: [tool],
  tool_choice: 'auto',
  prompt_cache_key: 'k',
}
const RIGHT = RIGHT_CHAT

const MISSING = 'missing_required_parameter'
const VALUE = 'invalid_value'

export const WRONG_CHAT: readonly WrongRequest[] = [
  ['no model', without(RIGHT, 'model'), 'model', MISSING],
  ['an empty model name', { ...RIGHT, model: '' }, 'model', 'empty_string'],
  ['no messages', without(RIGHT, 'messages'), 'messages', MISSING],
  ['no messages in the list', asks(), 'messages', 'empty_array'],
  ['an unknown field', { ...RIGHT, input: 'a' }, 'input', 'unknown_parameter'],
  [
    'a limit of another dialect',
    { ...RIGHT, max_output_tokens: 9 },
    'max_output_tokens',
    'unknown_parameter',
  ],
  ['a limit of a wrong type', { ...RIGHT, max_tokens: '1' }, 'max_tokens', 'invalid_type'],
  [
    'a limit of nothing',
    { ...RIGHT, max_completion_tokens: 0 },
    'max_completion_tokens',
    'integer_below_min_value',
  ],
  ['two limits', { ...RIGHT, max_tokens: 9, max_completion_tokens: 9 }, 'max_tokens', VALUE],
  [
    'a temperature too high',
    { ...RIGHT, temperature: 2.5 },
    'temperature',
    'decimal_above_max_value',
  ],
  ['a likelihood below nothing', { ...RIGHT, top_p: -0.1 }, 'top_p', 'decimal_below_min_value'],
  [
    'a penalty too high',
    { ...RIGHT, presence_penalty: 3 },
    'presence_penalty',
    'decimal_above_max_value',
  ],
  ['many stops', { ...RIGHT, stop: ['a', 'b', 'c', 'd', 'e'] }, 'stop', 'array_above_max_length'],
  ['several answers', { ...RIGHT, n: 2 }, 'n', 'unsupported_parameter'],
  [
    'a form of answer',
    { ...RIGHT, response_format: { type: 'json_object' } },
    'response_format',
    'unsupported_parameter',
  ],
  [
    'options of a stream without one',
    { ...RIGHT, stream_options: { include_usage: true } },
    'stream_options',
    VALUE,
  ],
  [
    'a long cache key',
    { ...RIGHT, prompt_cache_key: 'k'.repeat(65) },
    'prompt_cache_key',
    'string_above_max_length',
  ],
  [
    'much metadata',
    { ...RIGHT, metadata: Object.fromEntries(repeated(17, (n) => [`k${n}`, 'v'])) },
    'metadata',
    'object_above_max_properties',
  ],
  ['an unknown role', asks({ role: 'model', content: 'a' }), 'messages[0]', VALUE],
  ['a user without content', asks({ role: 'user' }), 'messages[0].content', MISSING],
  ['a user with empty content', asks({ role: 'user', content: '' }), 'messages[0].content', VALUE],
  ['a user without parts', asks(user()), 'messages[0].content', VALUE],
  [
    'an empty part',
    asks(user(text, { type: 'text', text: '' })),
    'messages[0].content[1].text',
    'empty_string',
  ],
  [
    'a part of another dialect',
    asks(user({ type: 'input_text', text: 'a' })),
    'messages[0].content[0]',
    VALUE,
  ],
  [
    'a field of another server',
    asks(user(text), { role: 'assistant', content: 'b', reasoning_content: 'c' }, user(text)),
    'messages[1].reasoning_content',
    'unknown_parameter',
  ],
  [
    'an answer of nothing',
    asks(user(text), { role: 'assistant', content: null }, user(text)),
    'messages[1].content',
    VALUE,
  ],
  [
    'an empty list of calls',
    asks(user(text), { role: 'assistant', content: 'b', tool_calls: [] }, user(text)),
    'messages[1].tool_calls',
    'empty_array',
  ],
  [
    'a call without an id',
    asks(user(text), model(without(called('c'), 'id')), result('c')),
    'messages[1].tool_calls[0].id',
    MISSING,
  ],
  [
    'a call id twice',
    asks(user(text), model(called('c'), called('c')), result('c')),
    'messages[1].tool_calls[1].id',
    VALUE,
  ],
  [
    'a long call id',
    asks(user(text), model(called('c'.repeat(41))), result('c'.repeat(41))),
    'messages[1].tool_calls[0].id',
    'string_above_max_length',
  ],
  [
    'an invalid name of a called tool',
    asks(user(text), model(called('c', { name: 'a b' })), result('c')),
    'messages[1].tool_calls[0].function.name',
    VALUE,
  ],
  [
    'arguments that are not an object',
    asks(user(text), model(called('c', { arguments: '[' })), result('c')),
    'messages[1].tool_calls[0].function.arguments',
    VALUE,
  ],
  ['a result without a call', asks(user(text), result('c')), 'messages[1].role', VALUE],
  [
    'a result of another call',
    asks(user(text), model(called('c')), result('d')),
    'messages[2].role',
    VALUE,
  ],
  [
    'a result twice',
    asks(user(text), model(called('c')), result('c'), result('c')),
    'messages[3].role',
    VALUE,
  ],
  [
    'a result without an id',
    asks(user(text), model(called('c')), without(result('c'), 'tool_call_id')),
    'messages[2].tool_call_id',
    MISSING,
  ],
  [
    'a call without a result',
    asks(user(text), model(called('c')), user(text)),
    'messages[1]',
    VALUE,
  ],
  [
    'a call with one result of two',
    asks(user(text), model(called('c'), called('d')), result('c'), user(text)),
    'messages[1]',
    VALUE,
  ],
  ['a call at the end', asks(user(text), model(called('c'))), 'messages[1]', VALUE],
  [
    'words before a result',
    asks(user(text), model(called('c')), { role: 'developer', content: 'd' }, result('c')),
    'messages[1]',
    VALUE,
  ],
  [
    'a picture of a tool',
    asks(user(text), model(called('c')), { ...result('c'), content: [image('a')] }),
    'messages[2].content[0].text',
    MISSING,
  ],
  [
    'a tool without a function',
    { ...RIGHT, tools: [{ type: 'function', name: 'a' }] },
    'tools[0].function',
    MISSING,
  ],
  ['an empty list of tools', { ...asks(user(text)), tools: [] }, 'tools', 'empty_array'],
  [
    'an invalid tool name',
    { ...RIGHT, tools: [toolOf({ name: 'a b' })] },
    'tools[0].function.name',
    VALUE,
  ],
  ['two tools of a name', { ...RIGHT, tools: [tool, tool] }, 'tools[1].function.name', VALUE],
  [
    'a schema that is not of an object',
    { ...RIGHT, tools: [toolOf({ parameters: { type: 'string' } })] },
    'tools[0].function.parameters',
    'invalid_function_parameters',
  ],
  ['a choice without tools', { ...asks(user(text)), tool_choice: 'auto' }, 'tool_choice', VALUE],
  ['an unknown tool choice', { ...RIGHT, tool_choice: 'any' }, 'tool_choice', VALUE],
  [
    'a choice of an unknown tool',
    { ...RIGHT, tool_choice: { type: 'function', function: { name: 'b' } } },
    'tool_choice',
    VALUE,
  ],
  [
    'calls side by side without tools',
    { ...asks(user(text)), parallel_tool_calls: true },
    'parallel_tool_calls',
    VALUE,
  ],
  [
    'an image of elsewhere',
    asks(user(image('https://example.com/a.png'))),
    'messages[0].content[0].image_url.url',
    'failed_to_download_image',
  ],
  [
    'an unknown image type',
    asks(user(image(`data:image/bmp;base64,${PIXEL}`))),
    'messages[0].content[0].image_url.url',
    'unsupported_image_media_type',
  ],
  [
    'an image of another type',
    asks(user(image(`data:image/png;base64,${GIF}`))),
    'messages[0].content[0].image_url.url',
    'invalid_image_format',
  ],
  [
    'invalid base64',
    asks(user(image('data:image/png;base64,?'))),
    'messages[0].content[0].image_url.url',
    'invalid_base64_image',
  ],
  [
    'an image that cannot be decoded',
    asks(user(text, image(`data:image/png;base64,${BROKEN_PIXEL}`))),
    'messages[0].content[1].image_url.url',
    'image_parse_error',
  ],
  [
    'a file that is not a PDF',
    asks(user(file(`data:application/pdf;base64,${NOT_A_PDF}`))),
    'messages[0].content[0].file.file_data',
    'invalid_file',
  ],
  [
    'a missing file',
    asks(user({ type: 'file', file: { filename: 'a.pdf' } })),
    'messages[0].content[0].file.file_data',
    MISSING,
  ],
]
