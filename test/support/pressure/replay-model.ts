import { cacheMarks } from '../../../src/prompt/cache-marks.ts'
import type { Replay } from '../../../src/model/modes.ts'
import type { WholeEvent } from '../../../src/model/events/event.ts'
import { BlobKey, type TurnId } from '../../../src/model/ids.ts'
import { lengthsBy, type Length, type Lengths, type Measure } from './replay-lengths.ts'
import type { ReplayCall, ReplayProvider } from './replay-story.ts'

/** A segment, represented by its length. */
interface Block extends Length {
  readonly id: number
  /** The Event it comes from. */
  readonly seq: number
}

/** A request up to the end of one block; equal blocks in the same order have the same node. */
interface Prefix {
  readonly node: number
  readonly sent: number
  readonly counted: number
}

/** An arithmetic model of composer and prompt cache, fast enough for hundreds of traces: the same figures, from lengths. */
export class ReplayModel implements ReplayProvider {
  readonly #replay: Replay
  readonly #measure: Measure
  readonly #lengths: Lengths
  readonly #cache = new PrefixCache()
  readonly #nodes = new Map<string, number>()
  #blocks: Block[] = []
  #prefixes: Prefix[] = []
  #ids = 0
  #read = 0
  #turn: TurnId | undefined
  /** The number of blocks that this request shares with the last one. */
  #shared = 0
  /** The position before the blocks of the latest message that shows Resources. */
  #latest: number | undefined
  #projected: ReplayCall['projected'] = []

  constructor(replay: Replay, measure: Measure) {
    this.#replay = replay
    this.#measure = measure
    this.#lengths = lengthsBy(measure)
    for (const length of this.#lengths.surface) this.#put(length, -1)
  }

  keep(): BlobKey {
    return NO_BLOB
  }

  ask(events: readonly WholeEvent[], turn: TurnId, now: number): ReplayCall {
    if (turn !== this.#turn && this.#replay === 'attach-turn')
      this.#drop(({ resource }) => resource !== undefined)
    this.#turn = turn
    for (const event of events.slice(this.#read)) this.#add(event)
    this.#read = events.length
    const shared_prefix_bytes = this.#prefixes[this.#shared - 1]?.sent ?? 0
    const usage = this.#cache.use(this.#prefixes, this.#marks(), now)
    this.#shared = this.#blocks.length
    return {
      usage: { ...usage, output: 1, reasoning: 0 },
      request_bytes: this.#prefixes.at(-1)?.sent ?? 0,
      shared_prefix_bytes,
      projected: this.#projected,
    }
  }

  #marks(): number[] {
    const surface = this.#lengths.surface.length
    const [sharedEnd, end] = [this.#shared, this.#blocks.length]
    const marks = cacheMarks({ surface, transient: this.#latest, sharedEnd, end })
    // The block that the server counts after the instructions has no mark.
    const behind = this.#measure === 'wire' ? 1 : 0
    return marks.map(({ after }) => (after === surface ? after - behind : after))
  }

  #add(event: WholeEvent): void {
    if (event.type === 'user_message') {
      for (const length of this.#lengths.message(event)) this.#put(length, event.seq)
      this.#look()
    } else if (event.type === 'assistant_message') {
      this.#put(this.#lengths.answer(event.data.text.length), event.seq)
    } else if (event.type === 'tool_call') {
      this.#put(this.#lengths.toolCall, event.seq)
    } else if (event.type === 'tool_result') {
      this.#put(this.#lengths.result(event.data.output.length), event.seq)
    } else if (event.type === 'resource_retired') {
      const { resource_id } = event.data
      this.#drop(({ resource }) => resource === resource_id)
    }
  }

  #put(length: Length, seq: number): void {
    this.#blocks.push({ ...length, seq, id: (this.#ids += 1) })
    this.#prefixes.push(this.#next())
  }

  #drop(goes: (block: Block) => boolean): void {
    const first = this.#blocks.findIndex(goes)
    if (first === -1) return
    this.#blocks = this.#blocks.filter((block) => !goes(block))
    this.#prefixes = this.#prefixes.slice(0, first)
    while (this.#prefixes.length < this.#blocks.length) this.#prefixes.push(this.#next())
    this.#shared = Math.min(this.#shared, first)
    this.#look()
  }

  /** The prefix with one more block. */
  #next(): Prefix {
    const before = this.#prefixes.at(-1)
    const { id, sent, counted } = this.#blocks[this.#prefixes.length] ?? {
      id: 0,
      sent: 0,
      counted: 0,
    }
    const name = `${before?.node ?? 0} ${id}`
    const node = this.#nodes.get(name) ?? this.#nodes.size + 1
    this.#nodes.set(name, node)
    return { node, sent: (before?.sent ?? 0) + sent, counted: (before?.counted ?? 0) + counted }
  }

  #look(): void {
    const showing = this.#blocks.flatMap(({ resource, bytes, seq }, place) =>
      resource === undefined ? [] : [{ resource_id: resource, bytes: bytes ?? 0, seq, place }],
    )
    const seq = showing.at(-1)?.seq
    this.#latest = showing.find((one) => one.seq === seq)?.place
    this.#projected = showing.map(({ resource_id, bytes }) => {
      return { resource_id, bytes, content_sha256: NO_BLOB.slice(0, 64), lifetime: 'window' }
    })
  }
}

const NO_BLOB = BlobKey.parse(`${'0'.repeat(64)}.bin`)

const MINIMUM_TOKENS = 1_024
const KEPT_MS = 5 * 60_000
const LOOKBACK = 20

/** A model of the prompt cache of the rehearsal server, with numbers as prefixes. */
class PrefixCache {
  readonly #used = new Map<number, number>()

  use(prefixes: readonly Prefix[], marks: readonly number[], now: number) {
    const tokensAt = (place: number) => Math.ceil((prefixes[place - 1]?.counted ?? 0) / 4)
    const kept = marks.filter((place) => tokensAt(place) >= MINIMUM_TOKENS)
    const found = this.#found(prefixes, kept, now)
    for (const place of [found, ...kept]) {
      const { node } = prefixes[place - 1] ?? {}
      if (node !== undefined) this.#used.set(node, now)
    }
    const cached_read = tokensAt(found)
    const cache_write = tokensAt(kept.at(-1) ?? 0) - cached_read
    return { input: tokensAt(prefixes.length), cached_read, cache_write }
  }

  #found(prefixes: readonly Prefix[], kept: readonly number[], now: number): number {
    for (const mark of kept.toReversed()) {
      for (let place = mark; place > Math.max(0, mark - LOOKBACK); place -= 1) {
        const used = this.#used.get(prefixes[place - 1]?.node ?? -1)
        if (used !== undefined && now - used < KEPT_MS) return place
      }
    }
    return 0
  }
}
