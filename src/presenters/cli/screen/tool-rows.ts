import { parseJson, isJsonObject } from '../../../encoding/json.ts'
import type { EventData } from '../../../model/events/event.ts'
import type { Line, Style } from '../text/cell-width.ts'
import { numberedDiff } from '../render/diff-lines.ts'
import { visibleLine } from '../text/visible-text.ts'
import { countOf } from '../../../encoding/amounts.ts'
import { exitStatus } from '../../../history/exit-status.ts'
import { head, headAndTail, sentences, verbatim } from './rows.ts'

type Call = Pick<EventData<'tool_call'>, 'name' | 'arguments'>
type Result = EventData<'tool_result'>

/** A call in one line: the tool name and its main argument. */
export function callTitle({ name, arguments: text }: Call): string {
  const args = argumentsOf(text)
  const textOf = (key: string) => {
    const value = args[key]
    return typeof value === 'string' ? firstLine(value) : ''
  }
  const place = textOf('path') === '' ? '' : ` in ${textOf('path')}`
  switch (name) {
    case 'read':
    case 'write':
    case 'edit':
      return `${name} ${textOf('path')}`.trimEnd()
    case 'attach':
      return `attach ${textOf('path')}`.trimEnd()
    case 'resource_view':
      return `resource_view ${textOf('handle')}`.trimEnd()
    case 'history_search':
      return `history_search ${textOf('query') || eventOf(args)}`.trimEnd()
    case 'bash':
      return `bash ${textOf('command')}`.trimEnd()
    case 'glob':
    case 'grep':
      return `${name} ${textOf('pattern')}${place}`
    default:
      return `${visibleLine(name)} ${firstString(args)}`.trimEnd()
  }
}

/** The result of a call: one line, and an excerpt of its output; `key` shows the rest. */
export function resultRows(result: Result, call: Call, columns: number, key = ''): Line[] {
  const { mark, style } = MARKS[exitStatus(result).outcome]
  const summary = summaryOf(result)
  const title = callTitle(call) + (summary === '' ? '' : ` · ${summary}`)
  return [
    ...head(sentences(title, { columns, first: `${mark} `, firstStyle: style }), TITLE_ROWS, '  '),
    ...detailRows(result, columns, key),
  ]
}

/** What a call would do, for the person who must decide. */
export function proposalRows({ name, arguments: text }: Call, columns: number): Line[] {
  const args = argumentsOf(text)
  const setting = { columns, first: INDENT }
  const textOf = (key: string) => (typeof args[key] === 'string' ? args[key] : '')
  switch (name) {
    case 'bash':
      return verbatim(textOf('command'), { ...setting, first: '  $ ' })
    case 'write':
      return verbatim(textOf('content'), { ...setting, first: '  + ', rest: '  + ', style: ADDED })
    case 'edit':
      return editsOf(args).flatMap(({ old_text, new_text }) => [
        ...verbatim(old_text, { ...setting, first: '  - ', rest: '  - ', style: REMOVED }),
        ...verbatim(new_text, { ...setting, first: '  + ', rest: '  + ', style: ADDED }),
      ])
    default:
      return verbatim(text, setting)
  }
}

/** The replacements of an edit; a call of an older version has one, beside the path. */
function editsOf(args: Readonly<Record<string, unknown>>) {
  const edits = Array.isArray(args['edits']) ? args['edits'].filter(isJsonObject) : [args]
  return edits.map(({ old_text, new_text }) => ({
    old_text: typeof old_text === 'string' ? old_text : '',
    new_text: typeof new_text === 'string' ? new_text : '',
  }))
}

const INDENT = '  '
const TITLE_ROWS = 3
const DIFF_ROWS = 40
const OUTPUT_ROWS = 12
const ADDED: Style = { colour: 'green' }
const REMOVED: Style = { colour: 'red' }

const MARKS = {
  ok: { mark: '●', style: { colour: 'green' }, word: '' },
  failed: { mark: '✗', style: { colour: 'red' }, word: 'failed' },
  denied: { mark: '✗', style: { colour: 'yellow' }, word: 'denied' },
  unknown: { mark: '?', style: { colour: 'yellow' }, word: 'unknown whether it ran' },
} as const satisfies Record<Result['outcome'], { mark: string; style: Style; word: string }>

function summaryOf(result: Result): string {
  const { name, output, before_blob, after_blob } = result
  const { outcome, failure } = exitStatus(result)
  const { word } = MARKS[outcome]
  if (outcome !== 'ok') return failure === undefined ? word : `${word}, ${failure}`
  switch (name) {
    case 'read':
    case 'glob':
    case 'grep':
    case 'history_search':
      return countOf(linesOf(output).length, 'line')
    case 'write':
    case 'edit':
      if (after_blob === undefined) return 'unchanged'
      return before_blob === undefined ? 'created' : 'changed'
    default:
      return ''
  }
}

function detailRows(result: Result, columns: number, key: string): Line[] {
  const { outcome, name, output, error } = result
  const diff = diffIn(result)
  const setting = { columns, first: INDENT }
  if (outcome === 'unknown') return []
  if (outcome !== 'ok' && (name !== 'bash' || outcome === 'denied')) {
    return head(sentences(error?.message ?? output, setting), OUTPUT_ROWS, INDENT, key)
  }
  if (diff !== undefined) return head(fileChange(diff, columns), DIFF_ROWS, INDENT, key)
  if (name === 'bash') {
    const shown = output.replace(/\[exit code \d+\]\n$/, '').replace(/\n$/, '')
    if (shown === '') return []
    return headAndTail(
      verbatim(shown, { ...setting, style: { dim: true } }),
      OUTPUT_ROWS,
      INDENT,
      key,
    )
  }
  return []
}

/** The change of one file with line numbers, without its name, which is above it. Pure. */
export function fileChange(diff: string, columns: number): Line[] {
  return numberedDiff(diff, columns, { indent: INDENT, names: false })
}

/** Older versions recorded it as the output. */
function diffIn({ output, diff }: Result): string | undefined {
  return diff ?? (/^--- a\/.*\n\+\+\+ b\//.test(output) ? output : undefined)
}

function linesOf(text: string): string[] {
  return text.replace(/\n$/, '').split('\n')
}

function argumentsOf(text: string): Readonly<Record<string, unknown>> {
  const parsed = parseJson(text)
  return isJsonObject(parsed) ? parsed : {}
}

function eventOf({ seq }: Readonly<Record<string, unknown>>): string {
  return typeof seq === 'number' ? `Event ${seq}` : ''
}

function firstString(args: Readonly<Record<string, unknown>>): string {
  const first = Object.values(args).find((value) => typeof value === 'string')
  return typeof first === 'string' ? firstLine(first) : ''
}

const LONGEST_ARGUMENT = 200

function firstLine(text: string): string {
  const [first = '', ...others] = text.split('\n')
  const cut = first.length > LONGEST_ARGUMENT || others.some((line) => line.trim() !== '')
  const shown = first.slice(0, LONGEST_ARGUMENT).replace(/[\uD800-\uDBFF]$/, '')
  return visibleLine(shown) + (cut ? ' …' : '')
}
