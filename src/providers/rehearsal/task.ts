import { REJECTED_FORM, RESOURCE_LINE_FORM, SENDER_FORM } from '../../prompt/words/read-back.ts'
import { isJsonObject, parseJson } from '../../encoding/json.ts'
import { ownCall } from './client-tools.ts'
import type { Call } from './english/call.ts'
import type { RehearsalRequest, RehearsalSegment } from './schema.ts'
import { isContent } from './visible-parts.ts'

/** A message of a person, and the calls made for it. */
export interface Task {
  /**
   * Its texts, without the harness's lines about attachments and without context that a client adds, which are not commands.
   */
  readonly words: readonly string[]
  /** Parts of unknown types, by type. */
  readonly others: readonly string[]
  /** Its first segment. */
  readonly from: number
  readonly tools: Tools
  /** Calls made since, in order. */
  readonly calls: readonly CallRecord[]
  /** Calls made before. */
  readonly earlier: readonly CallRecord[]
  /** Whether it is the first message of the conversation. */
  readonly opens: boolean
}

/** The tools that may be called, each with its parameters as JSON Schema. */
export type Tools = ReadonlyMap<string, Readonly<Record<string, unknown>>>

/** How a call ended. */
export type Outcome = Extract<RehearsalSegment, { readonly role: 'tool_result' }>['outcome']

export interface CallRecord extends Call {
  readonly result?: { readonly outcome: Outcome; readonly output: string }
}

/**
 * The tasks of the current Turn, newest first. A message right after results may be steering, or may only carry the bytes
 * that a call requested; its text decides.
 */
export function tasksOf({ segments }: RehearsalRequest): Tasks {
  return tasksUpTo(segments.length, segments)
}

type Tasks = readonly [Task, ...Task[]]

function tasksUpTo(end: number, segments: readonly RehearsalSegment[]): Tasks {
  const last = segments.slice(0, end).findLastIndex(isUser)
  const start = segments.slice(0, last + 1).findLastIndex((segment) => !isUser(segment)) + 1
  const task = taskAt(segments, start)
  const steered = last >= 0 && segments[start - 1]?.role === 'tool_result'
  return steered ? [task, ...tasksUpTo(start, segments)] : [task]
}

function isUser(segment: RehearsalSegment): boolean {
  return segment.role === 'user'
}

/** Adjacent user segments are one task. */
function taskAt(segments: readonly RehearsalSegment[], start: number): Task {
  const since = segments.slice(start)
  const end = since.findIndex((segment) => !isUser(segment))
  const own = end < 0 ? since : since.slice(0, end)
  const parts = own.flatMap((segment) => (segment.role === 'user' ? segment.parts : []))
  const texts = parts.flatMap((part) =>
    part.type === 'text' && !isContent(part.text) && !isContext(part.text) ? [part.text] : [],
  )
  const before = segments.slice(0, start)
  return {
    words: texts.map(withoutNotes).filter((text) => text.trim() !== ''),
    others: parts.flatMap((part) => (part.type === 'other' ? [part.of] : [])),
    from: start,
    tools: toolsOf(segments),
    calls: callsIn(since),
    earlier: callsIn(before),
    opens: !before.some(({ role }) => role === 'assistant' || role === 'tool_result'),
  }
}

/** Clients put context into user messages, as one element: `<system-reminder>…</system-reminder>`. */
function isContext(text: string): boolean {
  const trimmed = text.trim()
  const [, name] = /^(?:# [^\n]{1,200}\n+)?<([\w-]{1,60})>/.exec(trimmed) ?? []
  return name !== undefined && trimmed.endsWith(`</${name}>`)
}

/** The warning about rejected attachments precedes the words; a line for each attachment or view follows them. */
function withoutNotes(text: string): string {
  const lines = text.replace(REJECTED_FORM, '').replace(SENDER_FORM, '').split('\n')
  const last = lines.findLastIndex((line) => line.trim() !== '' && !RESOURCE_LINE_FORM.test(line))
  return lines.slice(0, last + 1).join('\n')
}

function toolsOf(segments: readonly RehearsalSegment[]): Tools {
  if (segments.some((segment) => segment.role === 'params' && segment.tool_choice === 'none')) {
    return new Map()
  }
  return new Map(
    segments.flatMap((segment) =>
      segment.role === 'tool' ? [[segment.name, segment.parameters] as const] : [],
    ),
  )
}

function callsIn(segments: readonly RehearsalSegment[]): CallRecord[] {
  const results = new Map(
    segments.flatMap((segment) =>
      segment.role === 'tool_result' ? [[segment.call_id, segment] as const] : [],
    ),
  )
  return segments.flatMap((segment) => {
    if (segment.role !== 'tool_call') return []
    const result = results.get(segment.call_id)
    const call = ownCall({ name: segment.name, arguments: argumentsOf(segment.arguments) })
    return [result === undefined ? call : { ...call, result }]
  })
}

/** The file of the latest call that has one. */
export function lastFile(calls: readonly CallRecord[]): string[] {
  const path = calls
    .map((call) => call.arguments['path'])
    .findLast((value) => typeof value === 'string')
  return path === undefined ? [] : [path]
}

function argumentsOf(text: string): Record<string, unknown> {
  const value = parseJson(text)
  return isJsonObject(value) ? value : {}
}
