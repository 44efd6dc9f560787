import { lineExcerpt } from '../../encoding/line-excerpt.ts'
import { Redactor } from '../../encoding/redaction.ts'
import { failed, ok, type Result } from '../../model/errors.ts'
import type { EventEnvelope, WholeEvent } from '../../model/events/event.ts'
import type {
  EventPage,
  HistoryFindings,
  HistoryMatch,
  HistorySearch,
  PageRange,
} from '../../model/events/event-search.ts'
import type { HistoryParts } from '../live/session-parts.ts'
import { readLog } from '../reading/read-log.ts'
import { searchLog, type Match } from './search.ts'
import { SEARCHED_TYPES, storedTextsOf, textsOf, toolOf } from './searched-texts.ts'
import { readStoredText, type UnreadBecause } from './stored-text.ts'
import { TurnNumbers } from './turn-numbers.ts'

// The Log of a Session for the model that continues it.

/** Time limits: of all, of matching, and of matching at a time. */
const TOTAL_MS = 10_000
const BUDGET_MS = 5_000
const BATCH_MS = 2_000
/** Matches are counted up to this number. */
const MOST_COUNTED = 1_000

/** Searches with the engine of `hawser grep`, the newest Event first. */
export async function searchHistory(
  { log, session, turns, signal }: HistoryParts,
  { pattern, turn, seq, limit }: HistorySearch,
): Promise<Result<HistoryFindings>> {
  const matches: HistoryMatch[] = []
  let matchCount = 0
  const options = {
    pattern,
    turn,
    seq,
    signal,
    limit: MOST_COUNTED,
    budgetMs: BUDGET_MS,
    batchMs: BATCH_MS,
    totalMs: TOTAL_MS,
    forModel: { turns, tool: 'history_search' },
  }
  const end = await searchLog(log, session, options, (match) => {
    matchCount += 1
    if (matches.length < limit) matches.push(excerptOf(match))
  })
  if (!end.ok) return end
  const { gaveUp, unread, damage } = end.value
  return ok({
    matches,
    matchCount,
    isCounted: matchCount < MOST_COUNTED,
    turns,
    ...(gaveUp === undefined ? {} : { stop: gaveUp }),
    unread,
    damage,
  })
}

/** A line may be long; only the part around the match is kept. */
function excerptOf(match: Match): HistoryMatch {
  const { text, start, end, cutBefore, cutAfter } = lineExcerpt(match)
  const before = cutBefore ? '…' : ''
  return {
    ...match,
    text: `${before}${text}${cutAfter ? '…' : ''}`,
    start: start + before.length,
    end: end + before.length,
  }
}

/** Part of the text of an Event; of a command with truncated output, part of the whole output. */
export async function readEvent(
  { log, session, signal }: HistoryParts,
  seq: number,
  part: PageRange,
): Promise<Result<EventPage>> {
  const turns = new TurnNumbers()
  const { clock } = log.place
  const deadline = clock.monotonicMs() + TOTAL_MS
  let turn: number | undefined
  let last = -1
  let found: WholeEvent | undefined
  const isWanted = (event: EventEnvelope) => {
    turn = turns.of(event)
    return event.seq === seq
  }
  const end = await readLog(log, session, { isWanted }, ({ raw, event }) => {
    last = raw.seq
    found = event
    const goesOn = raw.seq < seq && !signal.aborted && clock.monotonicMs() <= deadline
    return goesOn ? undefined : false
  })
  if (!end.ok) return end
  if (signal.aborted) return failed('interrupted', 'The search was interrupted.')
  if (found === undefined || !SEARCHED_TYPES.has(found.type)) {
    if (last < seq && end.value.damage !== undefined) return { ok: false, error: end.value.damage }
    return last < seq && clock.monotonicMs() > deadline
      ? failed('timeout', `Event ${seq} was not reached in ${TOTAL_MS / 1000} s.`)
      : failed('not_found', `There is no Event ${seq} with text in this Session.`)
  }
  const page = new Page(part)
  const unread = await fill(page, found, log)
  if (!unread.ok) return unread
  const { text, characters } = page
  const { type } = found
  return ok({ seq, turn, type, tool: toolOf(found), text, characters, unread: unread.value })
}

/** Adds the texts of an Event. Returns why the whole output is unavailable, if so. */
async function fill(
  page: Page,
  event: WholeEvent,
  { store, secrets }: HistoryParts['log'],
): Promise<Result<UnreadBecause | undefined>> {
  const whole = storedTextsOf(event).find(({ resource }) => resource === undefined)
  if (whole !== undefined) {
    const read = await readStoredText(store, whole, new Redactor(secrets), (piece) => {
      page.add(piece)
    })
    if (!read.ok || read.value === undefined) return read
    addTexts(page, event)
    return read
  }
  addTexts(page, event)
  return ok(undefined)
}

/** With more than one text, a line before each names its field. */
function addTexts(page: Page, event: WholeEvent): void {
  const texts = textsOf(event)
  for (const { field, text } of texts) {
    if (texts.length === 1) page.add(text)
    else page.add(`[${field}]\n${text}${text.endsWith('\n') ? '' : '\n'}`)
  }
}

/** Takes part of a text that arrives in pieces. */
class Page {
  readonly #from: number
  readonly #to: number
  #text = ''
  #characters = 0

  constructor({ offset, length }: PageRange) {
    this.#from = offset
    this.#to = offset + length
  }

  get text(): string {
    return this.#text
  }

  get characters(): number {
    return this.#characters
  }

  add(piece: string): void {
    const before = this.#characters
    this.#characters += piece.length
    const from = Math.max(0, this.#from - before)
    if (from < piece.length && before < this.#to) {
      this.#text += piece.slice(from, this.#to - before)
    }
  }
}
