import { freezeSurface } from '../../../src/prompt/surface.ts'
import { Conversation } from '../../../src/history/conversation.ts'
import type { Replay } from '../../../src/model/modes.ts'
import type { BlobPart, ConversationItem } from '../../../src/model/conversation.ts'
import type { WholeEvent } from '../../../src/model/events/event.ts'
import type { ResourceId } from '../../../src/model/ids.ts'
import type { Segment } from '../../../src/model/segment.ts'
import type { Surface } from '../../../src/model/surface.ts'
import { cacheBlock } from '../../../rehearse/src/cache-blocks.ts'
import { TOOLSET, toolSchemas } from '../../../src/tools/toolset.ts'
import { DIALECTS } from '../providers/dialects.ts'
import { generatedSurface } from '../history/generated-surface.ts'
import { TOOL_ARGUMENTS } from './replay-story.ts'

/** What counts four bytes as a token: `wire` the blocks of the rehearsal server, with shortened media; `sent` all bytes. */
export type Measure = 'wire' | 'sent'

/** The surface of a Session that plays a trace: that of the program, with one replay policy. */
export function replaySurface(replay: Replay): Surface {
  const { params, ...made } = generatedSurface(0, 0)
  return freezeSurface({ ...made, tools: TOOLS, params: { ...params, replay } }).surface
}

const TOOLS = toolSchemas(TOOLSET)

/** The length of a segment, and the length that the cache counts. */
export interface Length {
  readonly sent: number
  readonly counted: number
  readonly resource?: ResourceId
  /** The size of the Resource itself. */
  readonly bytes?: number
}

/** The lengths of everything that a trace can contain, computed without its bytes. */
export interface Lengths {
  readonly surface: readonly Length[]
  readonly toolCall: Length
  result(bytes: number): Length
  answer(bytes: number): Length
  message(event: WholeEvent<'user_message'>): Length[]
}

export function lengthsBy(measure: Measure): Lengths {
  const known = LENGTHS.get(measure) ?? measured(measure)
  LENGTHS.set(measure, known)
  return known
}

const LENGTHS = new Map<Measure, Lengths>()

/** Encodes one sample of each kind with a single letter; other lengths follow from the number of letters. */
function measured(measure: Measure): Lengths {
  const surface = replaySurface('window')
  const segments = DIALECTS.messages.encode([], surface)
  const lengthOf = (item: ConversationItem): Length => {
    const [segment] = DIALECTS.messages.encode([item], surface).slice(segments.length)
    if (segment === undefined) throw new Error('nothing was encoded')
    const sent = segment.bytes.length
    return { sent, counted: measure === 'sent' ? sent : cacheBlock(blockOf(segment)).length }
  }
  const called = { seq: 0, call_id: 'call_000000', name: 'read' }
  const letter = { type: 'text', text: 'a', lifetime: 'stable' } as const
  const result = lengthOf({ ...called, kind: 'tool_result', outcome: 'ok', output: 'a' })
  const answer = lengthOf({ kind: 'assistant', seq: 0, parts: [letter] })
  return {
    surface: surfaceLengths(surface, segments, measure),
    toolCall: lengthOf({ ...called, kind: 'tool_call', arguments: TOOL_ARGUMENTS }),
    result: (bytes) => longer(result, bytes - 1),
    answer: (bytes) => longer(answer, bytes - 1),
    message: (event) => {
      const [item] = new Conversation([event], { turn: event.turn_id, replay: 'window' }).items()
      if (item?.kind !== 'user') throw new Error('a message that says nothing')
      return item.parts.map((part) => {
        const bytes = part.type === 'text' ? undefined : sizeOf(part, event)
        if (part.type === 'text' || bytes === undefined) return lengthOf({ ...item, parts: [part] })
        const sample = lengthOf({ ...item, parts: [{ ...part, bytes: SAMPLE }] })
        return { ...withData(sample, part, bytes, measure), bytes }
      })
    },
  }
}

function longer({ sent, counted }: Length, by: number): Length {
  return { sent: sent + by, counted: counted + by }
}

function blockOf({ role, bytes }: Segment): object {
  const block: unknown = JSON.parse(bytes.toString('utf8'))
  const models = role === 'assistant' || role === 'tool_call'
  return { role: models ? 'assistant' : 'user', block }
}

const SAMPLE = Buffer.from('aaa')

/** The maximum length that the server counts for an image or document. */
const MOST_COUNTED = 6_400

function withData(sample: Length, part: BlobPart, bytes: number, measure: Measure): Length {
  const isText = part.media_type === 'text/plain'
  const dataIn = (count: number) => (isText ? count : Math.ceil(count / 3) * 4)
  const [data, sampled] = [dataIn(bytes), dataIn(SAMPLE.length)]
  const most = measure === 'wire' && !isText ? MOST_COUNTED : Infinity
  return {
    sent: sample.sent - sampled + data,
    counted: sample.counted - sampled + Math.min(most, data),
    ...(part.resource === undefined ? {} : { resource: part.resource }),
  }
}

function sizeOf({ resource }: BlobPart, { data }: WholeEvent<'user_message'>): number | undefined {
  const found = data.resources?.find(({ resource_id }) => resource_id === resource)
  return found === undefined || found.kind === 'link' ? undefined : found.size_bytes
}

/** The server counts the tool choice after tools and instructions; a request has it among the parameters before them. */
function surfaceLengths(
  { tools, system, params: { tool_choice } }: Surface,
  segments: readonly Segment[],
  measure: Measure,
): Length[] {
  const sent = segments.map(({ bytes }) => bytes.length)
  if (measure === 'sent') return sent.map((length) => ({ sent: length, counted: length }))
  const blocks = [
    ...tools.map(({ parameters, ...tool }) => ({ ...tool, input_schema: parameters })),
    ...system.map((text) => ({ type: 'text', text })),
    { tool_choice: { type: tool_choice } },
  ]
  return blocks.map((block, at) => ({ sent: sent[at] ?? 0, counted: cacheBlock(block).length }))
}
