import { fileSize } from '../../encoding/amounts.ts'
import { binaryKind } from '../../encoding/magic-bytes.ts'
import { plainText } from '../../encoding/plain-text.ts'
import { quote } from '../../encoding/quote.ts'
import type { InstructionsSoFar } from '../../history/instructions.ts'
import { ok, type Failed, type Result } from '../../model/errors.ts'
import type { EventData, EventDraft } from '../../model/events/event.ts'
import { notice } from '../../model/events/notice.ts'
import type {
  InstructionWithheld,
  NamedInstructions,
} from '../../model/events/instruction-events.ts'
import { LIMITS } from '../../model/limits.ts'
import { clipText } from '../../tools/shown-lines.ts'
import type { InstructionParts, TextKeeper } from '../parts/instruction-parts.ts'

interface LoadedTexts {
  readonly instructions: readonly NamedInstructions[]
  readonly drafts: readonly EventDraft<'project_instructions' | 'notice'>[]
}

/** Of a longer text, less than this is not worth a beginning. */
const LEAST_BEGINNING = 256

/**
 * Adds the texts to the entries of a list. A text that the model has keeps its place and its room; a new one is stored, as the
 * model will see it, as far as all together have room. Untrusted texts are not read.
 */
export async function loadTexts(
  parts: InstructionParts,
  entries: readonly NamedInstructions[],
  before: InstructionsSoFar,
  keeper: TextKeeper,
): Promise<Result<LoadedTexts>> {
  const named = new Map((before.late?.instructions ?? []).map((one) => [one.path, one]))
  const shown = before.texts()
  const trusted = await trustedPaths(parts, entries)
  const known = entries.map((entry) => knownText(entry, named.get(entry.path), trusted))
  let room = known.reduce((left, text) => left - (text?.text_bytes ?? 0), MOST_BYTES)
  const instructions: NamedInstructions[] = []
  const drafts: LoadedTexts['drafts'][number][] = []
  for (const [at, entry] of entries.entries()) {
    const last = named.get(entry.path)
    const text: TextFacts | Failed =
      known[at] ?? (await newText(parts, entry, trusted, { ...keeper, room }))
    if ('ok' in text) return text
    instructions.push({ ...entry, ...text })
    const { withheld } = text
    if (withheld !== undefined && isNews(entry, last, withheld))
      drafts.push(withheldNotice(entry.path, withheld))
    if (!isLoaded(text)) continue
    if (known[at] === undefined) room -= text.text_bytes
    if (shown.get(entry.path) === text.blob) continue
    drafts.push(...textDrafts(entry, text, before))
    if (text.truncated === true) drafts.push(truncatedNotice(entry, text))
  }
  return ok({ instructions, drafts })
}

const MOST_BYTES: number = LIMITS.instructions_text_bytes

/** What an entry says about its text: nothing, why it is not loaded, or which blob it is. */
type TextFacts = Pick<NamedInstructions, 'blob' | 'text_bytes' | 'truncated' | 'withheld'>
type LoadedText = TextFacts & Pick<EventData<'project_instructions'>, 'blob' | 'text_bytes'>

function isLoaded(text: TextFacts): text is LoadedText {
  return text.blob !== undefined && text.text_bytes !== undefined
}

async function trustedPaths(
  { isTrusted }: InstructionParts,
  entries: readonly NamedInstructions[],
): Promise<ReadonlySet<string>> {
  const trusted = new Set<string>()
  for (const { path, content_sha256 } of entries)
    if (content_sha256 !== undefined && (await isTrusted(path, content_sha256))) trusted.add(path)
  return trusted
}

/** The text of the same content in the last list, if it is still trusted. */
function knownText(
  { path, content_sha256 }: NamedInstructions,
  last: NamedInstructions | undefined,
  trusted: ReadonlySet<string>,
): LoadedText | undefined {
  if (!trusted.has(path) || last?.content_sha256 !== content_sha256) return undefined
  const { blob, text_bytes, truncated } = last ?? {}
  if (blob === undefined || text_bytes === undefined) return undefined
  return { blob, text_bytes, ...(truncated === true ? { truncated } : {}) }
}

/** Stores the text of a file. Fails only if that fails. */
async function newText(
  { files }: InstructionParts,
  { path, content_sha256, refused }: NamedInstructions,
  trusted: ReadonlySet<string>,
  { put, redactor, room }: TextKeeper & { readonly room: number },
): Promise<TextFacts | Failed> {
  if (refused !== undefined) return {}
  if (content_sha256 === undefined) return { withheld: 'too_large' }
  if (!trusted.has(path)) return { withheld: 'untrusted' }
  const content = await files.content(path, content_sha256)
  // If it changes right now, the next list has its new hash.
  if (content === undefined) return {}
  if (binaryKind(content) !== undefined) return { withheld: 'not_text' }
  // Removing a control sequence can join the parts of a key.
  const whole = redactor.text(plainText(redactor.bytes(content)).text)
  if (whole.trim() === '') return {}
  const text = clipText(whole, Math.max(0, room))
  const text_bytes = Buffer.byteLength(text)
  const truncated = text.length < whole.length
  if (truncated && text_bytes < LEAST_BEGINNING) return { withheld: 'over_limit' }
  const stored = await put([Buffer.from(text)], 'text/markdown')
  if (!stored.ok) return stored
  return { blob: stored.value, text_bytes, ...(truncated ? { truncated } : {}) }
}

/** The Event that shows a text to the model. */
function textDrafts(
  { path, bytes = 0, content_sha256 }: NamedInstructions,
  { blob, text_bytes, truncated }: LoadedText,
  { late }: InstructionsSoFar,
): EventDraft<'project_instructions'>[] {
  if (content_sha256 === undefined) return []
  const last = late?.instructions?.find((one) => one.path === path)
  const earlier = last?.content_sha256 === content_sha256 ? 'allowed' : 'changed'
  const joined = late === undefined ? 'session_start' : 'nearer'
  const reason = last === undefined ? joined : earlier
  const text = { blob, bytes, text_bytes, ...(truncated === true ? { truncated } : {}) }
  return [{ type: 'project_instructions', data: { path, content_sha256, ...text, reason } }]
}

/** Whether the person was not informed yet that this content is not loaded. */
function isNews(
  { content_sha256 }: NamedInstructions,
  last: NamedInstructions | undefined,
  withheld: InstructionWithheld,
) {
  return last?.content_sha256 !== content_sha256 || last?.withheld !== withheld
}

function withheldNotice(path: string, withheld: InstructionWithheld): EventDraft<'notice'> {
  const code = withheld === 'untrusted' ? 'instructions_untrusted' : 'instructions_not_loaded'
  return notice(code, `The text of ${quote(path)} is not loaded, because ${REASONS[withheld]}`)
}

const REASONS = {
  untrusted:
    'you have not trusted its content. To trust it, run in its folder: hawser trust --instructions',
  over_limit: 'the texts of all files are too long together.',
  too_large: 'the file is too large.',
  not_text: 'it is not text.',
} as const satisfies Record<InstructionWithheld, string>

function truncatedNotice(
  { path, bytes = 0 }: NamedInstructions,
  { text_bytes }: LoadedText,
): EventDraft<'notice'> {
  const size = `${fileSize(text_bytes)} of ${fileSize(bytes)}`
  const text = `The model gets only the beginning of ${quote(path)}: ${size}.`
  return notice('instructions_truncated', text)
}
