import { SUMMARY_INSTRUCTION, SUMMARY_SECTIONS } from '../../prompt/words/summary.ts'
import type { RehearsalRequest } from './schema.ts'
import { isContent } from './visible-parts.ts'
import { tasksOf, type CallRecord } from './task.ts'
import { cut, joinWords, quoteExcerpt } from './wording.ts'

/** The summary that the harness asks for; `undefined` if it asks for none. Pure. */
export function requestedSummary(request: RehearsalRequest): string | undefined {
  const [task] = tasksOf(request)
  if (!task.words.includes(SUMMARY_INSTRUCTION)) return undefined
  const sections: Readonly<Record<(typeof SUMMARY_SECTIONS)[number], string>> = {
    Goal: goal(messagesIn(request)),
    Done: listCalls(task.earlier),
    Findings: findings(task.earlier),
    Next: 'I wait for the next message.',
  }
  return SUMMARY_SECTIONS.map((name) => `## ${name}\n${sections[name]}`).join('\n')
}

/** What the person wrote, the oldest first. */
function messagesIn({ segments }: RehearsalRequest): string[] {
  return segments.flatMap((segment) =>
    segment.role === 'user'
      ? segment.parts.flatMap((part) =>
          part.type === 'text' && part.text !== SUMMARY_INSTRUCTION && !isContent(part.text)
            ? [part.text]
            : [],
        )
      : [],
  )
}

const MOST_MESSAGES = 8
const MESSAGE_LENGTH = 160

function goal(messages: readonly string[]): string {
  if (messages.length === 0) return 'Nothing was asked yet.'
  const newest = messages
    .slice(-MOST_MESSAGES)
    .map((text) => quoteExcerpt(oneLine(text), MESSAGE_LENGTH))
  const before = messages.length - newest.length
  const more = before === 0 ? '' : ` (${before} earlier messages are not repeated)`
  return `The person wrote${more}: ${newest.join('; ')}.`
}

function listCalls(calls: readonly CallRecord[]): string {
  if (calls.length === 0) return 'I called no tools.'
  const counts = new Map<string, number>()
  for (const { name, result } of calls) {
    const what = `${name} ${result?.outcome ?? 'unknown'}`
    counts.set(what, (counts.get(what) ?? 0) + 1)
  }
  return `I called ${joinWords([...counts].map(([what, count]) => `${what} (${count})`))}.`
}

function findings(calls: readonly CallRecord[]): string {
  const last = calls.findLast(({ result }) => result !== undefined)
  if (last?.result === undefined) return 'None.'
  return `The last result, of ${last.name}, began with ${quoteExcerpt(oneLine(last.result.output), MESSAGE_LENGTH)}.`
}

function oneLine(text: string): string {
  return cut(text, 2 * MESSAGE_LENGTH)
    .replaceAll(/\s+/g, ' ')
    .trim()
}
