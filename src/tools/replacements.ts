import { countOf, groupDigits } from '../encoding/amounts.ts'
import { escapeNotes, originalText } from '../encoding/note-tag.ts'
import { KEY_PLACEHOLDER, type Redactor } from '../encoding/redaction.ts'
import { shownPath } from '../host/files/confined-path.ts'
import { FILE_BYTES } from '../host/files/confined-write.ts'
import { failed, ok, type Failed, type HawserError, type Result } from '../model/errors.ts'
import { tooLarge } from './file-change.ts'
import { nearestLine } from './nearest-line.ts'
import { clipText } from './shown-lines.ts'

/** One piece of text and what replaces it. */
export interface Edit {
  readonly old_text: string
  readonly new_text: string
  readonly replace_all?: boolean | undefined
}

/** A file to be edited. */
interface EditedFile {
  readonly path: string
  readonly bytes: Buffer
  readonly redactor: Redactor
  /** The model was shown the tag of notes with escapes. */
  readonly escapesNotes: boolean
}

export interface ReplaceResult {
  readonly bytes: Buffer
  /** The number of replacements. */
  readonly count: number
}

/** Bytes `[from, to)` become `fresh`. */
interface Replacement {
  /** The number of its edit, counted from 1. */
  readonly edit: number
  readonly from: number
  readonly to: number
  readonly fresh: Buffer
}

/**
 * Applies all edits or none. Each edit is matched against the original file, never against the result of another edit, so
 * their order does not matter; overlapping edits are refused. Works on bytes, so that content that is not UTF-8 stays
 * unchanged elsewhere in the file. Pure.
 */
export function replaceTexts(file: EditedFile, edits: readonly Edit[]): Result<ReplaceResult> {
  let left = MOST_REPLACEMENTS
  const found = edits.map((_, at) => {
    const one = replacementsOf(file, edits, at, left)
    if (one.ok) left -= one.value.length
    return one
  })
  const failures = found.flatMap((one, at) => (one.ok ? [] : [{ edit: at + 1, ...one }]))
  if (failures.length > 0) return notApplied(failures, edits.length)
  const all = found
    .flatMap((one) => (one.ok ? one.value : []))
    .toSorted((a, b) => a.from - b.from || a.edit - b.edit)
  const overlap = overlapIn(file, all)
  if (overlap !== undefined) return overlap
  const size = all.reduce(
    (sum, { from, to, fresh }) => sum - (to - from) + fresh.length,
    file.bytes.length,
  )
  if (size > FILE_BYTES) return tooLarge(file.path, size)
  return ok({ bytes: applyAll(file.bytes, all), count: all.length })
}

function replacementsOf(
  file: EditedFile,
  edits: readonly Edit[],
  at: number,
  left: number,
): Result<Replacement[]> {
  const edit = edits[at]
  if (edit === undefined) return ok([])
  const { old, fresh } = asInFile(file, edit)
  // An occurrence that overlaps the one before it is not replaced, but it makes old_text ambiguous.
  const step = edit.replace_all === true ? old.length : 1
  const places = placesOf(file.bytes, old, step)
  if (places.length === 0) return noMatch(file, edits, edit)
  if (places.length > 1 && edit.replace_all !== true) return notUnique(file, places)
  if (places.length > left) return tooMany(file)
  return ok(places.map((from) => ({ edit: at + 1, from, to: from + old.length, fresh })))
}

/** The maximum of all edits of a call together: each replacement takes memory, and a letter may occur millions of times. */
export const MOST_REPLACEMENTS = 100_000

function tooMany({ path }: EditedFile): Failed {
  const limit = groupDigits(MOST_REPLACEMENTS)
  const message = `This would make more than ${limit} replacements in ${shownPath(path)}, which is the limit of one call. Make old_text longer, or use bash.`
  return failed('too_large', message, { reason: 'replacements', limit: MOST_REPLACEMENTS })
}

/** In a file with CRLF line ends, LF in the texts matches CRLF. */
function asInFile({ bytes, escapesNotes }: EditedFile, edit: Edit) {
  const texts = escapesNotes ? spellingsFor(bytes, edit) : [edit]
  const spellings = texts.flatMap(({ old_text, new_text }) => [
    { old: Buffer.from(old_text), fresh: Buffer.from(new_text) },
    { old: withCrlf(old_text), fresh: withCrlf(new_text) },
  ])
  const [first = { old: Buffer.from(edit.old_text), fresh: Buffer.from(edit.new_text) }] = spellings
  return spellings.find(({ old }) => bytes.includes(old)) ?? first
}

/** Such a request shows a file that contains the tag of notes with escapes, and the model quotes it as it was shown. */
function spellingsFor(bytes: Buffer, { old_text, new_text }: Edit) {
  const asWritten = { old_text, new_text }
  const original = { old_text: originalText(old_text), new_text: originalText(new_text) }
  if (original.old_text === old_text && original.new_text === new_text) return [asWritten]
  const content = bytes.toString('utf8')
  return escapeNotes(content) === content ? [asWritten] : [original, asWritten]
}

