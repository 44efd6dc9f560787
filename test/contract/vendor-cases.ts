import type { VendorDialect } from '../support/providers/vendor-schemas.ts'

/** A body and the expected complaint: none if it is valid. */
export type VendorCase = readonly [body: object, ...errors: string[]]

const messages = (...content: unknown[]) => ({
  model: 'm',
  max_tokens: 1,
  stream: true,
  messages: [{ role: 'user', content }],
})
const textBlock = { type: 'text', text: 'a' }
const picture = (media_type: string) => ({
  type: 'image',
  source: { type: 'base64', media_type, data: 'AA==' },
})
const used = { type: 'tool_use', id: 'c', name: 'n', input: {} }
const tool = { name: 'n', input_schema: { type: 'object', properties: { a: { type: 'string' } } } }
const MESSAGES = messages(textBlock)

const MESSAGES_CASES: readonly VendorCase[] = [
  [MESSAGES],
  [messages()],
  [
    messages(picture('image/png'), {
      ...textBlock,
      cache_control: { type: 'ephemeral', ttl: '1h' },
    }),
  ],
  [
    messages({
      type: 'document',
      source: { type: 'base64', media_type: 'application/pdf', data: 'AA==' },
    }),
  ],
  [
    {
      ...MESSAGES,
      system: [textBlock],
      tools: [tool],
      tool_choice: { type: 'auto' },
      thinking: { type: 'adaptive' },
      messages: [
        { role: 'user', content: 'a' },
        { role: 'assistant', content: [{ type: 'thinking', thinking: 'b', signature: 'c' }, used] },
        {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: 'c', content: [textBlock] }],
        },
      ],
    },
  ],

  [without(MESSAGES, 'max_tokens'), 'the value lacks max_tokens'],
  [without(MESSAGES, 'messages'), 'the value lacks messages'],
  [without(MESSAGES, 'model'), 'the value lacks model'],
  [without(MESSAGES, 'stream'), 'the value lacks stream'],
  [{ ...MESSAGES, stream: false }, '/stream is false, not true'],
  [{ ...MESSAGES, max_tokens: '1' }, '/max_tokens is string, not number'],
  [{ ...MESSAGES, max_output_tokens: 1 }, unknownField('max_output_tokens')],
  [{ ...MESSAGES, user_profile_id: 'u' }, unknownField('user_profile_id')],
  [{ ...MESSAGES, workspace_id: 'w' }, unknownField('workspace_id')],
  [{ ...MESSAGES, betas: [] }, unknownField('betas')],
  [
    { ...MESSAGES, system: [{ type: 'input_text', text: 'a' }] },
    '/system/0/type is "input_text", not "text"',
  ],
  [
    messages(picture('image/bmp')),
    '/messages/0/content/0/source/media_type is "image/bmp", none of "image/jpeg", "image/png", "image/gif", "image/webp"',
  ],
  [messages({ type: 'image', source: { type: 'url' } }), '/messages/0/content/0/source lacks url'],
  [messages({ type: 'text' }), '/messages/0/content/0 lacks text'],
  [messages({ ...textBlock, id: 'a' }), '/messages/0/content/0 has id, which is not a known field'],
  [messages(without(used, 'input')), '/messages/0/content/0 lacks input'],
  [
    messages({ type: 'tool_result', tool_use_id: 'c', content: [used] }),
    '/messages/0/content/0/content/0 is {"type":"tool_use"}, none of TextBlockParam, ImageBlockParam, SearchResultBlockParam, DocumentBlockParam, ToolReferenceBlockParam, BrowserStateBlockParam',
  ],
  [
    messages({ type: 'tool_result', call_id: 'c' }),
    '/messages/0/content/0 lacks tool_use_id',
    '/messages/0/content/0 has call_id, which is not a known field',
  ],
  [
    { ...MESSAGES, messages: [{ role: 'developer', content: 'a' }] },
    '/messages/0 is {"role":"developer"}, none of UserMessageParam, AssistantMessageParam, SystemMessageParam',
  ],
  [
    { ...MESSAGES, messages: [{ role: 'system', content: [picture('image/png')] }] },
    '/messages/0/content/0 lacks text',
    '/messages/0/content/0/type is "image", not "text"',
    '/messages/0/content/0 has source, which is not a known field',
  ],
  [{ ...MESSAGES, tools: [without(tool, 'input_schema')] }, '/tools/0 lacks input_schema'],
  [
    { ...MESSAGES, tools: [{ ...tool, parameters: {} }] },
    '/tools/0 has parameters, which is not a known field',
  ],
  [
    { ...MESSAGES, tools: [{ ...tool, input_schema: { type: 'array' } }] },
    '/tools/0/input_schema/type is "array", not "object"',
  ],
  [
    { ...MESSAGES, tool_choice: 'auto' },
    '/tool_choice is "auto", none of ToolChoiceAuto, ToolChoiceAny, ToolChoiceTool, ToolChoiceNone',
  ],
  [
    { ...MESSAGES, system: [{ ...textBlock, cache_control: { type: 'ephemeral', ttl: '30m' } }] },
    '/system/0/cache_control/ttl is "30m", none of "5m", "1h"',
  ],
]

