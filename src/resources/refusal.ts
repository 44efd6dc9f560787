import { mebibytes } from '../encoding/amounts.ts'
import { shortened } from '../encoding/quote.ts'
import type { AttachmentCode, AttachmentError } from '../model/attachment.ts'
import type { EntryKind, ErrorCause } from '../model/error-cause.ts'
import { causeOf, type ErrorKind, type HawserError } from '../model/errors.ts'
import { ATTACHMENT_EXTENSIONS, LIMITS } from '../model/limits.ts'

/** Why an attachment is not taken. `reason` is a part of a sentence that stands after its name; it never has a path in it. */
export type Refusal = Omit<AttachmentError, 'name'>

export function refusal(code: AttachmentCode, reason: string): Refusal {
  return { code, reason }
}

/** One that a figure decided; the reason has both figures in it. */
export function overLimit(
  code: AttachmentCode,
  reason: string,
  figures: { readonly limit: number; readonly actual: number },
): Refusal {
  return { code, reason, ...figures }
}

export function tooLarge(actual: number): Refusal {
  const limit = LIMITS.attachment_bytes
  const [is, most] = sizes(actual, limit)
  return overLimit('too_large', `it has ${is}, over the limit of ${most} a file`, { limit, actual })
}

/** `before` are the bytes of the attachments that were taken. */
export function overBudget(size: number, before: number): Refusal {
  const limit = LIMITS.turn_attachment_bytes
  const actual = before + size
  const [sum, most] = sizes(actual, limit)
  const reason = `with it the attachments of this Turn have ${sum}, over the limit of ${most}`
  return overLimit('budget_exceeded', reason, { limit, actual })
}

/** `extension` as it is spelt, with its dot; empty when there is none. */
export function unsupportedType(extension: string): Refusal {
  const what = extension === '' ? 'without an extension' : `of type ${shortened(extension, 24)}`
  const allowed = Object.keys(ATTACHMENT_EXTENSIONS).join(', ')
  return refusal('unsupported_type', `files ${what} cannot be attached; allowed are ${allowed}`)
}

export function changedWhileRead(): Refusal {
  return refusal('changed_while_read', 'it changed while it was read')
}

/** `all`: it was the time for all attachments of the Turn. */
export function timedOut(all: boolean): Refusal {
  const limit = all ? LIMITS.turn_attachment_ms : LIMITS.attachment_ms
  const what = all ? 'the attachments of this Turn' : 'it'
  return { code: 'timeout', reason: `reading ${what} took more than ${limit / 1000} s`, limit }
}

/** What reading a file failed with, by its kind and its cause. */
export function unread(error: HawserError): Refusal {
  const cause = causeOf(error)
  const known = UNREAD[error.kind]
  if (known !== undefined) return known(cause)
  const code = cause?.type === 'system' ? cause.code : undefined
  if (code === 'ENAMETOOLONG') return refusal('invalid_name', 'it has a name that is too long')
  const said = code === undefined ? '' : ` (${code})`
  return refusal('unreadable', `the system cannot read it${said}`)
}

const NOT_FOUND = refusal('not_found', 'there is no such file')

const UNREAD: Partial<Record<ErrorKind, (cause: ErrorCause | undefined) => Refusal>> = {
  not_found: () => NOT_FOUND,
  outside_workspace: () => refusal('outside_workspace', 'it does not lie in the workspace'),
  protected_path: () => refusal('outside_workspace', "it lies in a folder of Hawser's own"),
  invalid_args: () => refusal('invalid_name', 'it has a name that no file can have'),
  too_large: (cause) => moreThanFound(cause?.type === 'grown' ? cause.size : Infinity),
  no_match: changedWhileRead,
  permission_denied: (cause) =>
    cause?.type === 'hard_link'
      ? refusal('hard_link', 'it has a second name (a hard link), which may lie elsewhere')
      : refusal('unreadable', 'the system denies access to it'),
  not_regular_file: (cause) => {
    // A part of the way to it is a file.
    if (cause?.type === 'system' && cause.code === 'ENOTDIR') return NOT_FOUND
    const entry = entryIn(cause)
    if (entry === 'symlink')
      return refusal('symlink', 'it is a symbolic link, and links are not followed')
    const what = entry === undefined ? SOMETHING_ELSE : ENTRY_WORDS[entry]
    return refusal('not_regular_file', `it is ${what}, not a regular file`)
  },
}

/** There was more than the system had said before it was read. */
function moreThanFound(size: number): Refusal {
  return size > LIMITS.attachment_bytes ? tooLarge(size) : changedWhileRead()
}

/** What was opened and looked at, or what the system refused to open. */
function entryIn(cause: ErrorCause | undefined): EntryKind | undefined {
  if (cause?.type === 'found') return cause.entry
  return cause?.type === 'system' ? ENTRY_BY_CODE[cause.code] : undefined
}

const ENTRY_BY_CODE: Readonly<Partial<Record<string, EntryKind>>> = {
  ELOOP: 'symlink',
  EISDIR: 'folder',
  ENXIO: 'socket',
}

const SOMETHING_ELSE = 'something else'

const ENTRY_WORDS: Readonly<Record<Exclude<EntryKind, 'symlink'>, string>> = {
  file: SOMETHING_ELSE,
  folder: 'a folder',
  pipe: 'a named pipe',
  socket: 'a socket',
  device: 'a device',
}

/** In MiB with one decimal; in bytes when that would hide the difference. */
function sizes(actual: number, limit: number): readonly [string, string] {
  const [is, most] = [mebibytes(actual), mebibytes(limit)]
  return is === most ? [`${actual} bytes`, `${limit} bytes`] : [is, most]
}
