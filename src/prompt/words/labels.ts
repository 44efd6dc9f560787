// Labels that distinguish a text from a person's words. The templates of this folder use them, and the rehearsal model
// recognises them in requests.

import { NOTE_TAG } from '../../encoding/note-tag.ts'

/** The name of a Resource, as it is in every label. */
export const HANDLE_FORM = String.raw`@[a-z]+[1-9]\d*`

/** Follows the name of a Resource; its description follows. */
export const DESCRIBED = ': '

/** Before the name of a Resource that is viewed again. */
export const VIEW_OF = 'View of '

/** The end of a view whose bytes follow. */
export const VIEW_SHOWN = 'shown for this Turn'

/** The end of a view that adds nothing, because a message or another view shows the same bytes. */
export const VIEW_VISIBLE = 'already visible in this Turn'

/** The start of the end of any other view. */
export const VIEW_NOT_SHOWN = ['cannot be shown', 'not shown'] as const

/** Between the name of a Resource and the reason. */
export const NOT_SHOWN = ' is not shown: '

/** Around the name of a missing payload. */
export const PAYLOAD_OF = 'The payload of '
export const PAYLOAD_MISSING = ' is missing'

/** The warning about attachments that were not accepted, after their number; a line for each follows. */
export const REJECTED = 'rejected and cannot be seen.\nRejected attachments:'

/** The first line of a file's text, in a dialect without files. */
export function contentLabel(handle: string): string {
  return `[Content of ${handle}]\n`
}

/** Facts of the harness, for a vendor without a role for them. No text of a request contains the tag: see `escapeNotes`. */
export function fenced(text: string): string {
  return `<${NOTE_TAG}>\n${text}\n</${NOTE_TAG}>`
}

/** In place of an answer, if a vendor requires one and the model gave none: the call failed or was interrupted. */
export const NO_ANSWER = '[No answer was given.]'

/** For a vendor that requires a user message first, if the remaining conversation starts with the model's. */
export const BEFORE_NOT_SHOWN = '[The conversation before this is not shown.]'