const responses = (...input: unknown[]) => ({ model: 'm', stream: true, input })
const userContent = (...content: unknown[]) => responses({ role: 'user', content })
const called = { type: 'function_call', call_id: 'c', name: 'n', arguments: '{}' }
const returned = { type: 'function_call_output', call_id: 'c', output: 'o' }
const offered = { type: 'function', name: 'n', parameters: { type: 'object' }, strict: false }
const written = { type: 'output_text', text: 'a', annotations: [] }
const answered = {
  type: 'message',
  id: 'i',
  role: 'assistant',
  status: 'completed',
  content: [written],
}
const seen = { type: 'input_image', detail: 'auto', image_url: 'data:image/png;base64,AA==' }
const thought = { type: 'reasoning', id: 'r', summary: [], encrypted_content: 'e' }
const RESPONSES = responses({ role: 'user', content: 'a' })

const RESPONSES_CASES: readonly VendorCase[] = [
  [RESPONSES],
  [{ ...RESPONSES, input: 'a', instructions: 'b', store: false, prompt_cache_key: 'k' }],
  [
    {
      ...responses(
        { role: 'developer', content: [{ type: 'input_text', text: 'a' }] },
        thought,
        answered,
        { role: 'assistant', content: 'a', phase: 'commentary' },
        called,
        { ...returned, output: [seen, { type: 'input_file', filename: 'f', file_data: 'AA==' }] },
      ),
      tools: [offered],
      tool_choice: 'auto',
      include: ['reasoning.encrypted_content'],
      reasoning: { effort: 'high', summary: 'auto' },
    },
  ],

  [without(RESPONSES, 'stream'), 'the value lacks stream'],
  [{ ...RESPONSES, stream: null }, '/stream is null, not boolean'],
  [{ ...RESPONSES, max_tokens: 1 }, unknownField('max_tokens')],
  [{ ...RESPONSES, messages: [] }, unknownField('messages')],
  [{ ...RESPONSES, max_output_tokens: '1' }, '/max_output_tokens is string, not number or null'],
  [
    userContent({ type: 'text', text: 'a' }),
    '/input/0/content/0 is {"type":"text"}, none of ResponseInputText, ResponseInputImage, ResponseInputFile',
  ],
  [userContent({ type: 'input_text' }), '/input/0/content/0 lacks text'],
  [userContent(without(seen, 'detail')), '/input/0/content/0 lacks detail'],
  [
    userContent({ ...seen, detail: 'best' }),
    '/input/0/content/0/detail is "best", none of "low", "high", "auto", "original"',
  ],
  [
    responses({ role: 'tool', content: 'a' }),
    '/input/0/role is "tool", none of "user", "assistant", "system", "developer"',
  ],
  [
    responses({ ...answered, content: [without(written, 'annotations')] }),
    '/input/0/content/0 lacks annotations',
  ],
  [responses(without(answered, 'id')), '/input/0 lacks id'],
  [responses(without(called, 'call_id')), '/input/0 lacks call_id'],
  [responses({ ...called, arguments: {} }), '/input/0/arguments is object, not string'],
  [responses(without(returned, 'output')), '/input/0 lacks output'],
  [
    responses({ ...returned, output: [written] }),
    '/input/0/output/0 is {"type":"output_text"}, none of ResponseInputTextContent, ResponseInputImageContent, ResponseInputFileContent',
  ],
  [responses(without(thought, 'summary')), '/input/0 lacks summary'],
  [{ ...RESPONSES, tools: [without(offered, 'strict')] }, '/tools/0 lacks strict'],
  [{ ...RESPONSES, tools: [without(offered, 'parameters')] }, '/tools/0 lacks parameters'],
  [
    { ...RESPONSES, tools: [{ ...offered, input_schema: {} }] },
    '/tools/0 has input_schema, which is not a known field',
  ],
  [
    { ...RESPONSES, reasoning: { effort: 'extreme' } },
    '/reasoning/effort is "extreme", none of "none", "minimal", "low", "medium", "high", "xhigh", "max", null',
  ],
  [{ ...RESPONSES, include: ['everything'] }, '/include/0 is "everything"'],
]

