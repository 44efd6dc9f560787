import {
  BROKEN_PIXEL,
  GIF,
  HUGE,
  NOT_A_PDF,
  PIXEL,
  repeated,
  without,
  type WrongRequest,
} from './wrong-requests.ts'

const textBlock = { type: 'text', text: 'a' }
const marked = { ...textBlock, cache_control: { type: 'ephemeral' } }
const user = (...content: unknown[]) => ({ role: 'user', content })
const model = (...content: unknown[]) => ({ role: 'assistant', content })
const system = (text: string) => ({ role: 'system', content: text })
const used = (id: string, more: object = {}) => ({
  type: 'tool_use',
  id,
  name: 'read',
  input: {},
  ...more,
})
const result = (id: string) => ({ type: 'tool_result', tool_use_id: id, content: 'c' })
const image = (media_type: string, data: string) => ({
  type: 'image',
  source: { type: 'base64', media_type, data },
})
const pdf = (data: string) => ({
  type: 'document',
  source: { type: 'base64', media_type: 'application/pdf', data },
})
const tool = { name: 'read', input_schema: { type: 'object' } }
const asks = (...messages: unknown[]) => ({ model: 'm', max_tokens: 2000, messages })

/** A valid request. */
export const RIGHT_MESSAGES = {
  ...asks(
    user(textBlock, image('image/png', PIXEL)),
    model({ type: 'thinking', thinking: 't', signature: 's' }, textBlock, used('c1'), used('c2')),
    user(result('c2'), result('c1'), marked),
    system('late'),
    model(textBlock),
    user(textBlock),
    user(textBlock),
  ),
  system: [marked],
  tools: [tool],
  tool_choice: { type: 'auto' },
}

