import { decodedPieces } from '../encoding/charset.ts'
import { fileSize } from '../encoding/amounts.ts'
import { sha256 } from '../encoding/hash.ts'
import { binaryKind } from '../encoding/magic-bytes.ts'
import { shorten } from '../encoding/quote.ts'
import type { Redactor } from '../encoding/redaction.ts'
import type { BlobStore } from '../blobs/store.ts'
import type { ConfinedFiles, FileContent } from '../host/files/confined-files.ts'
import { shownPath } from '../host/files/confined-path.ts'
import type { MentionInput } from '../model/attachment.ts'
import { causeOf, ok, type Result } from '../model/errors.ts'
import type { MentionedPath, MentionError } from '../model/events/turn-events.ts'
import { LIMITS } from '../model/limits.ts'
import { overLimit, refusal, unreadableFile, type Refusal } from './refusal.ts'
import { textFacts } from './text-charset.ts'

export interface ResolvedMentions {
  readonly mentions: readonly MentionedPath[]
  readonly errors: readonly MentionError[]
}

export interface MentionParts {
  readonly files: Pick<ConfinedFiles, 'read' | 'list' | 'realRelative' | 'isProtected'>
  readonly keep: BlobStore['put']
  readonly redactor: Redactor
  /** After it aborts, nothing more is read. */
  readonly signal: AbortSignal
}

/**
 * Reads the files and folders that a message names, in order, and stores the part of each that is included. What cannot be
 * included has an error instead. Fails only if the store does.
 */
export async function resolveMentions(
  inputs: readonly MentionInput[],
  parts: MentionParts,
): Promise<Result<ResolvedMentions>> {
  const mentions: MentionedPath[] = []
  const errors: MentionError[] = []
  let left = LIMITS.message_mention_bytes
  for (const input of inputs) {
    if (parts.signal.aborted) break
    const refuse = ({ code, reason }: Refusal) => {
      const path = parts.redactor.text(shorten(input.given ?? input.path, SHOWN_PATH_BYTES))
      errors.push({ path, code, reason })
    }
    if (mentions.length + errors.length >= LIMITS.message_mentions) {
      refuse(tooMany(inputs.length))
      break
    }
    const included = await contentAt(input, parts)
    if (included === undefined) continue
    if ('code' in included) {
      if (input.attachedAs === undefined) refuse(included)
      continue
    }
    const { text, ...facts } = included
    if (mentions.some(({ path }) => path === facts.path)) continue
    const content = Buffer.from(text)
    if (content.length > left) {
      refuse(overBudget(content.length, left))
      continue
    }
    left -= content.length
    const blob = await parts.keep([content], 'text/plain')
    if (!blob.ok) return blob
    const stored = { content_sha256: sha256(content), blob: blob.value, bytes: content.length }
    mentions.push({ ...facts, ...stored })
  }
  return ok({ mentions, errors })
}

const SHOWN_PATH_BYTES = 400

/** The included content, and what is recorded about it. */
type IncludedContent = Omit<MentionedPath, 'content_sha256' | 'blob' | 'bytes'> & {
  readonly text: string
}

/** `undefined` if the attachment of the same file says everything. */
async function contentAt(
  { path, attachedAs }: MentionInput,
  parts: MentionParts,
): Promise<IncludedContent | Refusal | undefined> {
  const file = await parts.files.read(path, LIMITS.mention_read_bytes)
  if (file.ok) {
    if (attachedAs === 'unsaved' && file.value.isUnsaved !== true) return undefined
    return includedContent(file.value, parts.redactor)
  }
  const cause = causeOf(file.error)
  const isFolder = cause?.type === 'found' && cause.entry === 'folder'
  if (isFolder)
    return folderListing(path, parts, attachedAs === undefined ? Infinity : LINKED_NAMES)
  return attachedAs === undefined ? unreadableFile(file.error) : undefined
}

/** An editor links folders that a person did not mean to list. */
const LINKED_NAMES = 100

