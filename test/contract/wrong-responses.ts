import {
  BROKEN_PIXEL,
  GIF,
  NOT_A_PDF,
  PIXEL,
  repeated,
  without,
  type WrongRequest,
} from './wrong-requests.ts'

const asks = (...input: unknown[]) => ({ model: 'm', input })
const user = (...content: unknown[]) => ({ role: 'user', content })
const text = { type: 'input_text', text: 'a' }
const image = (url: string) => ({ type: 'input_image', detail: 'auto', image_url: url })
const file = (data: string) => ({ type: 'input_file', filename: 'a.pdf', file_data: data })
const call = (call_id: string, more: object = {}) => ({
  type: 'function_call',
  call_id,
  name: 'read',
  arguments: '{}',
  ...more,
})
const output = (call_id: string) => ({ type: 'function_call_output', call_id, output: 'c' })
const reasoning = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'e' }
const answer = { role: 'assistant', content: 'b' }
const tool = { type: 'function', name: 'read', parameters: { type: 'object' }, strict: false }

/** A valid request. */
export const RIGHT_RESPONSES = {
  ...asks(
    { role: 'developer', content: 'd' },
    user(text, image(`data:image/png;base64,${PIXEL}`)),
    reasoning,
    answer,
    call('c1'),
    call('c2'),
    output('c2'),
    output('c1'),
    { role: 'user', content: 'b' },
  ),
  instructions: 'i',
  tools: [tool],
  tool_choice: 'auto',
  prompt_cache_key: 'k',
}
const RIGHT = RIGHT_RESPONSES

const MISSING = 'missing_required_parameter'
const VALUE = 'invalid_value'

