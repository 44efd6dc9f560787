import { cacheMarks } from '../../src/contract/cache-marks.ts'
import { freezeSurface } from '../../src/contract/surface.ts'
import { conversationOf } from '../../src/history/conversation.ts'
import type { Replay } from '../../src/history/transients.ts'
import type { ConversationItem, Part } from '../../src/model/conversation.ts'
import type { WholeEvent } from '../../src/model/event.ts'
import type { ResourceId, TurnId } from '../../src/model/ids.ts'
import type { Segment } from '../../src/model/segment.ts'
import type { Surface } from '../../src/model/surface.ts'
import { cacheBlock } from '../../src/providers/rehearsal/wire/cache-blocks.ts'
import { TOOLSET, toolSchemas } from '../../src/tools/toolset.ts'
import { DIALECTS } from './dialects.ts'
import { madeSurface } from './made-surface.ts'
import type { Asked, Asking } from './replay-trace.ts'

/** What a token of the cache is four bytes of: of blocks as the rehearsal's server has them, or of all that is sent. */
export type Measure = 'wire' | 'sent'

const MEDIA_BYTES = 6_400
const MINIMUM = 1024
const TTL_MS = 300_000
const LOOKBACK = 20

interface Block {
  readonly id: number
  readonly bytes: number
  /** As a segment. */
  readonly sent: number
  readonly resource?: ResourceId
  readonly turn?: TurnId | undefined
  readonly size?: number
}

export function replaySurface(replay: Replay): Surface {
  const { params, ...made } = madeSurface(0, 0)
  const tools = toolSchemas(TOOLSET)
  return freezeSurface({ ...made, tools, params: { ...params, replay } }).surface
}

/** Composer and cache by arithmetic: lengths instead of bytes. */
export class ReplayModel implements Asking {
  readonly #replay: Replay
  readonly #measure: Measure
  readonly #surface: Surface
  readonly #fixed: number
  #blocks: Block[] = []
  #prefixes: Prefix[] = []
  #read = 0
  #turn: TurnId | undefined
  #ids = 0
  #shared = 0
  readonly #nodes = new Map<string, number>()
  readonly #used = new Map<number, number>()
  readonly #lengths: Lengths

