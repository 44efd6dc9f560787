import { isJsonObject } from '../encoding/json.ts'

/**
 * The readable text of a recorded reasoning item: the thinking of Anthropic's models, or the summary and text of OpenAI's.
 * Empty if the vendor gave only ciphertext. Pure.
 */
export function reasoningText(item: unknown): string {
  if (!isJsonObject(item)) return ''
  const { thinking, summary, content } = item
  const texts = [thinking, ...partsOf(summary), ...partsOf(content)]
  return texts.filter((text) => typeof text === 'string' && text.trim() !== '').join('\n\n')
}

function partsOf(parts: unknown): unknown[] {
  if (!Array.isArray(parts)) return []
  return parts.map((part: unknown) => (isJsonObject(part) ? part['text'] : undefined))
}
