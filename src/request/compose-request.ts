import type { BlobStore } from '../blobs/store.ts'
import { cacheMarks } from '../prompt/cache-marks.ts'
import type { RequestInputs } from './predict.ts'
import { growingSha256 } from '../encoding/hash.ts'
import { changesExistingItems, Conversation } from '../history/conversation.ts'
import { historyOf } from '../history/history.ts'
import type { ConversationItem } from '../model/conversation.ts'
import { ok, type HawserError, type Result } from '../model/errors.ts'
import type { EventData, WholeEvent } from '../model/events/event.ts'
import type { TurnId } from '../model/ids.ts'
import type { Segment } from '../model/segment.ts'
import type { Surface } from '../model/surface.ts'
import type { Dialect, BodyOptions } from '../providers/provider.ts'
import { escapedItems } from './escaped-items.ts'
import { Fitting } from './fit-parts.ts'
import { loadParts, type HoldsKey, type LostResource } from './load-parts.ts'
import { projectedIn } from './projected.ts'
import {
  segmentsOf,
  sharedRun,
  type SegmentRun,
  type SentRequest,
  type StayingFiles,
} from './sent-request.ts'
import { Variants, type VariantWork } from './variants.ts'

/** The inputs of a request besides Events. */
export interface RequestParts {
  readonly provider: Dialect
  /** The name of the provider that receives the request. */
  readonly providerName?: string | undefined
  readonly surface: Surface
  /** The hash of the prompt texts, as recorded with the surface. */
  readonly words?: string | undefined
  readonly store: BlobStore
  readonly cacheKey: string
  /** Creates variants that the model accepts; without it only recorded ones are used. */
  readonly variants?: VariantWork | undefined
  /** Decides which bytes must not be sent to a model; without it, only the recorded decisions apply. */
  readonly holdsKey?: HoldsKey | undefined
}

export interface ComposeOptions {
  /** The last request of an earlier call, whose prefix may be cached. */
  readonly before?: SentRequest | undefined
  /**
   * An earlier request whose body is no longer needed: its buffer may be reused, because allocating large buffers costs
   * more than filling them. If it is the last request, the shared prefix is then hashed again.
   */
  readonly spentRequest?: ComposedRequest | undefined
  /** Results that follow the Events, in the order in which they will be recorded. */
  readonly ahead?: readonly RecordedResult[] | undefined
  /** The recorded projections, when the request is composed again. */
  readonly recordedProjections?: Projections | undefined
}

/** The fields of a `tool_result` that a request contains, as its Event contains them. */
export type RecordedResult = Pick<
  EventData<'tool_result'>,
  'call_id' | 'name' | 'outcome' | 'output'
>

/** A request exactly as it is sent. */
export interface ComposedRequest extends SentRequest {
  readonly body: Buffer
  /** The options its body was framed with. */
  readonly bodyOptions: BodyOptions
  readonly segments: readonly Segment[]
  /** The Resources whose bytes it contains. */
  readonly projections: Projections
  /** Images that are shown in a smaller form, with both sizes, for people. */
  readonly reductions: readonly string[]
  /** Why a variant that the model accepts could not be created, for people. */
  readonly variantFailures: readonly string[]
  /** Resources that cannot be shown, or that exceed the limits of the model. */
  readonly losses: readonly LostResource[]
  /** The store failed: such a request must not be sent. */
  readonly failure?: HawserError | undefined
}

type RecordedRequest = Pick<
  EventData<'provider_request'>,
  'request_sha256' | 'request_bytes' | 'projected'
>

type Projections = NonNullable<RecordedRequest['projected']>

/**
 * Composes the requests of one Turn from Events alone: the same Events always give the same bytes. Work that was done
 * for one request (folding, encoding, joining, hashing) is not repeated for the next.
 */
export class RequestComposer {
  readonly #parts: RequestParts
  readonly #turn: TurnId | undefined
  readonly #surfaceSegments: readonly Segment[]
  readonly #sha256 = growingSha256()
  #foldedEvents = 0
  #learnedEvents = 0
  #conversation: Conversation | undefined
  #segments: Segment[] = []
  #segmentBytes = 0
  /** Index of the first segment that is retired with this Turn. */
  #firstTransient: number | undefined
  /** The first segment of the latest Event whose bytes outlive the Turn: these are retired first. */
  #latestStaying: { readonly seq: number; readonly place: number } | undefined
  readonly #variants: Variants
  #fitting: Fitting
  #projections: Projections = []
  #losses: readonly LostResource[] = []
  #failure: HawserError | undefined
  /** Later Turns show every item as this one does. */
  #allStay = true

  constructor(parts: RequestParts, turn: TurnId | undefined) {
    this.#parts = parts
    this.#turn = turn
    this.#surfaceSegments = parts.provider.encode([], parts.surface)
    this.#variants = new Variants(parts.store, parts.variants)
    this.#fitting = new Fitting(parts.surface.params, this.#variants)
  }

