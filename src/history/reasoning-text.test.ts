import { expect, test } from 'vitest'
import { reasoningText } from './reasoning-text.ts'

test.each([
  ['thinking of Anthropic', { type: 'thinking', thinking: 'First.', signature: 's' }, 'First.'],
  ['thinking that only its model can read', { type: 'redacted_thinking', data: 'x' }, ''],
  [
    'the summary of OpenAI, whose text is ciphertext',
    { type: 'reasoning', summary: [{ text: 'One.' }, { text: 'Two.' }], encrypted_content: 'x' },
    'One.\n\nTwo.',
  ],
  ['the text of an open model', { summary: [], content: [{ text: 'All of it.' }] }, 'All of it.'],
  ['ciphertext alone', { type: 'reasoning', summary: [], encrypted_content: 'x' }, ''],
  ['anything else', 'text', ''],
])('the readable text of %s', (_title, item, text) => {
  expect(reasoningText(item)).toBe(text)
})
