import { canonicalJson } from '../../encoding/json.ts'
import type { ConversationItem, Part } from '../../model/conversation.ts'
import type { Lifetime, Mark, Segment } from '../../model/segment.ts'
import type { Surface } from '../../model/surface.ts'
import type { WrittenSegment } from './schema.ts'

/** Parameters, tools, system blocks, then one segment a part of each item. An item's bytes depend on nothing beside it. Pure. */
export function encode(items: readonly ConversationItem[], surface: Surface): Segment[] {
  const fixed = [paramsOf(surface), ...surface.tools.map(toolOf), ...surface.system.map(systemOf)]
  return [
    ...fixed.map((written) => segment(written, -1)),
    ...items.flatMap((item) => segmentsOf(item, surface)),
  ]
}

/** The body: canonical JSON as a whole, because its parts are. This dialect has no cache marks. Pure. */
export function frame(segments: readonly Segment[], _marks: readonly Mark[]): Buffer {
  const pieces = segments.flatMap(({ bytes }, index) => (index === 0 ? [bytes] : [COMMA, bytes]))
  return Buffer.concat([PREFIX, ...pieces, SUFFIX])
}

const PREFIX = Buffer.from('{"dialect":"rehearsal","segments":[')
const COMMA = Buffer.from(',')
const SUFFIX = Buffer.from(']}')

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
  return { role: written.role, bytes: Buffer.from(canonicalJson(written)), seq, lifetime }
}
