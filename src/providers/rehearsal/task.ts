import { REJECTED_FORM, RESOURCE_LINE_FORM } from '../../encoding/words/read-back.ts'
import { isJsonObject, parseJson } from '../../encoding/json.ts'
import type { Call } from './english/reading.ts'
import type { RehearsalRequest, RehearsalSegment } from './schema.ts'
import { isContent } from './sights.ts'

/** Something a person said, and what has been done about it. */
export interface Task {
  readonly texts: readonly string[]
  /** The same without what the harness says of attachments: that is no request. */
  readonly words: readonly string[]
  /** Parts that no rule knows, by type. */
  readonly others: readonly string[]
  /** Where its segments begin. */
  readonly from: number
  /** Names of the tools that may be called. */
  readonly tools: ReadonlySet<string>
  /** Calls made since, in order, with what came back. */
  readonly made: readonly MadeCall[]
  /** The file that was last spoken of before. */
  readonly it: readonly string[]
}

export interface MadeCall extends Call {
  readonly result?: { readonly outcome: string; readonly output: string }
}

/**
 * The tasks of the current Turn, newest first. Whoever steers, steers right behind results, and so do things that are
 * shown to a model for the asking; which of the two it is, only the text can tell.
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

/** Segments of a person that stand side by side are one task. */
function taskAt(segments: readonly RehearsalSegment[], start: number): Task {
  const since = segments.slice(start)
  const end = since.findIndex((segment) => !isUser(segment))
  const said = end < 0 ? since : since.slice(0, end)
  const parts = said.flatMap((segment) => (segment.role === 'user' ? segment.parts : []))
  const texts = parts.flatMap((part) =>
    part.type === 'text' && !isContent(part.text) ? [part.text] : [],
  )
  return {
    texts,
    words: texts.map(withoutNotes).filter((text) => text !== ''),
    others: parts.flatMap((part) => (part.type === 'other' ? [part.of] : [])),
    from: start,
    tools: toolsOf(segments),
    made: callsIn(since),
    it: lastPath(segments.slice(0, start)),
  }
}

/** A warning of what was rejected stands before the words, a line for each attachment or view behind them. */
function withoutNotes(text: string): string {
  const lines = text.replace(REJECTED_FORM, '').split('\n')
  const last = lines.findLastIndex((line) => line.trim() !== '' && !RESOURCE_LINE_FORM.test(line))
  return lines.slice(0, last + 1).join('\n')
}

function toolsOf(segments: readonly RehearsalSegment[]): ReadonlySet<string> {
  if (segments.some((segment) => segment.role === 'params' && segment.tool_choice === 'none')) {
    return new Set()
  }
  return new Set(segments.flatMap((segment) => (segment.role === 'tool' ? [segment.name] : [])))
}

function callsIn(segments: readonly RehearsalSegment[]): MadeCall[] {
  const results = new Map(
    segments.flatMap((segment) =>
      segment.role === 'tool_result' ? [[segment.call_id, segment] as const] : [],
    ),
  )
  return segments.flatMap((segment) => {
    if (segment.role !== 'tool_call') return []
    const result = results.get(segment.call_id)
    const made = { name: segment.name, arguments: argumentsOf(segment.arguments) }
    return [result === undefined ? made : { ...made, result }]
  })
}

function lastPath(segments: readonly RehearsalSegment[]): string[] {
  const path = callsIn(segments)
    .map((call) => call.arguments['path'])
    .findLast((value) => typeof value === 'string')
  return path === undefined ? [] : [path]
}

function argumentsOf(text: string): Record<string, unknown> {
  const value = parseJson(text)
  return isJsonObject(value) ? value : {}
}
