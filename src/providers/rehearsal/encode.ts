import { canonicalJson } from '../../encoding/json.ts'
import type { ConversationItem, Part } from '../../model/conversation.ts'
import type { Segment } from '../../model/segment.ts'
import type { Surface } from '../../model/surface.ts'
import type { BodyOptions, SpentBody } from '../provider.ts'
import { BASE64, put, segment, embedBase64, type EmbeddedFile } from '../segment-bytes.ts'
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
  { spent = NOTHING_FRAMED }: Pick<BodyOptions, 'spent'>,
): Buffer {
  const fresh = segments.slice(spent.count)
  const length = fresh.reduce((sum, one) => sum + COMMA.length + one.length, spent.body.length)
  const room = roomFor(spent.body, length)
  let at = spent.body.length - SUFFIX.length
  for (const one of fresh) {
    if (at > FIRST) at += COMMA.copy(room, at)
    at = put(one, room, at)
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
  const all = [paramsOf(surface), ...surface.tools.map(toolOf), ...surface.system.map(systemOf)]
  const fixed = all.map((one) => segment(one.role, written(one)))
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
  const { seq } = item
  const only = (one: WrittenSegment) => [segment(one.role, written(one), seq)]
  switch (item.kind) {
    case 'user':
    case 'developer':
    case 'assistant':
      return item.parts.map((part) => segment(item.kind, contentOf(item.kind, part), seq, part))
    case 'reasoning':
      // It is opaque to everyone but the model that wrote it.
      if (item.dialect !== 'rehearsal' || item.model !== model) return []
      return only({ role: 'reasoning', item: item.item })
    case 'tool_call': {
      const { call_id, name } = item
      return only({ role: 'tool_call', call_id, name, arguments: item.arguments })
    }
    case 'tool_result': {
      const { call_id, name, outcome, output } = item
      return only({ role: 'tool_result', call_id, name, outcome, output })
    }
  }
}

function contentOf(role: 'user' | 'developer' | 'assistant', part: Part): string | EmbeddedFile {
  if (part.type === 'text') return written({ role, parts: [{ type: 'text', text: part.text }] })
  const { type, media_type, bytes = NOTHING, handle } = part
  const named = handle === undefined ? {} : { handle }
  // Of the members, data comes first.
  return embedBase64(
    bytes,
    written({ role, parts: [{ type, media_type, ...named, data: BASE64 }] }),
  )
}

const NOTHING = Buffer.alloc(0)

function written(one: WrittenSegment): string {
  return canonicalJson(one)
}
