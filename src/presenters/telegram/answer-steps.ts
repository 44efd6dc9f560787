import type { Frame, ImageReference } from '../../model/tether/frame.ts'
import {
  formattedParagraphs,
  joinTexts,
  plainParagraph,
  type FormattedText,
} from './formatted-text.ts'
import { PLATFORM } from './protocol.ts'
import { richBlocks, type RichBlock } from './rich-blocks.ts'
import { messagesOf } from './split-text.ts'
import { errorWords, statusWords, WORDS } from './words.ts'

/** One message that is sent to a chat. */
export type AnswerStep =
  | {
      readonly kind: 'image'
      readonly image: ImageReference
      readonly caption?: FormattedText
    }
  | { readonly kind: 'text'; readonly text: FormattedText }
  | { readonly kind: 'rich'; readonly blocks: readonly RichBlock[] }

/** A frame that ends a message. */
export type EndFrame = Extract<Frame, { type: 'assistant.done' | 'error' }>

/**
 * The messages for the end of a message, in order: images first, then what does not fit as the caption of the first one. The same
 * frame always gives the same messages, as long as `rich` is the same. Pure.
 */
export function stepsOf(frame: EndFrame, rich: boolean): readonly AnswerStep[] {
  const notices = (frame.payload.notices ?? []).map(({ text }) => `Note: ${text}`)
  if (frame.type === 'error') return textSteps('', [errorWords(frame.payload), ...notices], false)
  const { text, images = [], status, truncated = false } = frame.payload
  const state = text.trim() === '' || status !== 'interrupted' ? statusWords(status) : undefined
  const notes = [
    ...(truncated ? ['The answer is longer; this is its beginning.'] : []),
    ...(state === undefined ? [] : [state]),
    ...notices,
  ]
  const [first, ...others] = images.map((image) => ({ kind: 'image' as const, image }))
  if (first === undefined) {
    const isEmpty = text.trim() === '' && notes.length === 0
    return textSteps(text, isEmpty ? [WORDS.empty] : notes, rich)
  }
  const caption = joinTexts(paragraphsOf(text, notes))
  const fits = caption.text.length <= PLATFORM.caption_units
  if (!fits) return [first, ...others, ...textSteps(text, notes, rich)]
  return [caption.text === '' ? first : { ...first, caption }, ...others]
}

function textSteps(text: string, notes: readonly string[], rich: boolean): AnswerStep[] {
  const blocks = rich ? richBlocks(text, notes) : undefined
  if (blocks !== undefined) return [{ kind: 'rich', blocks }]
  return messagesOf(paragraphsOf(text, notes)).map((one) => ({ kind: 'text', text: one }))
}

function paragraphsOf(text: string, notes: readonly string[]): readonly FormattedText[] {
  return [...formattedParagraphs(text), ...notes.map(plainParagraph)]
}
