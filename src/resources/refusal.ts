import { mebibytes } from '../encoding/amounts.ts'
import { shorten } from '../encoding/quote.ts'
import type { AttachmentCode, AttachmentError } from '../model/attachment.ts'
import type { EntryKind, ErrorCause } from '../model/error-cause.ts'
import { causeOf, type ErrorKind, type HawserError } from '../model/errors.ts'
import { ATTACHMENT_EXTENSIONS, LIMITS } from '../model/limits.ts'

/** Why an attachment is refused. `reason` follows the name of the attachment and a colon, and never contains a path. */
export type Refusal = Omit<AttachmentError, 'name'>

export function refusal(code: AttachmentCode, reason: string): Refusal {
  return { code, reason }
}

/** A refusal because of a limit. The reason must contain both figures. */
export function overLimit(
  code: AttachmentCode,
  reason: string,
  figures: { readonly limit: number; readonly actual: number },
): Refusal {
  return { code, reason, ...figures }
}

export function attachmentTooLarge(actual: number): Refusal {
  const limit = LIMITS.attachment_bytes
  const [is, most] = sizes(actual, limit)
  return overLimit('too_large', `its size is ${is}, which exceeds the limit of ${most} per file`, {
    limit,
    actual,
  })
}

/** `before` is the number of bytes accepted so far. */
export function overBudget(size: number, before: number): Refusal {
  const limit = LIMITS.turn_attachment_bytes
  const actual = before + size
  const [sum, most] = sizes(actual, limit)
  const reason = `with it, the attachments of this Turn would total ${sum}, which exceeds the limit of ${most}`
  return overLimit('budget_exceeded', reason, { limit, actual })
}

/** `extension` as written, with its dot; empty if there is none. */
export function unsupportedType(extension: string): Refusal {
  const what = extension === '' ? 'without an extension' : `extension '${shorten(extension, 24)}'`
  const allowed = Object.keys(ATTACHMENT_EXTENSIONS).join(', ')
  return refusal(
    'unsupported_type',
    `Unsupported attachment ${what}. Supported extensions: ${allowed}`,
  )
}

export function changedWhileRead(): Refusal {
  return refusal('changed_while_read', 'it changed while it was being read')
}

/** `all`: the limit for all attachments of the Turn was exceeded, not that of one file. */
export function timedOut(all: boolean): Refusal {
  const limit = all ? LIMITS.turn_attachment_ms : LIMITS.attachment_ms
  const what = all ? 'the attachments of this Turn' : 'it'
  return { code: 'timeout', reason: `reading ${what} took longer than ${limit / 1000} s`, limit }
}

/** The refusal for a file that could not be read, by error kind and cause. */
export function unreadableFile(error: HawserError): Refusal {
  const cause = causeOf(error)
  const known = BY_KIND[error.kind]
  if (known !== undefined) return known(cause)
  const code = cause?.type === 'system' ? cause.code : undefined
  if (code === 'ENAMETOOLONG') return refusal('invalid_name', 'its name is too long')
  const suffix = code === undefined ? '' : ` (${code})`
  return refusal('unreadable', `it cannot be read${suffix}`)
}

const NOT_FOUND = refusal('not_found', 'the file does not exist')

/** The refusal of an attachment with this name, which is shown and never a path. */
export function refusalOf(name: string, found: Refusal): AttachmentError {
  if (found !== NOT_FOUND) return { ...found, name }
  return { ...found, name, reason: `Attachment file not found: ${name}` }
}

const BY_KIND: Partial<Record<ErrorKind, (cause: ErrorCause | undefined) => Refusal>> = {
  not_found: () => NOT_FOUND,
  outside_workspace: () => refusal('outside_workspace', 'it is outside the workspace'),
  protected_path: () => refusal('outside_workspace', 'it is in a folder that belongs to Hawser'),
  invalid_args: () => refusal('invalid_name', 'its name is not a valid file name'),
  too_large: (cause) => grownFile(cause?.type === 'grown' ? cause.size : Infinity),
  no_match: changedWhileRead,
  permission_denied: (cause) =>
    cause?.type === 'hard_link'
      ? refusal(
          'hard_link',
          'it has more than one hard link, and another may be outside the workspace',
        )
      : refusal('unreadable', 'permission denied'),
  not_regular_file: (cause) => {
    // A parent in its path is a file.
    if (cause?.type === 'system' && cause.code === 'ENOTDIR') return NOT_FOUND
    const entry = entryIn(cause)
    if (entry === 'symlink')
      return refusal('symlink', 'it is a symbolic link, and symbolic links are not followed')
    const what = entry === undefined ? SOMETHING_ELSE : ENTRY_WORDS[entry]
    return refusal('not_regular_file', `it is ${what}, not a regular file`)
  },
}

/** For callers that are confined to a workspace. */
export function throughLink(): Refusal {
  return refusal(
    'symlink',
    'a folder on its path is a symbolic link, and symbolic links are not followed',
  )
}

/** The file was larger than its size before reading. */
function grownFile(size: number): Refusal {
  return size > LIMITS.attachment_bytes ? attachmentTooLarge(size) : changedWhileRead()
}

/** The kind of the entry that was opened, or that the system refused to open. */
function entryIn(cause: ErrorCause | undefined): EntryKind | undefined {
  if (cause?.type === 'found') return cause.entry
  return cause?.type === 'system' ? ENTRY_BY_CODE[cause.code] : undefined
}

const ENTRY_BY_CODE: Readonly<Partial<Record<string, EntryKind>>> = {
  ELOOP: 'symlink',
  EISDIR: 'folder',
  ENXIO: 'socket',
}

const SOMETHING_ELSE = 'a special file'

const ENTRY_WORDS: Readonly<Record<Exclude<EntryKind, 'symlink'>, string>> = {
  file: SOMETHING_ELSE,
  folder: 'a folder',
  pipe: 'a named pipe',
  socket: 'a socket',
  device: 'a device',
}

/** In MiB with one decimal; in bytes if the rounded figures are equal. */
function sizes(actual: number, limit: number): readonly [string, string] {
  const [is, most] = [mebibytes(actual), mebibytes(limit)]
  return is === most ? [`${actual} bytes`, `${limit} bytes`] : [is, most]
}