const chat = (...list: unknown[]) => ({ model: 'm', stream: true, messages: list })
const shown = (...content: unknown[]) => chat({ role: 'user', content })
const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } }
const toolCall = { id: 'c', type: 'function', function: { name: 'n', arguments: '{}' } }
const chatTool = { type: 'function', function: { name: 'n', parameters: { type: 'object' } } }
const CHAT = chat({ role: 'user', content: 'a' })

const CHAT_CASES: readonly VendorCase[] = [
  [CHAT],
  [
    {
      ...CHAT,
      stream_options: { include_usage: true },
      max_completion_tokens: 1,
      tools: [chatTool],
    },
  ],
  [
    chat(
      { role: 'system', content: 'a' },
      { role: 'developer', content: [textBlock] },
      {
        role: 'user',
        content: [textBlock, image, { type: 'file', file: { filename: 'f', file_data: 'd' } }],
      },
      { role: 'assistant', content: null, tool_calls: [toolCall] },
      { role: 'tool', tool_call_id: 'c', content: 'o' },
    ),
  ],

  [without(CHAT, 'model'), 'the value lacks model'],
  [without(CHAT, 'messages'), 'the value lacks messages'],
  [without(CHAT, 'stream'), 'the value lacks stream'],
  [{ ...CHAT, input: 'a' }, unknownField('input')],
  [{ ...CHAT, system: 'a' }, unknownField('system')],
  [{ ...CHAT, max_output_tokens: 1 }, unknownField('max_output_tokens')],
  [chat({ role: 'model', content: 'a' }), '/messages/0 is {"role":"model"}'],
  [chat({ role: 'user' }), '/messages/0 lacks content'],
  [chat({ role: 'user', content: null }), '/messages/0/content is null, none of string, array'],
  [shown({ type: 'input_text', text: 'a' }), '/messages/0/content/0 is {"type":"input_text"}'],
  [
    shown({ type: 'image_url', image_url: 'a' }),
    '/messages/0/content/0/image_url is string, not object',
  ],
  [
    shown({ type: 'image_url', image_url: { url: 'a', detail: 'best' } }),
    '/messages/0/content/0/image_url/detail is "best", none of "auto", "low", "high"',
  ],
  [
    shown({ ...textBlock, cache_control: { type: 'ephemeral' } }),
    '/messages/0/content/0 has cache_control, which is not a known field',
  ],
  [chat({ role: 'tool', content: 'o' }), '/messages/0 lacks tool_call_id'],
  [
    chat({ role: 'tool', tool_call_id: 'c', content: [image] }),
    '/messages/0/content/0 lacks text',
    '/messages/0/content/0/type is "image_url", not "text"',
    '/messages/0/content/0 has image_url, which is not a known field',
  ],
  [
    chat({ role: 'assistant', tool_calls: [without(toolCall, 'id')] }),
    '/messages/0/tool_calls/0 lacks id',
  ],
  [
    chat({ role: 'assistant', tool_calls: [{ ...toolCall, type: 'tool' }] }),
    '/messages/0/tool_calls/0 is {"type":"tool"}',
  ],
  [
    chat({ role: 'assistant', content: 'a', reasoning_content: 'b' }),
    '/messages/0 has reasoning_content, which is not a known field',
  ],
  [
    { ...CHAT, tools: [{ type: 'function', name: 'n' }] },
    '/tools/0 lacks function',
    '/tools/0 has name, which is not a known field',
  ],
  [{ ...CHAT, tools: [{ type: 'function', function: {} }] }, '/tools/0/function lacks name'],
  [{ ...CHAT, tool_choice: 'any' }, '/tool_choice is "any"'],
]

