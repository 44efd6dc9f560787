import { isJsonObject } from '../../encoding/json.ts'
import type { Call } from './english/reading.ts'
import type { Spoken } from './sights.ts'
import type { MadeCall, Task } from './task.ts'

// The sentences of the rehearsal model. It never claims to have understood more than its rules did.

const I_AM = 'I am the rehearsal model: I follow rules, I do not think.'
const I_CAN =
  'Ask me in plain English to read, list, search, write, edit or run something, or to note a plan.'

export function announce(
  calls: readonly Call[],
  notes: readonly string[],
  when: 'first' | 'later',
): string {
  const doing = listed(calls.map(deed))
  return [
    when === 'first' ? `I will ${doing}.` : `That came back. Next I will ${doing}.`,
    ...notes,
  ].join(' ')
}

export function report(made: readonly MadeCall[], notes: readonly string[]): string {
  if (made.length === 0) return [I_AM, ...notes].join(' ')
  const heading = made.length === 1 ? '' : `${made.length} calls came back.\n\n`
  return heading + [...made.map(outcomeOf), ...notes].join('\n\n')
}

export function stopped(
  made: readonly MadeCall[],
  left: readonly Call[],
  notes: readonly string[],
): string {
  const rest = `I have not tried to ${listed(left.map(deed))}.`
  return report(made, [...notes, `I stop here, because not everything went well. ${rest}`])
}

export function notOffered(call: Call): string {
  return `To ${deed(call)} I would need the tool ${call.name}, which this request does not offer.`
}

export function aboutMyself(tools: ReadonlySet<string>): string {
  return `${I_AM} ${I_CAN} ${offerOf(tools)}`
}

export function nothingShown(tools: ReadonlySet<string>): string {
  const nothing =
    'I see your words and nothing else: this request shows no picture and no document.'
  return `${I_AM} ${nothing} ${I_CAN} ${offerOf(tools)}`
}

function offerOf(tools: ReadonlySet<string>): string {
  const names = [...tools].toSorted()
  return `This request offers me ${names.length === 0 ? 'no tools' : `these tools: ${names.join(', ')}`}.`
}

export function received(
  { texts, others }: Task,
  { seen, unseen }: Spoken,
  missing: readonly string[],
): string {
  const words = texts.join('\n').trim()
  const said = words === '' ? 'I received no text.' : `I received: ${quoted(words, 400)}.`
  const dark = [...unseen, ...others]
  const parts = dark.length === 0 ? [] : [`With it came what I cannot look into: ${listed(dark)}.`]
  const lack = missing.length > 0 ? missing : ['My rules find no task in it.']
  return [I_AM, said, ...seen, ...parts, ...lack, I_CAN].join(' ')
}

function outcomeOf({ name, arguments: args, result }: MadeCall): string {
  const asked = `I asked to ${deed({ name, arguments: args })}`
  if (result === undefined) return `${asked}, and nothing has come back.`
  const head = headOf(result.output)
  const answer = head === '' ? ' The answer was empty.' : `\n${head}`
  return `${asked}: ${OUTCOMES[result.outcome] ?? result.outcome}.${answer}`
}

const OUTCOMES: Readonly<Record<string, string>> = {
  ok: 'done',
  failed: 'it failed',
  denied: 'it was not allowed',
  unknown: 'nobody knows what became of it',
}

/** What a call does, in words that fit after "I will" and "I asked to". */
function deed({ name, arguments: args }: Call): string {
  const at = (key: string) => (typeof args[key] === 'string' ? args[key] : '')
  const place = args['path'] === undefined ? '' : ` in ${at('path')}`
  const files = args['glob'] === undefined ? '' : ` in files that match ${at('glob')}`
  switch (name) {
    case 'read':
      return `read ${at('path')}${linesOf(args)}`
    case 'write':
      return `write ${at('content').length} characters to ${at('path')}`
    case 'edit':
      return `replace ${quoted(at('old_text'), 60)} by ${quoted(at('new_text'), 60)}${place}`
    case 'bash':
      return `run ${quoted(at('command'), 120)}`
    case 'glob':
      return `list the files that match ${at('pattern')}${place}`
    case 'grep':
      return `search for ${quoted(at('pattern'), 60)}${place}${files}`
    case 'resource_view':
      return `view ${partOf(args)}${at('handle')}`
    case 'attach':
      return `attach ${at('path')}`
    case 'update_plan':
      return 'note the plan'
    default:
      return `call ${name}`
  }
}

function linesOf(args: Readonly<Record<string, unknown>>): string {
  const from = typeof args['from_line'] === 'number' ? args['from_line'] : 1
  const to = typeof args['to_line'] === 'number' ? args['to_line'] : undefined
  if (to === undefined) return from === 1 ? '' : ` from line ${from} on`
  return from === to ? `, line ${from}` : ` from line ${from} to ${to}`
}

/** Which part of a Resource is to be seen, if not the whole. */
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

function headOf(output: string): string {
  const lines = output.replace(/\n+$/, '').split('\n')
  if (lines.length === 1 && lines[0]?.trim() === '') return ''
  const shown = lines.slice(0, HEAD_LINES).map((line) => `> ${cut(line, LINE_CHARACTERS)}`)
  const more = lines.length - shown.length
  return [
    ...shown,
    ...(more > 0 ? [`(and ${more} more ${more === 1 ? 'line' : 'lines'})`] : []),
  ].join('\n')
}

function quoted(text: string, limit: number): string {
  return `“${cut(text, limit)}”`
}

/** Never in the middle of a character. */
function cut(text: string, limit: number): string {
  if (text.length <= limit) return text
  return `${text.slice(0, limit).replace(/[\uD800-\uDBFF]$/, '')}…`
}

export function listed(words: readonly string[]): string {
  if (words.length < 2) return words.join('')
  return `${words.slice(0, -1).join(', ')} and ${words.at(-1) ?? ''}`
}
