import { isJsonObject, parseJson } from '../../../encoding/json.ts'
import type { EventData } from '../../../model/events/event.ts'

/**
 * The arguments of a call as a person reads them: a command after `$`, a path and what is written to it, otherwise one line for
 * each argument. Arguments that are not a JSON object are returned as they are. Pure.
 */
export function callText({ name, arguments: text }: EventData<'tool_call'>): string {
  const args = parseJson(text)
  if (!isJsonObject(args)) return text
  const { command, path, content, edits, ...others } = args
  if (name === 'bash' && typeof command === 'string')
    return lines(`$ ${command}`, ...argumentLines({ path, content, edits, ...others }))
  if (name === 'write' && typeof content === 'string')
    return lines(...argumentLines({ path, command, edits, ...others }), '', content)
  if (name === 'edit' && Array.isArray(edits))
    return lines(...argumentLines({ path, command, content, ...others }), ...edits.flatMap(edit))
  if (name === 'update_plan' && Array.isArray(args['entries'])) {
    const { entries: _, ...rest } = args
    return lines(...argumentLines(rest), ...args['entries'].map(planEntry))
  }
  return lines(...argumentLines(args))
}

const MARKS: Readonly<Record<string, string>> = { completed: '[x]', in_progress: '[>]' }

function planEntry(one: unknown): string {
  if (!isJsonObject(one) || typeof one['content'] !== 'string') return JSON.stringify(one)
  return `${MARKS[String(one['status'])] ?? '[ ]'} ${one['content']}`
}

function edit(one: unknown): string[] {
  if (!isJsonObject(one)) return [JSON.stringify(one)]
  const { old_text, new_text, ...others } = one
  if (typeof old_text !== 'string' || typeof new_text !== 'string') return argumentLines(one)
  return ['replace:', indent(old_text), 'with:', indent(new_text), ...argumentLines(others)]
}

/** `name: value`, a longer text below its name. */
function argumentLines(args: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(args).flatMap(([name, value]) => {
    if (value === undefined) return []
    if (typeof value !== 'string') return [`${name}: ${JSON.stringify(value)}`]
    return value.includes('\n') ? [`${name}:`, indent(value)] : [`${name}: ${value}`]
  })
}

function indent(text: string): string {
  return text
    .replace(/\n$/, '')
    .split('\n')
    .map((line) => `    ${line}`)
    .join('\n')
}

function lines(...all: readonly string[]): string {
  return all.join('\n')
}
