import { quote } from '../../../encoding/quote.ts'
import { hydrationWords } from '../../../history/results/notice-words.ts'
import type { EventData } from '../../../model/events/event.ts'
import { visibleLine } from './visible-text.ts'

/** An activation in one line, with whose Skill it is. Visible text. */
export function activationWords(data: EventData<'skill_activation'>): string {
  const { name, args, activated_by, trust, source } = data
  const by = activated_by === 'user' ? 'you' : 'the model'
  const given = args === '' ? '' : `, with ${quote(args)}`
  return visibleLine(`Skill ${name} activated by ${by}${given} (${trust}, ${source})`)
}

/** See `hydrationWords`. Visible text. */
export function hydrationLine(data: EventData<'skill_context_hydration'>): string {
  return visibleLine(hydrationWords(data))
}

/** The question before facts are fetched. Visible text. */
export function hydrationQuestion(hydration: {
  readonly skill: string
  readonly context_source_id: string
}): string {
  const { skill, context_source_id } = hydration
  return visibleLine(`Fetch context ${context_source_id} for Skill ${skill}?`)
}

/** As editors and terminals read it: `path:line`. */
export function lineLabel(path: string, line: number | undefined): string {
  return line === undefined ? visibleLine(path) : `${visibleLine(path)}:${line}`
}
