import { groupDigits } from '../../encoding/amounts.ts'
import { sha256 } from '../../encoding/hash.ts'
import { plainText } from '../../encoding/plain-text.ts'
import { Redactor } from '../../encoding/redaction.ts'
import { historyOf } from '../../history/history.ts'
import { appendedTexts } from '../../history/instructions.ts'
import { failed, ok, type Failed, type Result } from '../../model/errors.ts'
import type { EventDraft, WholeEvent } from '../../model/events/event.ts'
import { APPENDED_INSTRUCTIONS } from '../../model/events/instruction-events.ts'
import { LIMITS } from '../../model/limits.ts'
import type { SessionParts } from './session-parts.ts'

/**
 * What records instructions that the person adds to a Session, in order: nothing for a text that it already has. Each text is
 * stored as the model will see it: without keys and without control sequences. All of a Session share one limit, so that
 * every checkpoint can carry them.
 */
export async function appendedDrafts(
  { store, secrets }: Pick<SessionParts['log'], 'store' | 'secrets'>,
  events: readonly WholeEvent[],
  typed: readonly string[] = [],
): Promise<Result<readonly EventDraft[]>> {
  if (typed.length === 0) return ok([])
  const known = appendedTexts(historyOf(events))
  const hashes = new Set<string>(known.map(({ content_sha256 }) => content_sha256))
  let bytes = known.reduce((sum, { text_bytes }) => sum + text_bytes, 0)
  const drafts: EventDraft[] = []
  for (const one of typed) {
    const text = shownText(one, new Redactor(secrets))
    if (text.trim() === '') return failed('invalid_args', 'The instructions to append are empty.')
    const content = Buffer.from(text)
    const content_sha256 = sha256(content)
    if (hashes.has(content_sha256)) continue
    hashes.add(content_sha256)
    bytes += content.length
    if (bytes > MOST_BYTES || hashes.size > MOST_TEXTS) return tooMuch(bytes, hashes.size)
    const stored = await store.put([content], 'text/markdown')
    if (!stored.ok) return stored
    const size = { bytes: content.length, text_bytes: content.length }
    const facts = { path: APPENDED_INSTRUCTIONS, content_sha256, blob: stored.value }
    const data = { ...facts, ...size, reason: 'appended' } as const
    drafts.push({ type: 'project_instructions', data })
  }
  return ok(drafts)
}

const MOST_BYTES: number = LIMITS.instructions_text_bytes
const MOST_TEXTS: number = LIMITS.instructions_files

/** Removing a control sequence can join the parts of a key. */
function shownText(typed: string, redactor: Redactor): string {
  return redactor.text(plainText(Buffer.from(redactor.text(typed))).text)
}

function tooMuch(bytes: number, count: number): Failed {
  const limit = `at most ${groupDigits(MOST_BYTES)} bytes in ${MOST_TEXTS} texts`
  const message = `The appended instructions of one Session have ${limit}; these would be ${groupDigits(bytes)} bytes in ${count}.`
  return failed('too_large', message, { bytes, limit: MOST_BYTES, texts: count }, [
    { action: 'Shorten the text, or put it in a file and mention the file in a message.' },
  ])
}
