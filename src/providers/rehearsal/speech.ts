import { countOf } from '../../encoding/amounts.ts'
import { isJsonObject } from '../../encoding/json.ts'
import type { Call } from './english/call.ts'
import type { CallRecord, Outcome } from './task.ts'
import { cut, joinWords, quoteExcerpt } from './wording.ts'

// The sentences of the offline model. It reports results and claims nothing else.

export const LOOKING_AROUND = 'I will see what is in this folder.'
export const NO_RESULT = 'No call has returned a result in this conversation yet.'
export const NOTHING_VISIBLE = 'No picture or document is in this conversation.'

export function announce(calls: readonly Call[], notes: readonly string[]): string {
  return [`I will ${joinWords(calls.map(deed))}.`, ...notes].join(' ')
}

export function announceNext(calls: readonly Call[]): string {
  return `That is done. Next I will ${joinWords(calls.map(deed))}.`
}

export function report(calls: readonly CallRecord[], notes: readonly string[]): string {
  return [...calls.map(outcomeOf), ...notes].join('\n\n')
}

export function stopReply(
  calls: readonly CallRecord[],
  left: readonly Call[],
  notes: readonly string[],
): string {
  const rest = `I stopped there, because not every step succeeded. Not done: ${joinWords(left.map(deed))}.`
  return report(calls, [...notes, rest])
}

export function notOffered(call: Call): string {
  return `I cannot ${deed(call)}, because this request does not offer the tool ${call.name}.`
}

export function notUnderstood(words: string): string {
  return `I did not understand ${quoteExcerpt(words, 120)}, so I leave that out.`
}

export function skillActive(name: string): string {
  return `The Skill ${name} is active in this Turn.`
}

export function hydrationReply(id: string, text: string): string {
  const head = quotedHead(text)
  return head === '' ? `The context ${id} is empty.` : `The context ${id} says:\n${head}`
}

export function notHydrated(id: string, status: string): string {
  return `The context ${id} was not fetched: ${status}.`
}

export function unknownPart(type: string): string {
  return `I cannot look into a part of type ${cut(type, 60)}.`
}

/** A command with an exit code other than 0 failed, even if the client reports success. */
export function hasSucceeded({ name, result }: CallRecord): boolean {
  if (result?.outcome !== 'ok') return false
  const code = name === 'bash' ? exitCode(result.output) : undefined
  return code === undefined || code === 0
}

function outcomeOf(call: CallRecord): string {
  const { name, result } = call
  if (result === undefined) return `No result: ${deed(call)}. The call returned nothing.`
  const { outcome, output } = result
  if (hasSucceeded(call)) {
    const head = quotedHead(output)
    return head === ''
      ? `Done: ${deed(call)}. The result is empty.`
      : `Done: ${deed(call)}\n${head}`
  }
  const code = name === 'bash' ? exitCode(output) : undefined
  const heading = `${OUTCOMES[outcome]}: ${deed(call)}${code === undefined ? '' : ` (exit code ${code})`}`
  const [first, ...more] = relevantLines(output)
  if (first === undefined) return `${heading}. The result gives no reason.`
  const reason = `${heading}: ${cut(first, LINE_CHARACTERS)}`
  return more.length === 0 ? reason : `${reason}\n${quotedHead(output)}`
}

const OUTCOMES: Readonly<Record<Outcome, string>> = {
  ok: 'Failed',
  failed: 'Failed',
  denied: 'Denied',
  unknown: 'Outcome unknown',
}

/** Clients write it in the first or the last lines. */
function exitCode(output: string): number | undefined {
  const ends = `${output.slice(0, 400)}\n${output.slice(-400)}`
  const [, code] = EXIT_CODE.exec(ends) ?? []
  return code === undefined ? undefined : Number(code)
}

const EXIT_CODE = /^\W{0,2}(?:process |command )?exit(?:ed with)?[ _]code:? (\d{1,3})\W{0,2}$/im

