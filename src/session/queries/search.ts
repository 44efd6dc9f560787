import { Redactor } from '../../encoding/redaction.ts'
import { fieldMissing } from '../../prompt/words/resources.ts'
import type { Descriptor } from '../../model/descriptor.ts'
import { failed, ok, type Result } from '../../model/errors.ts'
import type { EventEnvelope, EventType, WholeEvent } from '../../model/events/event.ts'
import type { SessionId } from '../../model/ids.ts'
import { definedFields } from '../../model/fields/defined-fields.ts'
import type { SessionParts } from '../live/session-parts.ts'
import { LineSearch, type StoppedBecause, type TextPlace } from './line-search.ts'
import { readLog, readLogBackward, type LogEnd, type ReadEvent } from '../reading/read-log.ts'
import {
  SEARCHED_TYPES,
  storedTextsOf,
  textsOf,
  toolOf,
  type StoredText,
} from './searched-texts.ts'
import { readStoredText, type UnreadBecause } from './stored-text.ts'
import { TurnNumbers } from './turn-numbers.ts'

/** A line of a text that matches the pattern. */
export interface Match extends EventPlace {
  /** Its path in the Event's data, such as `output` or `arguments.command`. */
  readonly field: string
  /** The Resource whose content it is in. */
  readonly resource?: Descriptor
  /** The whole line, and the matching range. */
  readonly text: string
  readonly start: number
  readonly end: number
}

/** Where a text is. */
interface EventPlace {
  readonly seq: number
  readonly ts: string
  readonly type: EventType
  /** The number of its Turn, from 1; absent outside of a Turn. */
  readonly turn?: number
  /** The tool of a call or result. */
  readonly tool?: string
}

export interface SearchOptions {
  /** Must not be global: each line is searched from its start. */
  readonly pattern: RegExp
  /** Time limit for matching in this Log. */
  readonly budgetMs: number
  /** Time limit for matching at a time, during which nothing else in this process runs. Default: `budgetMs`. */
  readonly batchMs?: number
  /** Time limit of the whole search, reading included. Default: none. */
  readonly totalMs?: number
  /** See `ReadOptions`. */
  readonly elsewhere?: ReadonlySet<SessionId>
  readonly signal?: AbortSignal
  /** Maximum number of matches. */
  readonly limit: number
  /** Only this Turn, by its number; only this Event. */
  readonly turn?: number | undefined
  readonly seq?: number | undefined
  /**
   * For a model: the newest Event first, without the content of dropped and quarantined Resources, and without calls and
   * results of the tool that searches. `turns` is the number of Turns in the Log.
   */
  readonly forModel?: { readonly turns: number; readonly tool: string }
}

/** A text that was not searched. */
export interface UnreadText {
  readonly seq: number
  readonly field: string
  readonly why: UnreadBecause | 'dropped' | 'quarantined'
}

/** How the search of one Log ended. */
export type SearchEnd = LogEnd & {
  /** Set if the search stopped before the end of the Log, at this Event. */
  readonly gaveUp?: SearchStop
  readonly unread: readonly UnreadText[]
}

export interface SearchStop {
  readonly seq: number
  readonly turn?: number
  readonly why: StoppedBecause
}

type SearchParts = Pick<SessionParts['log'], 'place' | 'store' | 'secrets'>

/**
 * Passes every line of a Session that matches the pattern to `visit`: in Log order, or, for a model, the newest Event
 * first, with the lines of one Event in order.
 */
export async function searchLog(
  parts: SearchParts,
  session: SessionId,
  options: SearchOptions,
  visit: (match: Match) => void | Promise<void>,
): Promise<Result<SearchEnd>> {
  const { forModel } = options
  const search = new LogSearch(parts, options, visit)
  const turns = new TurnNumbers(forModel?.turns)
  let turn: number | undefined
  const wanted = (event: EventEnvelope) => {
    turn = turns.of(event)
    return isWanted(event, turn, options)
  }
  const isPast = ({ seq }: EventEnvelope, own: number | undefined) => {
    const { turn: only, seq: at } = options
    if (at !== undefined && (forModel === undefined ? seq > at : seq < at)) return true
    return only !== undefined && own !== only && turns.isPast(only)
  }
  const { elsewhere } = options
  const reading = { isWanted: wanted, ...definedFields({ elsewhere }) }
  const read = forModel === undefined ? readLog : readLogBackward
  let failure: Result<never> | undefined
  const end = await read(parts, session, reading, async (event) => {
    if (isPast(event.raw, turn)) return false
    const added = await search.add(event, turn)
    if (!added.ok) failure = added
    return added.ok && added.value ? undefined : false
  })
  if (failure !== undefined) return failure
  if (!end.ok) return end
  if (options.signal?.aborted === true) return failed('interrupted', 'The search was interrupted.')
  await search.finish()
  const { gaveUp, unread } = search
  return ok({ ...end.value, ...definedFields({ gaveUp }), unread })
}

function isWanted(
  { type, seq, data }: EventEnvelope,
  turn: number | undefined,
  options: SearchOptions,
): boolean {
  if (!SEARCHED_TYPES.has(type)) return false
  if (options.turn !== undefined && options.turn !== turn) return false
  if (options.seq !== undefined && options.seq !== seq) return false
  const isCall = type === 'tool_call' || type === 'tool_result'
  return !isCall || options.forModel === undefined || data['name'] !== options.forModel.tool
}

