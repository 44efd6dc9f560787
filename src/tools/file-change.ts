import { isUtf8 } from 'node:buffer'
import { sha256 } from '../encoding/hash.ts'
import { KEY_PLACEHOLDER } from '../encoding/redaction.ts'
import { lineDiff, unifiedDiff, type LineDiff } from '../encoding/unified-diff.ts'
import { shownPath } from '../host/files/confined-path.ts'
import { FILE_BYTES } from '../host/files/confined-write.ts'
import { failed, ok, type HawserError, type Result } from '../model/errors.ts'
import type { BlobKey } from '../model/ids.ts'
import { protectedBy } from '../policy/protected-paths.ts'
import { counted } from '../encoding/amounts.ts'
import { fittingLines, interruptedOutcome } from './shown-lines.ts'
import { failedOutcome, type PreviewContext, type ToolContext, type ToolOutcome } from './tool.ts'

/** What a file holds and is to hold; `before` is absent when there is none. */
interface PlannedChange {
  readonly path: string
  readonly before: Buffer | undefined
  readonly after: Buffer
  /** How many pieces of it are replaced; absent if it is written as a whole. */
  readonly replacements?: number
}

/**
 * Stores what a file held and will hold, and only then changes it: whatever happens in between, it can be put back. The
 * change is refused when the file is no longer as `before` says, and when it would put the placeholder of a key in the place
 * of that key. What is stored and shown is redacted; what is written is not.
 */
export async function changeFile(
  change: PlannedChange,
  context: ToolContext,
): Promise<ToolOutcome> {
  const { path, before, after } = change
  if (before?.equals(after) === true) {
    return { outcome: 'ok', output: `[${shownPath(path)} holds exactly this already]\n` }
  }
  const lost = lostKey(change, context)
  if (lost !== undefined) return failedOutcome(lost)
  const place = await decidedPlace(path, context)
  if (!place.ok) return failedOutcome(place.error)
  const before_blob = before === undefined ? ok(undefined) : await keep(before, context)
  if (!before_blob.ok) return failedOutcome(before_blob.error)
  const after_blob = await keep(after, context)
  if (!after_blob.ok) return failedOutcome(after_blob.error)
  if (context.signal.aborted) return interruptedOutcome()
  const expect = before === undefined ? 'absent' : { sha256: sha256(before) }
  const written = await context.files.write(path, after, { expect, place: place.value })
  if (!written.ok) return failedOutcome(written.error)
  return {
    outcome: 'ok',
    ...shownChange(change, context),
    path: place.value,
    ...(before_blob.value === undefined ? {} : { before_blob: before_blob.value }),
    after_blob: after_blob.value,
    ...redactedOf(change, context),
  }
}

/** The model saw the placeholder where the file has a key, and writes back what it saw. */
function lostKey(
  { path, before, after }: PlannedChange,
  { redactor }: ToolContext,
): HawserError | undefined {
  if (before === undefined || !after.includes(KEY_PLACEHOLDER)) return undefined
  if (!redactor.isLost(before, after)) return undefined
  const message = `${shownPath(path)} holds a key, which is shown as ${KEY_PLACEHOLDER}. This change would replace the key by those words, so nothing was written. Use edit on other parts of the file, without the line of the key.`
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

/** The whole change as a unified diff; `undefined` where one of the two is no text, or nothing changes. */
export function previewOf({ path, before, after }: PlannedChange): string | undefined {
  if ((before !== undefined && !isUtf8(before)) || !isUtf8(after)) return undefined
  const diff = unifiedDiff(shownPath(path), before?.toString('utf8') ?? '', after.toString('utf8'))
  return diff === '' ? undefined : diff
}

/** A link that was put in the way since may not lead to what nobody decided on. */
async function decidedPlace(
  path: string,
  { files, decided }: ToolContext,
): Promise<Result<string>> {
  const place = await files.realRelative(path)
  if (!place.ok) return place
  const touched = protectedBy(place.value)
  if (touched === undefined || decided.has(place.value)) return place
  const message = `${shownPath(path)} leads to ${shownPath(place.value)} now, which is protected. Use that path.`
  return failed('protected_path', message, { by: touched })
}

/** All that a path holds; `undefined` when there is nothing. */
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
  const message = `${shownPath(path)} would have to be handled whole and has ${counted(size, 'byte')}.`
  return failed('too_large', message, { limit: FILE_BYTES, actual: size }, [
    { action: 'Use bash for a file of this size.' },
  ])
}

function keep(bytes: Buffer, context: ToolContext): Promise<Result<BlobKey>> {
  return context.keep([bytes], isUtf8(bytes) ? 'text/plain' : 'application/octet-stream')
}

/** A line for the model, which knows the new text already, and the diff for people. */
function shownChange(
  { path, before, after, replacements }: PlannedChange,
  { limits, redactor }: ToolContext,
): { readonly output: string; readonly diff?: string } {
  const name = shownPath(path)
  const size = `${counted(linesIn(after), 'line')}, ${counted(after.length, 'byte')}`
  if (before === undefined) return { output: `Created ${name}: ${size}.\n` }
  const head =
    replacements === undefined
      ? `Replaced ${name}: ${size}`
      : `Edited ${name}: ${counted(replacements, 'replacement')}`
  if (!isUtf8(before) || !isUtf8(after)) {
    return { output: `${head}; it had ${counted(before.length, 'byte')} before.\n` }
  }
  const shown = (content: Buffer) => redactor.bytes(content).toString('utf8')
  const difference = lineDiff(shown(before), shown(after))
  const diff = difference.unified(name)
  if (diff === '') return { output: `${head}, only in keys, which are not shown.\n` }
  const { added, removed } = difference
  const where = replacements === undefined ? '' : ` (${placesIn(difference)})`
  return {
    output: `${head}, +${added} -${removed} lines${where}.\n`,
    diff: boundedDiff(diff, limits.output_bytes),
  }
}

const SHOWN_PLACES = 4

/** `lines 10-14, 40 and 3 more places`, as the file is now. */
function placesIn({ places }: LineDiff): string {
  const shown = places
    .slice(0, SHOWN_PLACES)
    .map(({ from, to }) => (from === to ? `${from}` : `${from}-${to}`))
  const more = places.length - shown.length
  const one = places.length === 1 && places[0]?.from === places[0]?.to
  const rest = more === 0 ? '' : ` and ${counted(more, 'more place')}`
  return `${one ? 'line' : 'lines'} ${shown.join(', ')}${rest}`
}

/** The blobs hold the change as a whole. */
function boundedDiff(diff: string, limit: number): string {
  const lines = diff.split('\n').slice(0, -1)
  const { text, shown, truncated } = fittingLines(lines, limit)
  if (!truncated) return text
  const rest = counted(lines.length - shown, 'more line')
  return `${text}[The change was made as a whole; ${rest} of it not shown.]\n`
}

function linesIn(bytes: Buffer): number {
  const ended = bytes.length === 0 || bytes.at(-1) === 10
  return bytes.toString('latin1').split('\n').length - (ended ? 1 : 0)
}
