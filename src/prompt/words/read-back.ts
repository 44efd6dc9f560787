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
import { hydratedText, hydration, skill } from './skills.ts'

// Regular expressions for the labels in a request, built from the same words. In each, the first group is the handle, or the
// quoted name.

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
  `^\\d+ attachments? (?:was|were) ${escapePattern(REJECTED)}(?:\\n- .*)*\\n*`,
)

/** The name of the sender before a message. Handles are not names: their lines begin in the same way. */
export const SENDER_FORM = new RegExp(
  String.raw`^\[(?!(?:${VIEW_OF})?${HANDLE_FORM}\b)(?:[^\]\\\n]|\\.)*\]:(?: |$)`,
)

/** The note inside a fence; `undefined` if the text is not a note. */
export function insideFence(text: string): string | undefined {
  const [open = '', close = ''] = fenced('\0').split('\0')
  if (!text.startsWith(open) || !text.endsWith(close)) return undefined
  return text.slice(open.length, -close.length)
}

const QUOTED = String.raw`("(?:[^"\\]|\\.)*")`
const UNKNOWN = '\0'

/** The line before the body of an activated Skill. */
export const SKILL_FORM = labelPattern(
  skill({ name: UNKNOWN, args: '', activated_by: '' }).split(' by ')[0] ?? '',
)

/** The evidence of a hydration; the second group is the name of the Skill, the third the status. */
export const HYDRATION_FORM = labelPattern(
  hydration({
    context_source_id: UNKNOWN,
    skill: { name: UNKNOWN },
    status: '',
    output_bytes: 0,
    output_sha256: '',
  }).split(', 0 bytes')[0] ?? '',
  String.raw`(\w+)`,
)

const HYDRATED_FORM = labelPattern(hydratedText(UNKNOWN, '').split('`')[0] ?? '')

/** Hydrated text without its label and fence, and the quoted id of its source; `undefined` if the text is none. */
export function hydratedIn(text: string): { id: string; text: string } | undefined {
  const [label = '', id] = HYDRATED_FORM.exec(text) ?? []
  const lines = text.slice(label.length).split('\n')
  return id === undefined ? undefined : { id, text: lines.slice(1, -1).join('\n') }
}

/** A text that begins with `label`, where each unknown name is a quoted text, and continues with the pattern `more`. */
function labelPattern(label: string, more = ''): RegExp {
  const pattern = escapePattern(label).replaceAll(
    escapePattern(JSON.stringify(UNKNOWN)),
    () => QUOTED,
  )
  return new RegExp(`^${pattern}${more}`)
}

/** A text that begins with `label`, where `\0` is a handle, and continues with the pattern `more`. */
function form(label: string, more = ''): RegExp {
  return new RegExp(`^${escapePattern(label).replace('\0', HANDLE)}${more}`)
}

function escapePattern(text: string): string {
  return text.replaceAll(/[[\]().*+?^$|\\{}]/g, String.raw`\$&`)
}