/** The search of one Log, Event by Event. */
class LogSearch {
  readonly #parts: SearchParts
  readonly #options: SearchOptions
  readonly #redactor: Redactor
  readonly #lines: LineSearch<Source>
  readonly #visit: (match: Match) => void | Promise<void>
  readonly #deadline: number
  /** Each content is searched once, where it is found first. */
  readonly #searchedContents = new Set<string>()
  /** Resources that are never shown again. Complete for every Event only if the newest is read first. */
  readonly #goneResources = new Map<unknown, 'dropped' | 'quarantined'>()
  readonly #unread: UnreadText[] = []
  #stop: SearchStop | undefined

  constructor(
    parts: SearchParts,
    options: SearchOptions,
    visit: (match: Match) => void | Promise<void>,
  ) {
    const { clock } = parts.place
    this.#parts = parts
    this.#options = options
    this.#visit = visit
    this.#redactor = new Redactor(parts.secrets)
    this.#lines = new LineSearch(clock, options)
    this.#deadline = clock.monotonicMs() + (options.totalMs ?? Infinity)
  }

  get gaveUp(): SearchStop | undefined {
    const { stopPlace } = this.#lines
    if (stopPlace === undefined) return this.#stop
    const { seq, turn } = stopPlace.place.event
    return { seq, ...definedFields({ turn }), why: stopPlace.why }
  }

  get unread(): readonly UnreadText[] {
    return this.#unread
  }

  /** Returns whether to continue. */
  async add({ raw, event }: ReadEvent, turn: number | undefined): Promise<Result<boolean>> {
    this.#note(raw)
    if (this.#stops(raw.seq, turn)) return ok(false)
    if (event === undefined) return ok(true)
    const place = eventPlace(event, turn)
    const lost = lostFields(raw, event)
    for (const field of lost) this.#unread.push({ seq: raw.seq, field, why: 'missing' })
    for (const { field, text } of textsOf(event)) {
      if (!lost.includes(field)) this.#lines.add({ event: place, field }, text)
    }
    for (const stored of storedTextsOf(event)) {
      const read = await this.#addStored(place, stored)
      if (!read.ok) return read
    }
    return ok(await this.#runIfFull())
  }

  async finish(): Promise<void> {
    for (const match of this.#lines.run()) await this.#visit(matchOf(match))
  }

  #note({ type, data }: EventEnvelope): void {
    // The first reason stays: read backward, it is noted last.
    if (type === 'resource_dropped') this.#goneResources.set(data['resource_id'], 'dropped')
    if (type === 'resource_quarantined') this.#goneResources.set(data['resource_id'], 'quarantined')
  }

  #stops(seq: number, turn: number | undefined): boolean {
    if (this.#options.signal?.aborted === true) return true
    if (this.#parts.place.clock.monotonicMs() <= this.#deadline) return false
    this.#stop ??= { seq, ...definedFields({ turn }), why: 'timeout' }
    return true
  }

  async #addStored(event: EventPlace, stored: StoredText): Promise<Result<void>> {
    const { field, blob, resource } = stored
    if (this.#searchedContents.has(blob)) return ok(undefined)
    const gone =
      this.#options.forModel === undefined
        ? undefined
        : this.#goneResources.get(resource?.resource_id)
    if (gone !== undefined) {
      this.#unread.push({ seq: event.seq, field, why: gone })
      return ok(undefined)
    }
    this.#searchedContents.add(blob)
    const source =
      resource === undefined ? { event, field, repeats: true } : { event, field, resource }
    const read = await readStoredText(this.#parts.store, stored, this.#redactor, async (piece) => {
      this.#lines.add(source, piece)
      const goesOn = await this.#runIfFull()
      return goesOn && !this.#stops(event.seq, event.turn) ? undefined : false
    })
    if (!read.ok) return read
    if (read.value !== undefined) this.#unread.push({ seq: event.seq, field, why: read.value })
    return ok(undefined)
  }

  async #runIfFull(): Promise<boolean> {
    if (this.#lines.isFull) await this.finish()
    return !this.#lines.isOver
  }
}

/** Where a searched text is. */
interface Source extends TextPlace {
  readonly event: EventPlace
  readonly field: string
  readonly resource?: Descriptor
}

function eventPlace(event: WholeEvent, turn: number | undefined): EventPlace {
  const { seq, ts, type } = event
  const tool = toolOf(event)
  return {
    seq,
    ts,
    type,
    ...definedFields({ turn, tool }),
  }
}

function matchOf({
  place: { event, field, resource },
  text,
  start,
  end,
}: ReturnType<LineSearch<Source>['run']>[number]): Match {
  return { ...event, field, ...definedFields({ resource }), text, start, end }
}

/** Long fields whose blob is missing or damaged; a sentence replaces them. */
function lostFields(raw: EventEnvelope, event: WholeEvent): string[] {
  const data: Readonly<Record<string, unknown>> = event.data
  return Object.keys(raw.data).flatMap((key) => {
    const field = key.replace(/_blob$/, '')
    return field !== key && data[field] === fieldMissing(field) ? [field] : []
  })
}