  /**
   * `events` must be the same list every time, or start with the same Events; more may be appended afterwards, including
   * those of `ahead`.
   */
  async compose(
    events: readonly WholeEvent[],
    { before, spentRequest, ahead = [], recordedProjections = [] }: ComposeOptions = {},
  ): Promise<ComposedRequest> {
    const { run, inputs } = await this.#collect(events, { before, ahead, recordedProjections })
    const { provider, cacheKey } = this.#parts
    const continued = spentRequest?.run.list === run.list
    const shared = sharedRun(before, run, inputs)
    const bodyOptions = { cacheKey, marks: this.#marks(run, shared) }
    const known = continued ? { body: spentRequest.body, count: spentRequest.run.count } : undefined
    const body = provider.buildBody(run.list, { ...bodyOptions, spentBody: known })
    // Marks move after the end of the last request, and the bytes that close the last message belong to no segment.
    const sha256 = this.#sha256(body, run.bytes - shared.bytes + MOST_MOVED)
    const losses = [...this.#losses, ...this.#fitting.losses]
    const stays = this.#staying()
    const { reductions } = this.#fitting
    const { failures: variantFailures } = this.#variants
    const shown = {
      projections: this.#projections,
      reductions,
      variantFailures,
      losses,
      failure: this.#failure,
    }
    return new NewRequest({ body, sha256, run, inputs, bodyOptions, stays }, shown)
  }

  /** A request that was sent before, without its body, for comparison with the next one. */
  async composeAgain(
    events: readonly WholeEvent[],
    { request_sha256, request_bytes, projected = [] }: RecordedRequest,
  ): Promise<Result<SentRequest>> {
    const { run, inputs } = await this.#collect(events, { recordedProjections: projected })
    if (this.#failure !== undefined) return { ok: false, error: this.#failure }
    const stays = this.#staying()
    return ok({ sha256: request_sha256, length: request_bytes, run, inputs, stays })
  }

  /** Folds and encodes the new Events in `events`. */
  async #collect(
    events: readonly WholeEvent[],
    { before, ahead = [], recordedProjections = [] }: ComposeOptions,
  ) {
    // Events that are added while blobs are loaded belong to the next request.
    const count = events.length
    this.#variants.learn(recordedProjections)
    const items = this.#fold(events, ahead, before)
    await this.#encodeNew(items, events)
    const { provider, providerName, surface, words } = this.#parts
    const run = { list: this.#segments, count: this.#segments.length, bytes: this.#segmentBytes }
    const inputs = {
      dialect: provider.dialect,
      provider: providerName,
      surface,
      surfaceSegments: this.#surfaceSegments,
      events,
      count,
      turn: this.#turn,
      words,
    }
    return { run, inputs }
  }

  /**
   * Starts with the segments of `before`, a request of another Turn, if its items are the first of this Turn too. Returns the
   * number of Events that they show.
   */
  #continue(before: SentRequest | undefined, events: readonly WholeEvent[]): number {
    const { provider, surface } = this.#parts
    if (before?.stays === undefined || before.inputs.dialect !== provider.dialect) return 0
    if (before.inputs.surface !== surface) return 0
    const { events: shown, count: length = shown.length } = before.inputs
    for (let at = 0; at < length; at += 1) if (shown[at] !== events[at]) return 0
    // The answer to a request changes only items with bytes.
    const rest = events.slice(length)
    if (rest.some((event) => changesExistingItems(event, event.turn_id))) return 0
    // All of them are stable.
    this.#segments = segmentsOf(before.run)
    this.#segmentBytes = before.run.bytes
    this.#fitting = new Fitting(surface.params, this.#variants, before.stays.limitedBytes)
    return length
  }

  /** See `SentRequest.stays`. */
  #staying(): StayingFiles | undefined {
    if (!this.#allStay || this.#conversation?.isSettled !== true) return undefined
    return { limitedBytes: this.#fitting.limitedBytes }
  }

  #marks({ count }: SegmentRun, shared: SegmentRun) {
    return cacheMarks({
      surface: this.#surfaceSegments.length,
      transient: this.#firstTransient ?? this.#latestStaying?.place,
      sharedEnd: shared.count,
      end: count,
    })
  }

  #fold(
    events: readonly WholeEvent[],
    ahead: readonly RecordedResult[],
    before: SentRequest | undefined,
  ): readonly ConversationItem[] {
    const fresh = events.slice(this.#foldedEvents)
    this.#foldedEvents = events.length
    const isFirst = this.#conversation === undefined
    if (isFirst || fresh.some((event) => changesExistingItems(event, this.#turn))) {
      // A new list, because earlier requests refer to the old one.
      this.#segments = []
      this.#segmentBytes = 0
      this.#firstTransient = undefined
      this.#latestStaying = undefined
      this.#fitting = new Fitting(this.#parts.surface.params, this.#variants)
      this.#projections = []
      this.#losses = []
      this.#failure = undefined
      this.#allStay = true
      this.#add(this.#surfaceSegments)
      const shown = isFirst ? this.#continue(before, historyOf(events).events) : 0
      const scope = { turn: this.#turn, replay: this.#parts.surface.params.replay }
      this.#conversation = new Conversation(events, scope, shown)
    } else {
      for (const event of fresh) this.#conversation?.add(event)
    }
    let seq = events.at(-1)?.seq ?? -1
    for (const result of ahead)
      this.#conversation?.settle({ kind: 'tool_result', seq: ++seq, ...result })
    return this.#conversation?.take() ?? []
  }

  async #encodeNew(
    items: readonly ConversationItem[],
    events: readonly WholeEvent[],
  ): Promise<void> {
    const { provider, surface } = this.#parts
    const fresh = items.every(isText) ? items : await this.#withFiles(items, events)
    this.#allStay &&= items.every((item, at) => isStable(item, fresh[at]))
    const shown = escapedItems(fresh, provider.dialect, surface.params)
    const encoded = provider.encode(shown, surface, this.#segments.at(-1))
    this.#add(encoded.slice(this.#surfaceSegments.length))
  }

  /** Learns the recorded variants, which only files need. */
  #learnVariants(events: readonly WholeEvent[]): void {
    for (; this.#learnedEvents < events.length; this.#learnedEvents += 1) {
      const event = events[this.#learnedEvents]
      if (event?.type === 'provider_request') this.#variants.learn(event.data.projected ?? [])
    }
  }

  /** Items with the bytes that they show. */
  async #withFiles(
    items: readonly ConversationItem[],
    events: readonly WholeEvent[],
  ): Promise<readonly ConversationItem[]> {
    const { store, holdsKey } = this.#parts
    this.#learnVariants(events)
    const loaded = await loadParts(items, store, holdsKey)
    const fitted = await this.#fitting.fit(loaded.items)
    this.#losses = [...this.#losses, ...loaded.losses]
    this.#failure ??= loaded.failure
    this.#projections = [...this.#projections, ...projectedIn(fitted)]
    return fitted
  }

  #add(segments: readonly Segment[]): void {
    for (const segment of segments) {
      const { lifetime, seq } = segment
      if (lifetime === 'window') {
        if (this.#latestStaying?.seq !== seq)
          this.#latestStaying = { seq, place: this.#segments.length }
      } else if (lifetime !== 'stable') this.#firstTransient ??= this.#segments.length
      this.#segments.push(segment)
      this.#segmentBytes += segment.bracket.length + segment.length
    }
  }
}

type FramedBody = Pick<
  ComposedRequest,
  'body' | 'sha256' | 'run' | 'inputs' | 'bodyOptions' | 'stays'
>
type Contents = Pick<
  ComposedRequest,
  'projections' | 'reductions' | 'variantFailures' | 'losses' | 'failure'
>

/** A class, because V8 keeps a hidden class for each object whose literal has a getter. */
class NewRequest implements ComposedRequest {
  readonly body: Buffer
  readonly length: number
  readonly sha256: string
  readonly run: SegmentRun
  readonly inputs: RequestInputs
  readonly bodyOptions: BodyOptions
  readonly stays: StayingFiles | undefined
  readonly projections: Projections
  readonly reductions: readonly string[]
  readonly variantFailures: readonly string[]
  readonly losses: readonly LostResource[]
  readonly failure: HawserError | undefined

  constructor({ body, sha256, run, inputs, bodyOptions, stays }: FramedBody, contents: Contents) {
    this.body = body
    this.length = body.length
    this.sha256 = sha256
    this.run = run
    this.inputs = inputs
    this.bodyOptions = bodyOptions
    this.stays = stays
    this.projections = contents.projections
    this.reductions = contents.reductions
    this.variantFailures = contents.variantFailures
    this.losses = contents.losses
    this.failure = contents.failure
  }

  get segments(): Segment[] {
    return segmentsOf(this.run)
  }
}

function isText(item: ConversationItem): boolean {
  return !('parts' in item) || item.parts.every(({ type }) => type === 'text')
}

/** Whether later Turns show an item as it is; `shown` is the item with its files. A file that is missing may be found later. */
function isStable(item: ConversationItem, shown: ConversationItem | undefined): boolean {
  if (!('parts' in item)) return true
  const files = shown !== undefined && 'parts' in shown ? shown.parts : []
  return item.parts.every(
    ({ type, lifetime }, at) => lifetime === 'stable' && files[at]?.type === type,
  )
}

/** The maximum size of all marks together with the bytes that close a body. */
const MOST_MOVED = 256
