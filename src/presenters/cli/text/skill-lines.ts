import { counted, fileSize } from '../../../encoding/amounts.ts'
import { quoted } from '../../../encoding/quote.ts'
import type { EventData } from '../../../model/events/event.ts'
import { visibleLine } from './visible-text.ts'

/** An activation in one line, with whose Skill it is. Visible text. */
export function activationWords(data: EventData<'skill_activation'>): string {
  const { name, args, activated_by, trust, source } = data
  const by = activated_by === 'user' ? 'you' : 'the model'
  const given = args === '' ? '' : `, with ${quoted(args)}`
  return visibleLine(`Skill ${name} activated by ${by}${given} (${trust}, ${source})`)
}

/** A hydration in one line, without its text: what was fetched, how and with what limitations, or why it was not. */
export function hydrationWords(data: EventData<'skill_context_hydration'>): string {
  const { context_source_id, skill, status, error, produced_by, invoked_by } = data
  const { limitations = [] } = data
  const what = `Context ${context_source_id} of Skill ${skill.name}`
  const how = `${producerWords(produced_by)}, ${INVOKED_BY[invoked_by]}`
  const size = status === 'ok' ? `, ${sizeWords(data)}` : ''
  const why = error === undefined ? '' : `: ${error.message}`
  const limits = limitations.map((one) => ` ${one}`).join('')
  const end = limits === '' || why !== '' ? '' : '.'
  return visibleLine(`${what}: ${status}${size} (${how})${why}${end}${limits}`)
}

const INVOKED_BY = {
  person: 'requested by you',
  model: 'requested by the model',
  presenter: 'requested with the message',
  auto: 'automatic',
} as const

function sizeWords(data: EventData<'skill_context_hydration'>): string {
  const { output_bytes, truncated, whole_bytes, handle, invalid_bytes_replaced = 0 } = data
  const whole = whole_bytes === undefined ? '' : ` from ${fileSize(whole_bytes)}`
  return [
    fileSize(output_bytes),
    ...(truncated === true ? [`truncated${whole}`] : []),
    ...(handle === undefined ? [] : [handle]),
    ...(invalid_bytes_replaced === 0
      ? []
      : [`${counted(invalid_bytes_replaced, 'invalid byte')} replaced`]),
  ].join(', ')
}

/** A command by its argument vector. */
function producerWords({ kind, name, args }: EventData<'skill_context_hydration'>['produced_by']) {
  return kind === 'command' && isVector(args)
    ? argumentWords([name, ...args])
    : `${KINDS[kind]} ${name}`
}

const KINDS = {
  tool: 'tool',
  command: 'command',
  file: 'file',
  resource_view: 'Resource',
  presenter: 'fact',
} as const

function isVector(args: unknown): args is readonly string[] {
  return Array.isArray(args) && args.every((one) => typeof one === 'string')
}

/** An argument vector, each argument in quotes, so that its ends are visible. */
export function argumentWords(argv: readonly string[]): string {
  return argv.map(quoted).join(' ')
}

/** The question before facts are fetched. Visible text. */
export function hydrationQuestion(hydration: {
  readonly skill: string
  readonly context_source_id: string
}): string {
  const { skill, context_source_id } = hydration
  return visibleLine(`Fetch context ${context_source_id} for Skill ${skill}?`)
}
