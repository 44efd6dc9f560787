import { depthWithin, isJsonObject, parseJson } from '../../encoding/json.ts'
import type { Clock } from '../../host/clock.ts'
import { withinTime } from '../../host/time-limit.ts'
import { ok, type Result } from '../../model/errors.ts'
import type { EventData, EventType, WholeEvent } from '../../model/events/event.ts'
import type { SessionId } from '../../model/ids.ts'
import { LIMITS } from '../../model/limits.ts'
import { readLog, type LogEnd } from '../reading/read-log.ts'
import type { SessionParts } from '../live/session-parts.ts'

/** A line of a message, an answer or a tool call that matches the pattern. */
export interface Match {
  readonly seq: number
  readonly ts: string
  readonly type: EventType
  /** Its path in the Event's data, such as `output` or `arguments.command`. */
  readonly field: string
  /** The whole line, and the matching range. */
  readonly text: string
  readonly start: number
  readonly end: number
}

export interface SearchOptions {
  /** Must not be global: each line is searched from its start. */
  readonly pattern: RegExp
  /** Time limit for matching in this Log. */
  readonly budgetMs: number
  /** Maximum number of matches. */
  readonly limit: number
}

/** How the search of one Log ended. */
export type SearchEnd = LogEnd & {
  /** Set if the search stopped early: the pattern took too long or was too complex, from Event `seq` on. */
  readonly gaveUp?: { readonly seq: number; readonly why: 'timeout' | 'too_complex' }
}

/** Passes every line of a Session that matches the pattern to `visit`, in order. */
export async function searchLog(
  parts: Pick<SessionParts['log'], 'place' | 'store' | 'secrets'>,
  session: SessionId,
  options: SearchOptions,
  visit: (match: Match) => void | Promise<void>,
): Promise<Result<SearchEnd>> {
  const search = new Search(parts.place.clock, options)
  const runBatch = async () => {
    for (const match of search.run()) await visit(match)
    return search.over ? false : undefined
  }
  const end = await readLog(parts, session, { types: SEARCHED }, async ({ event }) => {
    if (event !== undefined) search.add(event)
    return search.waiting < BATCH_CHARACTERS ? undefined : runBatch()
  })
  if (!end.ok) return end
  await runBatch()
  const { gaveUp } = search
  return ok({ ...end.value, ...(gaveUp === undefined ? {} : { gaveUp }) })
}

const SEARCHED: readonly EventType[] = [
  'user_message',
  'assistant_message',
  'tool_call',
  'tool_result',
]

/** Text is searched in batches, because starting an interruptible search has a fixed cost. */
const BATCH_CHARACTERS = 256 * 1024

/** A text to search, and its location. */
type Piece = Omit<Match, 'start' | 'end'>

class Search {
  readonly #clock: Clock
  readonly #pattern: RegExp
  #budgetMs: number
  #limit: number
  #pieces: Piece[] = []
  #waiting = 0
  #gaveUp: SearchEnd['gaveUp']

  constructor(clock: Clock, { pattern, budgetMs, limit }: SearchOptions) {
    this.#clock = clock
    this.#pattern = pattern
    this.#budgetMs = budgetMs
    this.#limit = limit
  }

  get over(): boolean {
    return this.#gaveUp !== undefined || this.#limit <= 0
  }

  get gaveUp(): SearchEnd['gaveUp'] {
    return this.#gaveUp
  }

  /** Characters that are added but not yet searched. */
  get waiting(): number {
    return this.#waiting
  }

  add(event: WholeEvent): void {
    const { seq, ts, type } = event
    for (const { field, text } of textsOf(event)) {
      this.#pieces.push({ seq, ts, type, field, text })
      this.#waiting += text.length
    }
  }

  /** Searches the added text. */
  run(): readonly Match[] {
    const found: Match[] = []
    if (this.over) return found
    let at = 0
    const started = this.#clock.monotonicMs()
    const ended = withinTime(this.#budgetMs, () => {
      for (; at < this.#pieces.length && found.length < this.#limit; at++) {
        const piece = this.#pieces[at]
        if (piece !== undefined) this.#searchPiece(piece, found)
        if (this.#gaveUp !== undefined) return
      }
    })
    this.#budgetMs -= this.#clock.monotonicMs() - started
    if (!ended) this.#gaveUp = { seq: this.#pieces[at]?.seq ?? 0, why: 'timeout' }
    this.#limit -= found.length
    this.#pieces = []
    this.#waiting = 0
    return found
  }

  #searchPiece(piece: Piece, found: Match[]): void {
    try {
      for (const text of linesOf(piece.text)) {
        const match = this.#pattern.exec(text)
        if (match !== null) {
          found.push({ ...piece, text, start: match.index, end: match.index + match[0].length })
        }
        if (found.length >= this.#limit) return
      }
    } catch (error) {
      // The stack of the regular-expression engine overflowed: the pattern is too complex.
      if (!(error instanceof RangeError)) throw error
      this.#gaveUp = { seq: piece.seq, why: 'too_complex' }
    }
  }
}

function* linesOf(text: string): Generator<string> {
  for (let from = 0; from <= text.length;) {
    const newline = text.indexOf('\n', from)
    const end = newline === -1 ? text.length : newline
    // A final newline does not start another line.
    if (from < text.length) yield text.slice(from, text[end - 1] === '\r' ? end - 1 : end)
    from = end + 1
  }
}

interface Text {
  readonly field: string
  readonly text: string
}

function textsOf(event: WholeEvent): readonly Text[] {
  if (event.type === 'user_message') return messageTexts(event.data)
  if (event.type === 'assistant_message') return [{ field: 'text', text: event.data.text }]
  if (event.type === 'tool_result') return resultTexts(event.data)
  return event.type === 'tool_call' ? argumentTexts(event.data.arguments) : []
}

/** The result of a tool, and its change to a file. */
function resultTexts({ output, diff }: EventData<'tool_result'>) {
  return [
    { field: 'output', text: output },
    ...(diff === undefined ? [] : [{ field: 'diff', text: diff }]),
  ]
}

/** A person's message, and the names of its attachments. */
function messageTexts(data: EventData<'user_message'>) {
  const { text, piped, resources = [], attachment_errors = [] } = data
  return [
    { field: 'text', text },
    ...(piped === undefined ? [] : [{ field: 'piped', text: piped }]),
    ...resources.map((one, at) =>
      one.kind === 'link'
        ? { field: `resources.${at}.uri`, text: one.uri }
        : { field: `resources.${at}.name`, text: one.name },
    ),
    ...attachment_errors.map(({ name }, at) => ({
      field: `attachment_errors.${at}.name`,
      text: name,
    })),
  ]
}

/** Arguments are searched decoded, without JSON escapes; invalid JSON is searched as text. */
function argumentTexts(text: string): readonly Text[] {
  const value = parseJson(text)
  if (!isJsonObject(value) || !depthWithin(value, LIMITS.event_depth)) {
    return [{ field: 'arguments', text }]
  }
  return leavesOf('arguments', value)
}

function leavesOf(field: string, value: unknown): readonly Text[] {
  if (typeof value === 'string') return [{ field, text: value }]
  if (typeof value !== 'object' || value === null) return [{ field, text: JSON.stringify(value) }]
  return Object.entries(value).flatMap(([key, child]: [string, unknown]) =>
    leavesOf(`${field}.${key}`, child),
  )
}