/** Requests that a vendor accepts, then ones that it refuses. */
export const VENDOR_CASES: Record<VendorDialect, readonly VendorCase[]> = {
  messages: MESSAGES_CASES,
  responses: RESPONSES_CASES,
  chat: CHAT_CASES,
}

/**
 * Bodies that a vendor refuses and a schema accepts, because the SDK types, its only source, do not exclude them. The
 * schemas omit nothing that the types define; what is `unknown` there may be anything here.
 */
export const NOT_IN_THE_TYPES: Record<VendorDialect, readonly object[]> = {
  messages: [
    { ...MESSAGES, max_tokens: -0.5 },
    { ...MESSAGES, messages: [] },
    messages({ type: 'text', text: '' }),
    messages({ ...used, input: 'no object' }),
    messages({ ...used, id: 'no id!' }),
    messages({ type: 'tool_result', tool_use_id: 'of no call' }),
    messages({
      ...picture('image/png'),
      source: { type: 'base64', media_type: 'image/png', data: '?' },
    }),
    { ...MESSAGES, tools: [{ ...tool, name: 'no name!' }, tool, tool] },
    {
      ...MESSAGES,
      system: Array.from({ length: 5 }, () => ({
        ...textBlock,
        cache_control: { type: 'ephemeral' },
      })),
    },
    { ...MESSAGES, messages: [{ role: 'assistant', content: [picture('image/png')] }] },
  ],
  responses: [
    { stream: true },
    { ...RESPONSES, max_output_tokens: -0.5 },
    responses(returned),
    responses(called),
    responses({ ...called, arguments: 'no JSON' }),
    userContent({ type: 'input_image', detail: 'auto' }),
    userContent({ type: 'input_file' }),
    userContent({ ...seen, image_url: 'data:image/bmp;base64,AA==' }),
    responses({ role: 'assistant', content: [{ type: 'input_text', text: 'a' }] }),
    { ...RESPONSES, tools: [{ ...offered, name: 'no name!', strict: true }] },
  ],
  chat: [
    { ...CHAT, messages: [] },
    { ...CHAT, max_completion_tokens: -0.5 },
    { ...CHAT, max_tokens: 1, max_completion_tokens: 1 },
    chat({ role: 'tool', tool_call_id: 'of no call', content: 'o' }),
    chat({ role: 'assistant' }),
    chat({ role: 'assistant', content: null, tool_calls: [toolCall] }),
    shown({ ...image, image_url: { url: 'data:image/bmp;base64,AA==' } }),
    shown({ type: 'file', file: {} }),
    { ...CHAT, tools: [{ type: 'function', function: { name: 'no name!' } }] },
  ],
}

function unknownField(name: string): string {
  return `the value has ${name}, which is not a known field`
}

function without(whole: object, name: string): object {
  return Object.fromEntries(Object.entries(whole).filter(([key]) => key !== name))
}