/** Lines that contain words: the program's lines first, then the notes of the harness. */
function relevantLines(output: string): string[] {
  const lines = output
    .slice(0, 10_000)
    .split('\n')
    .filter((line) => /[\p{L}\p{N}]/u.test(line))
  const own = lines.filter((line) => !/^\[.*\]$/.test(line.trim()))
  return own.length > 0 ? own : lines
}

/** What a call does, as a phrase after "I will" and "Done:". */
function deed({ name, arguments: args }: Call): string {
  const at = (key: string) => (typeof args[key] === 'string' ? args[key] : '')
  const place = args['path'] === undefined ? '' : ` in ${at('path')}`
  const files = args['glob'] === undefined ? '' : ` in files that match ${at('glob')}`
  switch (name) {
    case 'read':
      return `read ${at('path')}${lineRange(args)}`
    case 'write':
      return `write ${countOf(at('content').length, 'character')} to ${at('path')}`
    case 'edit':
      return `${replacements(args['edits'])}${place}`
    case 'bash':
      return `run ${quoteExcerpt(at('command'), 120)}`
    case 'glob':
      return `list the files that match ${at('pattern')}${place}`
    case 'grep':
      return `search for ${quoteExcerpt(at('pattern'), 60)}${place}${files}`
    case 'history_search':
      return typeof args['seq'] === 'number' && at('query') === ''
        ? `read Event ${args['seq']}`
        : `search the history for ${quoteExcerpt(at('query'), 60)}`
    case 'resource_view':
      return `view ${partOf(args)}${at('handle')}`
    case 'skill_view':
      return at('path') === ''
        ? `use the Skill ${at('name')}`
        : `read ${at('path')} of the Skill ${at('name')}`
    case 'hydrate_context':
      return `fetch the context ${at('context_source_id')} of the Skill ${at('skill')}`
    case 'attach':
      return `attach ${at('path')}`
    case 'update_plan':
      return 'note the plan'
    default:
      return `call ${name}`
  }
}

function replacements(edits: unknown): string {
  const list: readonly unknown[] = Array.isArray(edits) ? edits : []
  if (list.length > 1) return `make ${list.length} replacements`
  const [first] = list
  const at = (key: string) => {
    const text = isJsonObject(first) ? first[key] : undefined
    return quoteExcerpt(typeof text === 'string' ? text : '', 60)
  }
  return `replace ${at('old_text')} with ${at('new_text')}`
}

function lineRange(args: Readonly<Record<string, unknown>>): string {
  const from = typeof args['from_line'] === 'number' ? args['from_line'] : 1
  const to = typeof args['to_line'] === 'number' ? args['to_line'] : undefined
  if (to === undefined) return from === 1 ? '' : ` from line ${from} on`
  return from === to ? `, line ${from}` : `, lines ${from} to ${to}`
}

/** The part of a Resource that is viewed; empty for the whole. */
function partOf(args: Readonly<Record<string, unknown>>): string {
  const part = ['pages', 'lines', 'region', 'size'].find((name) => args[name] !== undefined)
  if (part === undefined) return ''
  const value = args[part]
  const { from, to } = { from: undefined, to: undefined, ...(isJsonObject(value) ? value : {}) }
  if (part === 'pages' || part === 'lines') return `${part} ${String(from)} to ${String(to)} of `
  return part === 'region' ? 'a region of ' : 'another size of '
}

const HEAD_LINES = 8
const LINE_CHARACTERS = 200

/** A line of a file with its number. */
const NUMBERED = /^\d+\t/
/** Lines are quoted as code, because Markdown would join them into one paragraph. */
const CODE = '>     '

function quotedHead(output: string): string {
  const lines = output.replace(/\n{1,100}$/, '').split('\n')
  if (lines.length === 1 && lines[0]?.trim() === '') return ''
  const mark = lines.length > 1 || NUMBERED.test(lines[0] ?? '') ? CODE : '> '
  const head = lines.slice(0, HEAD_LINES).map((line) => `${mark}${cut(line, LINE_CHARACTERS)}`)
  const more = lines.length - head.length
  return [
    ...head,
    ...(more > 0 ? [`(and ${more} more ${more === 1 ? 'line' : 'lines'})`] : []),
  ].join('\n')
}
