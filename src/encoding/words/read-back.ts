import {
  contentLabel,
  DESCRIBED,
  fenced,
  HANDLE_FORM,
  NOT_SHOWN,
  PAYLOAD_MISSING,
  PAYLOAD_OF,
  REJECTED,
  VIEW_NOT_SHOWN,
  VIEW_OF,
  VIEW_SHOWN,
} from './labels.ts'

// Regular expressions for the labels in a request, built from the same words. In each, the first group is the handle.

const HANDLE = `(${HANDLE_FORM})`

/** A descriptor. */
export const DESCRIPTOR_FORM = form(`[\0${DESCRIBED}`)

/** A view whose bytes follow. */
export const VIEW_SHOWN_FORM = form(`[${VIEW_OF}\0`, `[,:].*: ${VIEW_SHOWN}\\]$`)

/** A view that shows nothing. */
const VIEW_NOT_SHOWN_FORM = form(`[${VIEW_OF}\0`, `[,:].*: (?:${VIEW_NOT_SHOWN.join('|')})\\b`)

/** The line in place of bytes. */
export const NOT_SHOWN_FORM = form(`[\0${NOT_SHOWN}`)

/** Every line that says that a Resource is not shown. */
export const ABSENT_FORMS = [
  NOT_SHOWN_FORM,
  form(`[${PAYLOAD_OF}\0${PAYLOAD_MISSING}`),
  VIEW_NOT_SHOWN_FORM,
] as const

/** The first line of a file's text. */
export const CONTENT_FORM = form(contentLabel('\0'))

/** A line that describes a Resource, or a view of one. */
export const RESOURCE_LINE_FORM = new RegExp(`^\\[(?:${VIEW_OF})?${HANDLE_FORM}\\b.*\\]$`)

/** The warning about attachments that were not accepted, with its lines. */
export const REJECTED_FORM = new RegExp(
  `^\\d+ attachments? (?:was|were) ${escaped(REJECTED)}(?:\\n- .*)*\\n*`,
)

/** The note inside a fence; `undefined` if the text is not a note. */
export function insideFence(text: string): string | undefined {
  const [open = '', close = ''] = fenced('\0').split('\0')
  if (!text.startsWith(open) || !text.endsWith(close)) return undefined
  return text.slice(open.length, -close.length)
}

/** A text that begins with `label`, where `\0` is a handle, and continues with the pattern `more`. */
function form(label: string, more = ''): RegExp {
  return new RegExp(`^${escaped(label).replace('\0', HANDLE)}${more}`)
}

function escaped(text: string): string {
  return text.replaceAll(/[[\]().*+?^$|\\{}]/g, String.raw`\$&`)
}
