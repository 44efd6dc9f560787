// What marks a text as something else than a person's words. The templates of this folder are built from these, and the
// rehearsal model reads requests back by them.

/** The name of a Resource, as it is in every label. */
export const HANDLE_FORM = String.raw`@[a-z]+[1-9]\d*`

/** Follows the name of a Resource; its description follows. */
export const DESCRIBED = ': '

/** Before the name of what is viewed again. */
export const VIEW_OF = 'View of '

/** How a view ends whose bytes follow. */
export const VIEW_SHOWN = 'shown for this Turn'

/** How a view ends that adds nothing, because a message or another view shows the same bytes. */
export const VIEW_VISIBLE = 'already visible in this Turn'

/** How the end of any other view begins. */
export const VIEW_NOT_SHOWN = ['cannot be shown', 'not shown'] as const

/** Between the name of a Resource and the reason. */
export const NOT_SHOWN = ' is not shown: '

/** Around the name of what is missing. */
export const PAYLOAD_OF = 'The payload of '
export const PAYLOAD_MISSING = ' is missing'

/** The warning about attachments that were not accepted, behind their number; a line for each follows. */
export const REJECTED = 'rejected and cannot be seen.\nRejected attachments:'

/** The first line of a file's text, where a dialect has no form for files. */
export function contentLabel(handle: string): string {
  return `[Content of ${handle}]\n`
}

const FENCE = 'harness-note'

/** Facts of the harness where a vendor has no role for them. Nothing inside can end the fence. */
export function fenced(text: string): string {
  return `<${FENCE}>\n${text.replaceAll(`</${FENCE}`, `<\\/${FENCE}`)}\n</${FENCE}>`
}

/** In the place of an answer, where a vendor requires one and the model gave none: the call failed or was interrupted. */
export const NO_ANSWER = '[No answer was given.]'

/** Where a vendor wants a person's words first, and what is left of a conversation begins with the model's. */
export const BEFORE_NOT_SHOWN = '[The conversation before this is not shown.]'
