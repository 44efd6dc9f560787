import { canonicalJson } from '../../encoding/json.ts'
import type { ConversationItem, Part } from '../../model/conversation.ts'
import type { Lifetime, Segment } from '../../model/segment.ts'
import type { Surface } from '../../model/surface.ts'
import type { Framing, SpentBody } from '../provider.ts'
import type { WrittenSegment } from './schema.ts'

/** Parameters, tools, system blocks, then one segment a part of each item. An item's bytes depend on nothing beside it. Pure. */
export function encode(items: readonly ConversationItem[], surface: Surface): Segment[] {
  return [...fixedOf(surface), ...items.flatMap((item) => segmentsOf(item, surface))]
}

/**
 * The body: canonical JSON as a whole, because its parts are. This dialect has no cache marks. Pure, but for the memory of a
 * spent body, in which the new one is continued: the bytes are the same without it.
 */
export function frame(
  segments: readonly Segment[],
  { spent = NOTHING_FRAMED }: Pick<Framing, 'spent'>,
): Buffer {
  const fresh = segments.slice(spent.count)
  const length = fresh.reduce(
    (sum, { bytes }) => sum + COMMA.length + bytes.length,
    spent.body.length,
  )
  const room = roomFor(spent.body, length)
  let at = spent.body.length - SUFFIX.length
  for (const { bytes } of fresh) {
    if (at > FIRST) at += COMMA.copy(room, at)
    at += bytes.copy(room, at)
  }
  at += SUFFIX.copy(room, at)
  const body = room.subarray(0, at)
  ROOMS.set(body, room)
  return body
}

const COMMA = Buffer.from(',')
const SUFFIX = Buffer.from(']}')
const NOTHING_FRAMED: SpentBody = {
  body: Buffer.from('{"dialect":"rehearsal","segments":[]}'),
  count: 0,
}
/** Where the first segment stands. */
const FIRST = NOTHING_FRAMED.body.length - SUFFIX.length

/** A body lies at the start of a room that only it lies in. */
const ROOMS = new WeakMap<Buffer, Buffer>()

/** The body's own room, if it is large enough, or a new one with the body at its start and something to spare. */
function roomFor(body: Buffer, length: number): Buffer {
  const own = ROOMS.get(body)
  ROOMS.delete(body)
  if (own !== undefined && own.length >= length) return own
  const room = Buffer.allocUnsafeSlow(Math.ceil(length * 1.25))
  body.copy(room)
  return room
}

/** Encoded once a surface: it stands before every item that is ever encoded under it. */
function fixedOf(surface: Surface): readonly Segment[] {
  const known = FIXED.get(surface)
  if (known !== undefined) return known
  const written = [paramsOf(surface), ...surface.tools.map(toolOf), ...surface.system.map(systemOf)]
  const fixed = written.map((one) => segment(one, -1))
  FIXED.set(surface, fixed)
  return fixed
}

const FIXED = new WeakMap<Surface, readonly Segment[]>()

function paramsOf({ model, contract_version, params }: Surface): WrittenSegment {
  const effort = params.effort === undefined ? {} : { effort: params.effort }
  return { role: 'params', model, contract_version, tool_choice: params.tool_choice, ...effort }
}

function toolOf({ name, description, parameters }: Surface['tools'][number]): WrittenSegment {
  return { role: 'tool', name, description, parameters: { ...parameters } }
}

function systemOf(text: string): WrittenSegment {
  return { role: 'system', text }
}

function segmentsOf(item: ConversationItem, { model }: Surface): Segment[] {
  switch (item.kind) {
    case 'user':
    case 'developer':
    case 'assistant':
      return item.parts.map((part) => ({
        ...segment({ role: item.kind, parts: [writtenPart(part)] }, item.seq, part.lifetime),
        ...('resource' in part ? { resource: part.resource } : {}),
      }))
    case 'reasoning':
      // It is opaque to everyone but the model that wrote it.
      if (item.dialect !== 'rehearsal' || item.model !== model) return []
      return [segment({ role: 'reasoning', item: item.item }, item.seq)]
    case 'tool_call': {
      const { call_id, name } = item
      return [segment({ role: 'tool_call', call_id, name, arguments: item.arguments }, item.seq)]
    }
    case 'tool_result': {
      const { call_id, name, outcome, output } = item
      return [segment({ role: 'tool_result', call_id, name, outcome, output }, item.seq)]
    }
  }
}

function writtenPart(part: Part) {
  if (part.type === 'text') return { type: part.type, text: part.text }
  const handle = part.handle === undefined ? {} : { handle: part.handle }
  const data = (part.bytes ?? Buffer.alloc(0)).toString('base64')
  return { type: part.type, media_type: part.media_type, ...handle, data }
}

function segment(written: WrittenSegment, seq: number, lifetime: Lifetime = 'stable'): Segment {
  // In memory of their own: bytes in the pool of small buffers would keep all that lies beside them there.
  const { buffer } = UTF_8.encode(canonicalJson(written))
  return { role: written.role, bytes: Buffer.from(buffer), seq, lifetime }
}

const UTF_8 = new TextEncoder()
