import { mebibytes } from '../encoding/amounts.ts'
import { shortened } from '../encoding/quote.ts'
import type { AttachmentCode, AttachmentError } from '../model/attachment.ts'
import type { ErrorKind, HawserError } from '../model/errors.ts'
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

/** What reading a file failed with, by its kind and its facts. */
export function unread({ kind, details }: HawserError): Refusal {
  const known = UNREAD[kind]
  if (known !== undefined) return known(details)
  const { code } = details
  if (code === 'ENAMETOOLONG') return refusal('invalid_name', 'it has a name that is too long')
  const said = typeof code === 'string' ? ` (${code})` : ''
  return refusal('unreadable', `the system cannot read it${said}`)
}

const NOT_FOUND = refusal('not_found', 'there is no such file')

const UNREAD: Partial<Record<ErrorKind, (details: HawserError['details']) => Refusal>> = {
  not_found: () => NOT_FOUND,
  outside_workspace: () => refusal('outside_workspace', 'it does not lie in the workspace'),
  protected_path: () => refusal('outside_workspace', "it lies in a folder of Hawser's own"),
  invalid_args: () => refusal('invalid_name', 'it has a name that no file can have'),
  too_large: ({ size }) => moreThanFound(typeof size === 'number' ? size : Infinity),
  no_match: changedWhileRead,
  permission_denied: ({ reason }) =>
    reason === 'hard_link'
      ? refusal('hard_link', 'it has a second name (a hard link), which may lie elsewhere')
      : refusal('unreadable', 'the system denies access to it'),
  not_regular_file: ({ found, code }) => {
    // A part of the way to it is a file.
    if (code === 'ENOTDIR') return NOT_FOUND
    if (found === 'symlink' || code === 'ELOOP')
      return refusal('symlink', 'it is a symbolic link, and links are not followed')
    return refusal('not_regular_file', `it is ${notAFile(found, code)}, not a regular file`)
  },
}

/** There was more than the system had said before it was read. */
function moreThanFound(size: number): Refusal {
  return size > LIMITS.attachment_bytes ? tooLarge(size) : changedWhileRead()
}

/** A socket cannot even be opened. */
function notAFile(found: unknown, code: unknown): string {
  if (found === 'folder' || code === 'EISDIR') return 'a folder'
  if (found === 'pipe') return 'a named pipe'
  if (found === 'socket' || code === 'ENXIO') return 'a socket'
  return found === 'device' ? 'a device' : 'something else'
}

/** In MiB with one decimal; in bytes when that would hide the difference. */
function sizes(actual: number, limit: number): readonly [string, string] {
  const [is, most] = [mebibytes(actual), mebibytes(limit)]
  return is === most ? [`${actual} bytes`, `${limit} bytes`] : [is, most]
}