  constructor(replay: Replay, measure: Measure) {
    this.#replay = replay
    this.#measure = measure
    this.#surface = replaySurface(replay)
    this.#lengths = lengthsOf(this.#surface, measure)
    this.#fixed = this.#lengths.fixed.length
    for (const one of this.#lengths.fixed) this.#put(one)
  }

  ask(events: readonly WholeEvent[], turn: TurnId, now: number): Asked {
    const before = this.#prefixes
    if (turn !== this.#turn && this.#replay === 'attach-turn')
      this.#drop(({ resource }) => resource !== undefined)
    this.#turn = turn
    for (const event of events.slice(this.#read)) this.#add(event)
    this.#read = events.length
    const shared =
      before === this.#prefixes
        ? this.#shared
        : before.findIndex(({ node }, at) => this.#prefixes[at]?.node !== node)
    const count =
      shared < 0 ? Math.min(this.#shared, before.length) : Math.min(shared, this.#shared)
    const end = this.#blocks.length
    const first = this.#blocks.findIndex(({ resource }) => resource !== undefined)
    const places = cacheMarks({
      surface: this.#fixed,
      transient: first < 0 ? undefined : first,
      shared: count,
      end,
    })
    const marks = places.map(({ after }) =>
      this.#measure === 'wire' && after === this.#fixed ? after - 1 : after,
    )
    const usage = this.#use(marks, now)
    this.#shared = end
    return {
      usage: { ...usage, output: 1, reasoning: 0 },
      request_bytes: this.#blocks.reduce((sum, { sent }) => sum + sent + 20, 0),
      shared_prefix_bytes: this.#blocks.slice(0, count).reduce((sum, { sent }) => sum + sent, 0),
      projected: this.#blocks.flatMap(({ resource, size }) =>
        resource === undefined
          ? []
          : [
              {
                resource_id: resource,
                content_sha256: '0'.repeat(64),
                bytes: size ?? 0,
                lifetime: 'window' as const,
              },
            ],
      ),
    }
  }

  #use(marks: readonly number[], now: number) {
    const tokens = (place: number) => this.#prefixes[place - 1]?.tokens ?? 0
    const kept = marks.filter((place) => tokens(place) >= MINIMUM)
    const found = this.#found(kept, now)
    for (const place of [...(found === 0 ? [] : [found]), ...kept]) {
      const node = this.#prefixes[place - 1]?.node
      if (node !== undefined) this.#used.set(node, now)
    }
    const cached_read = tokens(found)
    const cache_write = tokens(kept.at(-1) ?? 0) - cached_read
    return { input: tokens(this.#prefixes.length), cached_read, cache_write }
  }

  #found(kept: readonly number[], now: number): number {
    for (const mark of kept.toReversed()) {
      for (let place = mark; place > 0 && place > mark - LOOKBACK; place -= 1) {
        const used = this.#used.get(this.#prefixes[place - 1]?.node ?? -1)
        if (used !== undefined && now - used < TTL_MS) return place
      }
    }
    return 0
  }

  #add(event: WholeEvent): void {
    switch (event.type) {
      case 'user_message':
        for (const one of this.#lengths.message(event, this.#replay))
          this.#put({ ...one, turn: event.turn_id })
        return
      case 'assistant_message':
        return this.#put(this.#lengths.answer(event.data.text.length))
      case 'tool_call':
        return this.#put(this.#lengths.call)
      case 'tool_result':
        return this.#put(this.#lengths.result(event.data.output.length))
      case 'resource_retired': {
        const gone = event.data.resource_id
        return this.#drop(({ resource }) => resource === gone)
      }
      default:
        return
    }
  }

  #put(length: Length): void {
    const block = { ...length, id: (this.#ids += 1) }
    this.#blocks.push(block)
    this.#prefixes.push(this.#prefixAfter(this.#prefixes.at(-1), block))
  }

  #drop(goes: (block: Block) => boolean): void {
    if (!this.#blocks.some(goes)) return
    const first = this.#blocks.findIndex(goes)
    this.#blocks = this.#blocks.filter((block) => !goes(block))
    this.#prefixes = this.#prefixes.slice(0, first)
    for (const block of this.#blocks.slice(first))
      this.#prefixes.push(this.#prefixAfter(this.#prefixes.at(-1), block))
  }

  #prefixAfter(before: Prefix | undefined, { id, bytes }: Block): Prefix {
    const name = `${before?.node ?? 0} ${id}`
    const node = this.#nodes.get(name) ?? this.#nodes.size + 1
    this.#nodes.set(name, node)
    const all = (before?.bytes ?? 0) + bytes
    return { node, bytes: all, tokens: Math.ceil(all / 4) }
  }
}

interface Prefix {
  readonly node: number
  readonly bytes: number
  readonly tokens: number
}

type Length = Omit<Block, 'id'>

interface Lengths {
  readonly fixed: readonly Length[]
  readonly call: Length
  answer(bytes: number): Length
  result(bytes: number): Length
  message(event: WholeEvent<'user_message'>, replay: Replay): Length[]
}

function lengthsOf(surface: Surface, measure: Measure): Lengths {
  const { encode } = DIALECTS.messages
  const surfaceSegments = encode([], surface)
  const segmentsOf = (item: ConversationItem) =>
    encode([item], surface).slice(surfaceSegments.length)
  const lengthOf = (segment: Segment): Length => {
    const sent = segment.bytes.length
    if (measure === 'sent') return { sent, bytes: sent }
    const block: unknown = JSON.parse(segment.bytes.toString('utf8'))
    return { sent, bytes: cacheBlock({ role: roleOf(segment), block }).length }
  }
  const only = (item: ConversationItem): Length => {
    const [segment] = segmentsOf(item)
    if (segment === undefined) throw new Error('nothing was encoded')
    return lengthOf(segment)
  }
  const grown = ({ sent, bytes }: Length, by: number) => ({ sent: sent + by, bytes: bytes + by })
  const called = { seq: 0, call_id: 'call_000000', name: 'read' }
  const text = (value: string): Part => ({ type: 'text', text: value, lifetime: 'stable' })
  const answer = only({ kind: 'assistant', seq: 0, parts: [text('a')] })
  const result = only({ ...called, kind: 'tool_result', outcome: 'ok', output: 'a' })
  return {
    fixed: fixedLengths(surface, surfaceSegments, measure),
    call: only({ ...called, kind: 'tool_call', arguments: '{"path":"a.txt"}' }),
    answer: (bytes) => grown(answer, bytes - 1),
    result: (bytes) => grown(result, bytes - 1),
    message: (event) => {
      const [item] = conversationOf([event], { turn: event.turn_id, replay: 'window' })
      if (item === undefined || !('parts' in item)) throw new Error('a message says nothing')
      return item.parts.map((part): Length => {
        if (part.type === 'text') return only({ ...item, parts: [part] })
        const descriptor = event.data.resources?.find(
          ({ resource_id }) => resource_id === part.resource,
        )
        if (descriptor === undefined || descriptor.kind === 'link') throw new Error('no Resource')
        const sample = Buffer.from('aaa')
        const length = only({ ...item, parts: [{ ...part, bytes: sample }] })
        const [whole, tried] =
          descriptor.kind === 'text'
            ? [descriptor.size_bytes, 3]
            : [Math.ceil(descriptor.size_bytes / 3) * 4, 4]
        const counted = measure === 'wire' ? Math.min(MEDIA_BYTES, whole) : whole
        return {
          sent: length.sent + whole - tried,
          bytes: length.bytes + counted - tried,
          resource: descriptor.resource_id,
          size: descriptor.size_bytes,
        }
      })
    },
  }
}

function roleOf({ role }: Segment): string {
  return role === 'assistant' || role === 'tool_call' ? 'assistant' : 'user'
}

function fixedLengths(
  { tools, system, params: { tool_choice } }: Surface,
  segments: readonly Segment[],
  measure: Measure,
): Length[] {
  if (measure === 'sent')
    return segments.map(({ bytes: { length } }) => ({ sent: length, bytes: length }))
  const blocks = [
    ...tools.map(({ name, description, parameters }) => ({
      name,
      description,
      input_schema: parameters,
    })),
    ...system.map((words) => ({ type: 'text', text: words })),
    { tool_choice: { type: tool_choice } },
  ]
  return blocks.map((block, at) => ({
    sent: segments[at]?.bytes.length ?? 0,
    bytes: cacheBlock(block).length,
  }))
}
