import type { BlobPart, ConversationItem } from '../model/conversation.ts'

// Sentences that stand for what a dialect has no form for. They are part of the requests, so their bytes do not change.

/** What a result says to a model: an outcome other than `ok` stands before it. */
export function resultText({
  outcome,
  output,
}: Pick<Extract<ConversationItem, { kind: 'tool_result' }>, 'outcome' | 'output'>): string {
  if (outcome === 'ok') return output === '' ? '[no output]' : output
  return output === '' ? `[outcome: ${outcome}]` : `[outcome: ${outcome}]\n${output}`
}

/** In place of bytes that cannot be shown to this model. */
export function notShown({ handle, media_type }: Pick<BlobPart, 'handle' | 'media_type'>): string {
  return `[${handle ?? 'A stored file'} is not shown: this model does not take ${media_type}.]`
}

/** Text of a file, under its name. */
export function titledText({ handle }: Pick<BlobPart, 'handle'>, text: string): string {
  return handle === undefined ? text : `[Content of ${handle}]\n${text}`
}

/** A file is text when its type says so; which bytes are text was decided when it was brought in. */
export function isText(media_type: string): boolean {
  return media_type.startsWith('text/')
}

/** Facts of the harness where a vendor has no role for them. Nothing inside can end the fence. */
export function fenced(text: string): string {
  return `<harness-note>\n${text.replaceAll('</harness-note', '<\\/harness-note')}\n</harness-note>`
}

/** Where a vendor wants a person's words first, and what is left of a conversation begins with the model's. */
export const BEFORE_NOT_SHOWN = '[The conversation before this is not shown.]'