export const WRONG_MESSAGES: readonly WrongRequest[] = [
  ['no model', without(RIGHT_MESSAGES, 'model'), 'model'],
  ['no limit', without(RIGHT_MESSAGES, 'max_tokens'), 'max_tokens'],
  ['no messages', without(RIGHT_MESSAGES, 'messages'), 'messages'],
  ['an unknown field', { ...RIGHT_MESSAGES, frequency: 1 }, 'frequency'],
  ['a limit of a wrong type', { ...RIGHT_MESSAGES, max_tokens: '1' }, 'max_tokens'],
  ['a limit of nothing', { ...RIGHT_MESSAGES, max_tokens: 0 }, 'max_tokens'],
  [
    'a limit over the model’s',
    { ...asks(user(textBlock)), model: 'claude-opus-5-5', max_tokens: 999_999 },
    'max_tokens',
  ],
  ['an empty model name', { ...RIGHT_MESSAGES, model: '' }, 'model'],
  ['no messages in the list', asks(), 'messages'],
  ['an unknown role', asks({ role: 'tool', content: 'a' }), 'messages.0'],
  ['the model begins', asks(model(textBlock), user(textBlock)), 'messages.0.role'],
  ['the model ends', asks(user(textBlock), model(textBlock)), 'messages.1.role'],
  ['system at the start', asks(system('a'), user(textBlock)), 'messages.0.role'],
  [
    'system behind the model',
    asks(user(textBlock), model(textBlock), system('a'), user(textBlock)),
    'messages.2.role',
  ],
  ['system before a user', asks(user(textBlock), system('a'), user(textBlock)), 'messages.1.role'],
  ['a message without content', asks(user()), 'messages.0.content'],
  ['empty text', asks(user({ type: 'text', text: '' })), 'messages.0.content.0'],
  ['blank text', asks(user(textBlock, { type: 'text', text: ' \n' })), 'messages.0.content.1'],
  ['blank text as content', asks({ role: 'user', content: '  ' }), 'messages.0.content'],
  [
    'a blank system block',
    { ...asks(user(textBlock)), system: [{ type: 'text', text: ' ' }] },
    'system.0',
  ],
  [
    'a blank block in a result',
    asks(
      user(textBlock),
      model(used('c')),
      user({ ...result('c'), content: [{ type: 'text', text: '' }] }),
    ),
    'messages.2.content.0.tool_result.content.0',
  ],
  ['an unknown block', asks(user({ type: 'input_text', text: 'a' })), 'messages.0.content.0'],
  ['a call of a user', asks(user(used('c'))), 'messages.0.content.0'],
  [
    'a picture of the model',
    asks(user(textBlock), model(image('image/png', PIXEL)), user(textBlock)),
    'messages.1.content.0',
  ],
  [
    'a result of the model',
    asks(user(textBlock), model(result('c')), user(textBlock)),
    'messages.1.content.0',
  ],
  [
    'thinking without a signature',
    asks(
      user(textBlock),
      model({ type: 'thinking', thinking: 't', signature: '' }, textBlock),
      user(textBlock),
    ),
    'messages.1.content.0.signature',
  ],
  [
    'thinking at the end',
    asks(
      user(textBlock),
      model({ type: 'thinking', thinking: 't', signature: 's' }),
      user(textBlock),
    ),
    'messages.1.content.0',
  ],
  [
    'a mark on thinking',
    asks(
      user(textBlock),
      model(
        { type: 'thinking', thinking: 't', signature: 's', cache_control: { type: 'ephemeral' } },
        textBlock,
      ),
      user(textBlock),
    ),
    'messages.1.content.0.cache_control',
  ],
  [
    'a call without a result',
    asks(user(textBlock), model(used('c')), user(textBlock)),
    'messages.1',
  ],
  [
    'a call with one result of two',
    asks(user(textBlock), model(used('c'), used('d')), user(result('c'))),
    'messages.1',
  ],
  [
    'words before results',
    asks(user(textBlock), model(used('c')), user(textBlock, result('c'))),
    'messages.1',
  ],
  [
    'a result too late',
    asks(user(textBlock), model(used('c')), user(textBlock), model(textBlock), user(result('c'))),
    'messages.1',
  ],
  ['a result without a call', asks(user(result('c'))), 'messages.0.content.0'],
  [
    'a result twice',
    asks(user(textBlock), model(used('c')), user(result('c'), result('c'))),
    'messages.2.content.1',
  ],
  [
    'a call id twice',
    asks(user(textBlock), model(used('c'), used('c')), user(result('c'))),
    'messages.1.content.1.tool_use.id',
  ],
  [
    'an invalid call id',
    asks(user(textBlock), model(used('c!')), user(result('c!'))),
    'messages.1.content.0.tool_use.id',
  ],
  [
    'input that is not an object',
    asks(user(textBlock), model(used('c', { input: 'a' })), user(result('c'))),
    'messages.1.content.0.tool_use.input',
  ],
  [
    'an invalid name of a called tool',
    asks(user(textBlock), model(used('c', { name: 'a b' })), user(result('c'))),
    'messages.1.content.0.tool_use.name',
  ],
  [
    'a tool without a schema',
    { ...RIGHT_MESSAGES, tools: [without(tool, 'input_schema')] },
    'tools.0.input_schema',
  ],
  [
    'an invalid tool name',
    { ...RIGHT_MESSAGES, tools: [{ ...tool, name: 'a b' }] },
    'tools.0.name',
  ],
  ['two tools of a name', { ...RIGHT_MESSAGES, tools: [tool, tool] }, 'tools.1.name'],
  [
    'a choice without tools',
    { ...asks(user(textBlock)), tool_choice: { type: 'auto' } },
    'tool_choice',
  ],
  [
    'a choice of an unknown tool',
    { ...RIGHT_MESSAGES, tool_choice: { type: 'tool', name: 'b' } },
    'tool_choice.name',
  ],
  [
    'a small budget',
    { ...RIGHT_MESSAGES, thinking: { type: 'enabled', budget_tokens: 100 } },
    'thinking.budget_tokens',
  ],
  [
    'a budget over the limit',
    { ...RIGHT_MESSAGES, thinking: { type: 'enabled', budget_tokens: 2000 } },
    'thinking.budget_tokens',
  ],
  ['five marks', { ...asks(user(...repeated(5, () => marked))) }, ''],
  [
    'a long mark behind a short one',
    { ...asks(user(marked, { ...textBlock, cache_control: { type: 'ephemeral', ttl: '1h' } })) },
    'messages.0.content.1.cache_control.ttl',
  ],
  ['a blank stop', { ...asks(user(textBlock)), stop_sequences: [' '] }, 'stop_sequences.0'],
  [
    'an unknown image type',
    asks(user(image('image/bmp', PIXEL))),
    'messages.0.content.0.source.media_type',
  ],
  [
    'an image of another type',
    asks(user(image('image/png', GIF))),
    'messages.0.content.0.image.source.base64.data',
  ],
  [
    'invalid base64',
    asks(user(image('image/png', '?'))),
    'messages.0.content.0.image.source.base64.data',
  ],
  [
    'an image that is too large',
    asks(user(image('image/png', HUGE))),
    'messages.0.content.0.image.source.base64.data',
  ],
  [
    'an image that cannot be decoded',
    asks(user(textBlock, image('image/png', BROKEN_PIXEL))),
    'messages.0.content.1.image.source.base64.data',
  ],
  [
    'a broken image in a result',
    asks(
      user(textBlock),
      model(used('c')),
      user({ ...result('c'), content: [textBlock, image('image/png', '?')] }),
    ),
    'messages.2.content.0.tool_result.content.1.image.source.base64.data',
  ],
  [
    'an image of elsewhere',
    asks(user({ type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } })),
    'messages.0.content.0.image.source.url',
  ],
  [
    'a document that is not a PDF',
    asks(user(pdf(NOT_A_PDF))),
    'messages.0.content.0.document.source.base64.data',
  ],
]
