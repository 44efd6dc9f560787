import { canonicalJson } from '../../encoding/json.ts'
import type { ConversationItem, Part } from '../../model/conversation.ts'
import type { Segment } from '../../model/segment.ts'
import type { Surface } from '../../model/surface.ts'
import type { BodyOptions, SpentBody } from '../provider.ts'
import {
  BASE64,
  block,
  embedBase64,
  placeSegments,
  placedItems,
  placedLength,
  putAll,
  type SegmentBlock,
  type EmbeddedFile,
} from '../segment-bytes.ts'
import type { WrittenSegment } from './schema.ts'

/** Parameters, tools, system blocks, then one segment per part of each item. An item's bytes depend only on the item. Pure. */
export function encode(
  items: readonly ConversationItem[],
  surface: Surface,
  behind?: Segment,
): Segment[] {
  const fixed = fixedOf(surface)
  const segments = placedItems(items, behind ?? fixed.at(-1), between, (item) =>
    blocksOf(item, surface),
  )
  return [...fixed, ...segments]
}

function between(before: unknown): string {
  return before === undefined ? '' : ','
}

/**
 * The body: canonical JSON as a whole, because its parts are. This dialect has no cache marks. Pure, except that it may
 * extend the buffer of a spent body; the bytes are the same either way.
 */
export function frame(
  segments: readonly Segment[],
  { spentBody = NOTHING_FRAMED }: Pick<BodyOptions, 'spentBody'>,
): Buffer {
  const fresh = segments.slice(spentBody.count)
  const room = roomFor(spentBody.body, spentBody.body.length + placedLength(fresh))
  let at = spentBody.body.length - SUFFIX.length
  at = putAll(fresh, room, at)
  at += SUFFIX.copy(room, at)
  const body = room.subarray(0, at)
  ROOMS.set(body, room)
  return body
}

const SUFFIX = Buffer.from(']}')
const NOTHING_FRAMED: SpentBody = {
  body: Buffer.from('{"dialect":"rehearsal","segments":[]}'),
  count: 0,
}

/** The larger buffer that a body is the start of. No other body uses it. */
const ROOMS = new WeakMap<Buffer, Buffer>()

/** The body's own buffer if it is large enough, or a larger copy with spare room. */
function roomFor(body: Buffer, length: number): Buffer {
  const own = ROOMS.get(body)
  ROOMS.delete(body)
  if (own !== undefined && own.length >= length) return own
  const room = Buffer.allocUnsafeSlow(Math.ceil(length * ROOM_GROWTH))
  body.copy(room)
  return room
}

/** Little to spare: a Session keeps two bodies. */
const ROOM_GROWTH = 1 + 1 / 16

/** Encoded once per surface, because it precedes the items of every request. */
function fixedOf(surface: Surface): readonly Segment[] {
  const known = FIXED.get(surface)
  if (known !== undefined) return known
  const all = [paramsOf(surface), ...surface.tools.map(toolOf), ...surface.system.map(systemOf)]
  const blocks = all.map((one) => block(one.role, segmentJson(one)))
  const fixed = placeSegments(blocks, undefined, between)
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

function blocksOf(item: ConversationItem, { model }: Surface): SegmentBlock[] {
  const { seq } = item
  const only = (one: WrittenSegment) => [block(one.role, segmentJson(one), seq)]
  switch (item.kind) {
    case 'user':
    case 'developer':
    case 'assistant':
      return item.parts.map((part) => block(item.kind, partContent(item.kind, part), seq, part))
    case 'reasoning':
      // Reasoning is opaque to every model except the one that wrote it.
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

function partContent(role: 'user' | 'developer' | 'assistant', part: Part): string | EmbeddedFile {
  if (part.type === 'text') return segmentJson({ role, parts: [{ type: 'text', text: part.text }] })
  const { type, media_type, bytes = NOTHING, handle } = part
  const named = handle === undefined ? {} : { handle }
  // In canonical order, `data` is the first member.
  return embedBase64(
    bytes,
    segmentJson({ role, parts: [{ type, media_type, ...named, data: BASE64 }] }),
  )
}

const NOTHING = Buffer.alloc(0)

function segmentJson(one: WrittenSegment): string {
  return canonicalJson(one)
}