function includedContent(file: FileContent, redactor: Redactor): IncludedContent | Refusal {
  const { bytes, size, truncated } = file
  const read = decodeMention(bytes, truncated)
  if (read === undefined) {
    const what = binaryKind(bytes) ?? 'binary data'
    return refusal('unsupported_type', `it is ${what} of ${fileSize(size)}, not text`)
  }
  // Redacted before it is shortened: part of a key would not be recognized.
  const all = textLines(redactor.text(read.text))
  // The last line may be incomplete.
  if (truncated && all.length > 1) all.pop()
  const shown = fitting(all)
  const isCut = truncated || shown.count < all.length || shown.cut
  return {
    path: redactor.text(file.path),
    kind: 'file',
    text: shown.text,
    ...(shown.count === 0 ? {} : { from_line: 1, to_line: shown.count }),
    ...(truncated ? {} : { lines: all.length }),
    size_bytes: size,
    ...(read.charset === undefined ? {} : { charset: read.charset }),
    ...(file.isUnsaved === true ? { unsaved: true } : {}),
    ...(isCut ? { truncated: true } : {}),
  }
}

/** `undefined` if it is not text. */
function decodeMention(
  bytes: Buffer,
  truncated: boolean,
): { readonly text: string; readonly charset?: string } | undefined {
  const part = truncated ? withoutCutCharacter(bytes) : bytes
  const facts = textFacts(part)
  if (facts === undefined) return undefined
  const { charset } = facts
  const text = [...decodedPieces(part, charset ?? 'utf-8')].join('')
  return charset === undefined ? { text } : { text, charset }
}

/** The beginning of a file may end within a character of UTF-8 or UTF-16. */
function withoutCutCharacter(bytes: Buffer): Buffer {
  const [first, second] = bytes
  if (first === 0xff && second === 0xfe) return bytes.subarray(0, endOfUnits(bytes, 1))
  if (first === 0xfe && second === 0xff) return bytes.subarray(0, endOfUnits(bytes, 0))
  for (let at = bytes.length - 1; at >= Math.max(0, bytes.length - 3); at -= 1) {
    const byte = bytes[at] ?? 0
    // The first byte of a character has its length in its high bits.
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1
    if (byte < 0x80 || length > 1) return at + length > bytes.length ? bytes.subarray(0, at) : bytes
  }
  return bytes
}

/** `high`: which byte of a unit is the higher one. A pair of units is not separated. */
function endOfUnits(bytes: Buffer, high: 0 | 1): number {
  const end = bytes.length - (bytes.length % 2)
  const last = bytes[end - 2 + high] ?? 0
  return last >= 0xd8 && last <= 0xdb ? end - 2 : end
}

function textLines(text: string): string[] {
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines
}

/** As many whole lines as fit; of a single line that is too long, its beginning. */
function fitting(lines: readonly string[]): {
  readonly text: string
  readonly count: number
  readonly cut: boolean
} {
  let bytes = 0
  let count = 0
  for (const line of lines.slice(0, LIMITS.mention_lines)) {
    bytes += Buffer.byteLength(line) + 1
    if (bytes > LIMITS.mention_bytes) break
    count += 1
  }
  const [first] = lines
  if (count === 0 && first !== undefined)
    return { text: `${shorten(first, LIMITS.mention_bytes - 1)}\n`, count: 1, cut: true }
  const text = lines.slice(0, count).map((line) => `${line}\n`)
  return { text: text.join(''), count, cut: false }
}

async function folderListing(
  path: string,
  { files, redactor }: MentionParts,
  most: number,
): Promise<IncludedContent | Refusal> {
  const place = await files.realRelative(path)
  if (!place.ok) return unreadableFile(place.error)
  const entries = await files.list(path)
  if (!entries.ok) return unreadableFile(entries.error)
  const folder = place.value === '' ? '' : `${place.value}/`
  const names = entries.value
    .filter(({ name }) => !files.isProtected(`${folder}${name}`))
    .map(({ name, kind }) => redactor.text(`${shownPath(name)}${kind === 'folder' ? '/' : ''}`))
  const { text, count } = fitting(names.slice(0, most))
  return {
    path: redactor.text(place.value === '' ? '.' : place.value),
    kind: 'folder',
    text,
    ...(count === 0 ? {} : { from_line: 1, to_line: count }),
    lines: names.length,
    ...(count < names.length ? { truncated: true } : {}),
  }
}

function tooMany(actual: number): Refusal {
  const limit = LIMITS.message_mentions
  const reason = `this message names ${actual} files and folders, and the limit is ${limit}; it and those after it are not included`
  return overLimit('budget_exceeded', reason, { limit, actual })
}

function overBudget(size: number, left: number): Refusal {
  const reason = `${fileSize(size)} of it would be included, and ${fileSize(left)} are left for this message`
  return overLimit('budget_exceeded', reason, { limit: left, actual: size })
}
