import { isUtf8 } from 'node:buffer'
import { sha256 } from '../encoding/hash.ts'
import { KEY_PLACEHOLDER } from '../encoding/redaction.ts'
import { lineDiff, unifiedDiff, type LineDiff } from '../encoding/unified-diff.ts'
import { shownPath } from '../host/files/confined-path.ts'
import { FILE_BYTES } from '../host/files/confined-write.ts'
import { failed, ok, type HawserError, type Result } from '../model/errors.ts'
import type { BlobKey } from '../model/ids.ts'
import { protectedBy } from '../policy/protected-paths.ts'
import { countOf, groupDigits } from '../encoding/amounts.ts'
import { fittingLines, interruptedOutcome } from './shown-lines.ts'
import { failedOutcome, type PreviewContext, type ToolContext, type ToolOutcome } from './tool.ts'

/** The old and new content of a file; `before` is `undefined` for a new file. */
interface PlannedChange {
  readonly path: string
  readonly before: Buffer | undefined
  readonly after: Buffer
  /** The number of replacements; absent if the whole file is written. */
  readonly replacements?: number
}

/**
 * Stores the old and the new content of a file before it changes the file, so that the change can be undone. Refuses the
 * change if the content is no longer `before`, or if a key would be replaced with its placeholder. Stored and shown content
 * is redacted; the content written to the file is not.
 */
export async function changeFile(
  change: PlannedChange,
  context: ToolContext,
): Promise<ToolOutcome> {
  const { path, before, after } = change
  if (before?.equals(after) === true) {
    return { outcome: 'ok', output: `[${shownPath(path)} already has exactly this content]\n` }
  }
  const lost = lostKey(change, context)
  if (lost !== undefined) return failedOutcome(lost)
  const place = await decidedPlace(path, context)
  if (!place.ok) return failedOutcome(place.error)
  const before_blob = before === undefined ? ok(undefined) : await keep(before, context)
  if (!before_blob.ok) return failedOutcome(before_blob.error)
  const after_blob = await keep(after, context)
  if (!after_blob.ok) return failedOutcome(after_blob.error)
  const shown = await shownChange(change, context)
  if (context.signal.aborted) return interruptedOutcome()
  const expect = before === undefined ? 'absent' : { sha256: sha256(before) }
  const written = await context.files.write(path, after, { expect, place: place.value })
  if (!written.ok) return failedOutcome(written.error)
  return {
    outcome: 'ok',
    ...shown,
    path: place.value,
    ...(before_blob.value === undefined ? {} : { before_blob: before_blob.value }),
    after_blob: after_blob.value,
    ...redactedOf(change, context),
  }
}

/** The model sees a placeholder instead of a key, and may write the placeholder back. */
function lostKey(
  { path, before, after }: PlannedChange,
  { redactor }: ToolContext,
): HawserError | undefined {
  if (before === undefined || !after.includes(KEY_PLACEHOLDER)) return undefined
  if (!redactor.isLost(before, after)) return undefined
  const message = `${shownPath(path)} contains a key, which is shown as ${KEY_PLACEHOLDER}. This change would replace the key with that placeholder, so nothing was written. Use edit on other parts of the file, without the line of the key.`
  return failed('invalid_args', message, { reason: 'key_placeholder' }).error
}

/** Hashes of the exact contents whose stored copies are redacted. */
function redactedOf(
  { before, after }: PlannedChange,
  { redactor }: ToolContext,
): Pick<ToolOutcome, 'redacted_of'> {
  const held = {
    ...(before !== undefined && redactor.holds(before) ? { before: sha256(before) } : {}),
    ...(redactor.holds(after) ? { after: sha256(after) } : {}),
  }
  return Object.keys(held).length === 0 ? {} : { redacted_of: held }
}

/** The whole change as a unified diff, empty if nothing changes; `undefined` if either content is not text. */
export async function previewOf({
  path,
  before,
  after,
}: PlannedChange): Promise<string | undefined> {
  if ((before !== undefined && !isUtf8(before)) || !isUtf8(after)) return undefined
  // An empty file that is created is a change without lines.
  if (before === undefined && after.length === 0) return undefined
  return unifiedDiff(shownPath(path), before?.toString('utf8') ?? '', after.toString('utf8'))
}