export const WRONG_RESPONSES: readonly WrongRequest[] = [
  ['no model', without(RIGHT, 'model'), 'model', MISSING],
  ['an empty model name', { ...RIGHT, model: '' }, 'model', 'empty_string'],
  ['no input', without(RIGHT, 'input'), 'input', MISSING],
  ['empty input', asks(), 'input', 'empty_array'],
  ['an unknown field', { ...RIGHT, max_tokens: 1 }, 'max_tokens', 'unknown_parameter'],
  ['messages of another dialect', { ...RIGHT, messages: [] }, 'messages', 'unknown_parameter'],
  [
    'a limit of a wrong type',
    { ...RIGHT, max_output_tokens: '1' },
    'max_output_tokens',
    'invalid_type',
  ],
  [
    'a limit that is too low',
    { ...RIGHT, max_output_tokens: 1 },
    'max_output_tokens',
    'integer_below_min_value',
  ],
  ['half a token', { ...RIGHT, max_output_tokens: 99.5 }, 'max_output_tokens', 'invalid_type'],
  [
    'a temperature too high',
    { ...RIGHT, temperature: 3 },
    'temperature',
    'decimal_above_max_value',
  ],
  [
    'a temperature too low',
    { ...RIGHT, temperature: -1 },
    'temperature',
    'decimal_below_min_value',
  ],
  ['a likelihood over one', { ...RIGHT, top_p: 1.5 }, 'top_p', 'decimal_above_max_value'],
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
  [
    'long metadata',
    { ...RIGHT, metadata: { k: 'v'.repeat(513) } },
    'metadata.k',
    'string_above_max_length',
  ],
  ['an unknown effort', { ...RIGHT, reasoning: { effort: 'extreme' } }, 'reasoning.effort', VALUE],
  [
    'options of a stream without one',
    { ...RIGHT, stream_options: { include_obfuscation: false } },
    'stream_options',
    VALUE,
  ],
  ['an unknown value of include', { ...RIGHT, include: ['everything'] }, 'include[0]', VALUE],
  ['an unknown role', asks({ role: 'tool', content: 'a' }), 'input[0].role', VALUE],
  [
    'a part of another dialect',
    asks(user({ type: 'text', text: 'a' })),
    'input[0].content[0]',
    VALUE,
  ],
  ['a part without text', asks(user({ type: 'input_text' })), 'input[0].content[0].text', MISSING],
  ['a message without content', asks(user()), 'input[0].content', 'empty_array'],
  ['blank content', asks({ role: 'user', content: ' ' }), 'input[0].content', VALUE],
  [
    'a blank part',
    asks(user(text, { type: 'input_text', text: '' })),
    'input[0].content[1].text',
    VALUE,
  ],
  [
    'a user part in an assistant message',
    asks(user(text), { role: 'assistant', content: [text] }),
    'input[1].content[0].type',
    VALUE,
  ],
  ['an output without a call', asks(user(text), output('c')), 'input', null],
  ['an output before its call', asks(user(text), output('c'), call('c')), 'input', null],
  ['an output twice', asks(user(text), call('c'), output('c'), output('c')), 'input', null],
  ['a call without an output', asks(user(text), call('c'), user(text)), 'input', null],
  [
    'a call id twice',
    asks(user(text), call('c'), output('c'), call('c'), output('c')),
    'input',
    null,
  ],
  [
    'a long call id',
    asks(user(text), call('c'.repeat(65)), output('c'.repeat(65))),
    'input[1].call_id',
    'string_above_max_length',
  ],
  ['an empty call id', asks(user(text), call(''), output('')), 'input[1].call_id', 'empty_string'],
  [
    'an invalid name of a called tool',
    asks(user(text), call('c', { name: 'a b' }), output('c')),
    'input[1].name',
    VALUE,
  ],
  [
    'arguments that are not a string',
    asks(user(text), call('c', { arguments: {} }), output('c')),
    'input[1].arguments',
    'invalid_type',
  ],
  [
    'an id of another kind',
    asks(user(text), call('c', { id: 'msg_1' }), output('c')),
    'input[1].id',
    VALUE,
  ],
  ['reasoning at the end', asks(user(text), reasoning), 'input', null],
  ['reasoning before a user', asks(user(text), reasoning, user(text)), 'input', null],
  [
    'empty reasoning',
    asks(user(text), without(reasoning, 'encrypted_content'), answer),
    'input[1].id',
    VALUE,
  ],
  [
    'a reference to an item',
    asks({ type: 'item_reference', id: 'msg_1' }),
    'input[0].id',
    'unsupported_parameter',
  ],
  [
    'an unknown previous response',
    { ...RIGHT, previous_response_id: 'resp_none' },
    'previous_response_id',
    'previous_response_not_found',
  ],
  ['a tool without a name', { ...RIGHT, tools: [without(tool, 'name')] }, 'tools[0].name', MISSING],
  ['an invalid tool name', { ...RIGHT, tools: [{ ...tool, name: 'a b' }] }, 'tools[0].name', VALUE],
  [
    'a tool’s long name',
    { ...RIGHT, tools: [{ ...tool, name: 'a'.repeat(65) }] },
    'tools[0].name',
    'string_above_max_length',
  ],
  ['two tools of a name', { ...RIGHT, tools: [tool, tool] }, 'tools[1].name', VALUE],
  [
    'a schema that is not of an object',
    { ...RIGHT, tools: [{ ...tool, parameters: { type: 'array' } }] },
    'tools[0].parameters',
    'invalid_function_parameters',
  ],
  [
    'a strict schema that is not',
    { ...RIGHT, tools: [{ ...tool, strict: true }] },
    'tools[0].parameters',
    'invalid_function_parameters',
  ],
  [
    'too many tools',
    { ...RIGHT, tools: repeated(129, (n) => ({ ...tool, name: `t${n}` })) },
    'tools',
    'array_above_max_length',
  ],
  [
    'a choice of an unknown tool',
    { ...RIGHT, tool_choice: { type: 'function', name: 'b' } },
    'tool_choice',
    VALUE,
  ],
  [
    'a choice without tools',
    { ...asks(user(text)), tool_choice: 'required' },
    'tool_choice',
    VALUE,
  ],
  [
    'a missing image',
    asks(user(without(image(''), 'image_url'))),
    'input[0].content[0].image_url',
    MISSING,
  ],
  [
    'an image of elsewhere',
    asks(user(image('https://example.com/a.png'))),
    'input[0].content[0].image_url',
    'failed_to_download_image',
  ],
  [
    'an unknown image type',
    asks(user(image(`data:image/bmp;base64,${PIXEL}`))),
    'input[0].content[0].image_url',
    'unsupported_image_media_type',
  ],
  [
    'an image of another type',
    asks(user(image(`data:image/png;base64,${GIF}`))),
    'input[0].content[0].image_url',
    'invalid_image_format',
  ],
  [
    'invalid base64',
    asks(user(image('data:image/png;base64,?'))),
    'input[0].content[0].image_url',
    'invalid_base64_image',
  ],
  [
    'an image that cannot be decoded',
    asks(user(text, image(`data:image/png;base64,${BROKEN_PIXEL}`))),
    'input[0].content[1].image_url',
    'image_parse_error',
  ],
  [
    'a file that is not a PDF',
    asks(user(file(`data:application/pdf;base64,${NOT_A_PDF}`))),
    'input[0].content[0].file_data',
    'invalid_file',
  ],
  [
    'a file without a name',
    asks(user(without(file('data:text/csv;base64,YQ=='), 'filename'))),
    'input[0].content[0].filename',
    MISSING,
  ],
  [
    'a broken image in an output',
    asks(user(text), call('c'), { ...output('c'), output: [image('data:image/png;base64,?')] }),
    'input[2].output[0].image_url',
    'invalid_base64_image',
  ],
  [
    'a form of answer',
    { ...RIGHT, text: { format: { type: 'json_object' } } },
    'text.format',
    'unsupported_parameter',
  ],
]
