import { depthWithin, isJsonObject, parseJson } from '../encoding/json.ts'
import { escapeNotes } from '../encoding/note-tag.ts'
import type { ConversationItem, Part } from '../model/conversation.ts'
import { LIMITS } from '../model/limits.ts'
import type { SurfaceParams } from '../model/surface.ts'
import { fencesNotes, type DialectName } from '../providers/provider.ts'

/**
 * Items in which nothing can pass for a note of the harness; the same items where notes have a role of their own. Our own
 * sentences contain no tag, and a dialect puts its tags around notes later, so every text may be escaped. An item depends on
 * itself and the surface alone. Reasoning is opaque and stays as it is, and so do files that are not text. Pure.
 */
export function escapedItems(
  items: readonly ConversationItem[],
  dialect: DialectName,
  params: SurfaceParams,
): readonly ConversationItem[] {
  return fencesNotes(dialect, params) ? items.map(escapedItem) : items
}

function escapedItem(item: ConversationItem): ConversationItem {
  switch (item.kind) {
    case 'user':
    case 'developer':
    case 'assistant':
      return { ...item, parts: item.parts.map(escapedPart) }
    case 'tool_call':
      return { ...item, arguments: escapedArguments(item.arguments) }
    case 'tool_result':
      return { ...item, output: escapeNotes(item.output) }
    case 'reasoning':
      return item
  }
}

function escapedPart(part: Part): Part {
  if (part.type === 'text') return { ...part, text: escapeNotes(part.text) }
  if (part.bytes === undefined || !part.media_type.startsWith('text/')) return part
  const text = part.bytes.toString('utf8')
  const escaped = escapeNotes(text)
  // The bytes themselves, also if they are not valid UTF-8: a long file is embedded without a copy.
  return escaped === text ? part : { ...part, bytes: Buffer.from(escaped) }
}

/** The model's own text, unless a tag is in it or in a value that it spells with escapes of JSON. */
function escapedArguments(text: string): string {
  if (!text.includes('\\')) return escapedJson(text)
  const read = parseJson(text)
  if (!isJsonObject(read) || !depthWithin(read, LIMITS.event_depth)) return escapeNotes(text)
  const plain = JSON.stringify(read)
  const escaped = JSON.stringify(escapedValue(read))
  return escaped === plain ? text : escaped
}

/** Of JSON without escapes, in which a backslash is written twice. */
function escapedJson(text: string): string {
  const escaped = escapeNotes(text)
  return escaped === text ? text : escaped.replaceAll('\\', '\\\\')
}

function escapedValue(value: unknown): unknown {
  if (typeof value === 'string') return escapeNotes(value)
  if (Array.isArray(value)) return value.map(escapedValue)
  if (!isJsonObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [escapeNotes(key), escapedValue(one)]),
  )
}