/** Resolves links again: a link that was created after the permission decision must not lead to a protected path. */
async function decidedPlace(
  path: string,
  { files, decidedPaths }: ToolContext,
): Promise<Result<string>> {
  const place = await files.realRelative(path)
  if (!place.ok) return place
  const touched = protectedBy(place.value)
  if (touched === undefined || decidedPaths.has(place.value)) return place
  const message = `${shownPath(path)} now leads to ${shownPath(place.value)}, which is protected. Use that path.`
  return failed('protected_path', message, { by: touched })
}

/** The whole content of a file; `undefined` if it does not exist. */
export async function wholeFile(
  path: string,
  { files }: PreviewContext,
): Promise<Result<Buffer | undefined>> {
  const file = await files.read(path, FILE_BYTES)
  if (!file.ok) return file.error.kind === 'not_found' ? ok(undefined) : file
  const { bytes, size, truncated } = file.value
  return truncated ? tooLarge(path, size) : ok(bytes)
}

export function tooLarge(path: string, size: number): Result<never> {
  const message = `${shownPath(path)} is too large: it has ${countOf(size, 'byte')}, and write and edit handle at most ${groupDigits(FILE_BYTES)}.`
  return failed('too_large', message, { limit: FILE_BYTES, actual: size }, [
    { action: 'Use bash for a file of this size.' },
  ])
}

function keep(bytes: Buffer, context: ToolContext): Promise<Result<BlobKey>> {
  return context.keep([bytes], isUtf8(bytes) ? 'text/plain' : 'application/octet-stream')
}

/** One line for the model, which already knows the new text, and the diff for people. */
async function shownChange(
  { path, before, after, replacements }: PlannedChange,
  { limits, redactor }: ToolContext,
): Promise<{ readonly output: string; readonly diff?: string }> {
  const name = shownPath(path)
  const size = `${countOf(linesIn(after), 'line')}, ${countOf(after.length, 'byte')}`
  if (before === undefined) return { output: `Created ${name}: ${size}.\n` }
  const head =
    replacements === undefined
      ? `Replaced ${name}: ${size}`
      : `Edited ${name}: ${countOf(replacements, 'replacement')}`
  if (!isUtf8(before) || !isUtf8(after)) {
    return { output: `${head}; it had ${countOf(before.length, 'byte')} before.\n` }
  }
  const shown = (content: Buffer) => redactor.bytes(content).toString('utf8')
  const difference = await lineDiff(shown(before), shown(after))
  const diff = difference.toPatch(name)
  if (diff === '') return { output: `${head}, only in keys, which are not shown.\n` }
  const { addedLines, removedLines } = difference
  const where = replacements === undefined ? '' : ` (${placesIn(difference)})`
  return {
    output: `${head}, +${addedLines} -${removedLines} lines${where}.\n`,
    diff: boundedDiff(diff, limits.output_bytes),
  }
}

const SHOWN_PLACES = 4

/** For example `lines 10-14, 40 and 3 more places`, in the new content. */
function placesIn({ places }: LineDiff): string {
  const shown = places
    .slice(0, SHOWN_PLACES)
    .map(({ from, to }) => (from === to ? `${from}` : `${from}-${to}`))
  const more = places.length - shown.length
  const one = places.length === 1 && places[0]?.from === places[0]?.to
  const rest = more === 0 ? '' : ` and ${countOf(more, 'more place')}`
  return `${one ? 'line' : 'lines'} ${shown.join(', ')}${rest}`
}

/** The whole change is in the blobs. */
function boundedDiff(diff: string, limit: number): string {
  const lines = diff.split('\n').slice(0, -1)
  const { text, shownLines, truncated } = fittingLines(lines, limit)
  if (!truncated) return text
  const rest = countOf(lines.length - shownLines, 'more line')
  return `${text}[${rest} not shown; the whole change was made.]\n`
}

function linesIn(bytes: Buffer): number {
  const ended = bytes.length === 0 || bytes.at(-1) === 10
  return bytes.toString('latin1').split('\n').length - (ended ? 1 : 0)
}