function withCrlf(text: string): Buffer {
  return Buffer.from(text.replaceAll(/\r?\n/g, '\r\n'))
}

/** Stops at one place more than the limit, which is enough to know that it is exceeded. */
function placesOf(bytes: Buffer, piece: Buffer, step: number): number[] {
  const places: number[] = []
  let at = bytes.indexOf(piece)
  while (at !== -1 && places.length <= MOST_REPLACEMENTS) {
    places.push(at)
    at = bytes.indexOf(piece, at + step)
  }
  return places
}

/** `all` is in ascending order, without overlaps. */
function applyAll(bytes: Buffer, all: readonly Replacement[]): Buffer {
  const pieces: Buffer[] = []
  let rest = 0
  for (const { from, to, fresh } of all) {
    pieces.push(bytes.subarray(rest, from), fresh)
    rest = to
  }
  return Buffer.concat([...pieces, bytes.subarray(rest)])
}

function overlapIn({ path, bytes }: EditedFile, all: readonly Replacement[]): Failed | undefined {
  const second = all.findIndex(({ from }, at) => from < (all[at - 1]?.to ?? 0))
  const [one, other] = [all[second - 1], all[second]]
  if (one === undefined || other === undefined) return undefined
  const edits = [one.edit, other.edit].toSorted((a, b) => a - b)
  const [line = 1] = linesAt(bytes, [other.from])
  const message = `Edits ${edits.join(' and ')} overlap at line ${line} of ${shownPath(path)}. ${NOTHING_APPLIED} Combine them into one edit.`
  return failed('invalid_args', message, { reason: 'overlap', edits, line })
}

const NOTHING_APPLIED = 'No edit was applied.'
const SHOWN_FAILURES = 5

/** Names each edit that failed, unless there is only one. */
function notApplied(
  failures: readonly { readonly edit: number; readonly error: HawserError }[],
  edits: number,
): Failed {
  const [first] = failures
  if (first === undefined) throw new Error('at least one edit must have failed')
  const { kind, message, details } = first.error
  if (edits === 1) return failed(kind, message, details)
  const shown = failures
    .slice(0, SHOWN_FAILURES)
    .map(({ edit, error }) => `Edit ${edit} of ${edits}: ${error.message}`)
  const more = failures.length - shown.length
  const rest = more === 0 ? [] : [`${countOf(more, 'more edit')} failed.`]
  const words = [...shown, ...rest, NOTHING_APPLIED].join('\n')
  return failed(kind, words, { ...details, edits: failures.map(({ edit }) => edit) })
}

const SHOWN_PLACES = 20
const SHOWN_BYTES = 200

function notUnique({ path, bytes }: EditedFile, places: readonly number[]): Failed {
  const lines = linesAt(bytes, places.slice(0, SHOWN_PLACES))
  const more = places.length > lines.length ? ' and more' : ''
  const isCapped = places.length > MOST_REPLACEMENTS
  const count = isCapped
    ? `more than ${groupDigits(MOST_REPLACEMENTS)} times`
    : countOf(places.length, 'time')
  const message = `old_text occurs ${count} in ${shownPath(path)}, at lines ${lines.join(', ')}${more}. Include more of the surrounding text, or set replace_all.`
  return failed('not_unique', message, { count: places.length, lines })
}

function noMatch(file: EditedFile, edits: readonly Edit[], edit: Edit): Failed {
  const { path, bytes, redactor } = file
  const { old_text } = edit
  if (old_text.includes(KEY_PLACEHOLDER) && redactor.holds(bytes)) return hiddenKey(path)
  const message = `old_text not found in ${shownPath(path)}.`
  const source = edits.findIndex((other) => other !== edit && other.new_text.includes(old_text)) + 1
  if (source > 0) {
    const hint = `It is in the new_text of edit ${source}, but edits are matched against the file as it was before the call. Combine them into one edit.`
    return failed('no_match', `${message} ${hint}`, { reason: 'made_by_edit', source })
  }
  const nearest = nearestLine(redactor.bytes(bytes).toString('utf8'), old_text)
  if (nearest === undefined) return failed('no_match', `${message} Read it again.`)
  const { line, text, numbers } = nearest
  const hint = numbers
    ? 'Omit the line numbers that read shows.'
    : `The nearest match is line ${line}: ${clipText(text, SHOWN_BYTES)}`
  return failed('no_match', `${message} ${hint}`, { nearest_line: line })
}

/** The placeholder of a key is not in the file, so it never matches. */
function hiddenKey(path: string): Failed {
  const message = `${KEY_PLACEHOLDER} replaces a key in ${shownPath(path)} that is not shown, so old_text does not match. Leave the key out of old_text and new_text: match the text before or after it.`
  return failed('no_match', message, { reason: 'key_placeholder' })
}

/** The line numbers of places, which are in ascending order. */
function linesAt(bytes: Buffer, places: readonly number[]): number[] {
  let line = 1
  let from = 0
  return places.map((place) => {
    for (let at = bytes.indexOf(10, from); at !== -1 && at < place; at = bytes.indexOf(10, from)) {
      line += 1
      from = at + 1
    }
    return line
  })
}
