import type { EventData, WholeEvent } from '../../../model/events/event.ts'
import type { OwnChoice } from '../question/own-questions.ts'
import { giveBack } from '../screen/editor.ts'
import type { ChatDesk } from './desk.ts'
import { failureRows } from './translate.ts'

type PlanEntries = EventData<'plan_updated'>['entries']

/** The plan that the last Turn made or changed in plan mode; empty if it did neither. Pure. */
export function planToApprove(events: readonly WholeEvent[]): PlanEntries {
  for (const event of events.toReversed()) {
    if (event.type === 'plan_updated') return event.data.entries
    if (event.type === 'turn_started') return []
  }
  return []
}

/** Asks what to do with a plan, and does it. Escape leaves everything as it is. */
export async function askAboutPlan(
  desk: Pick<ChatDesk, 'questions' | 'current' | 'display' | 'editor'>,
  entries: PlanEntries,
  submit: (text: string) => void,
): Promise<void> {
  const steps = entries.map(({ content }, at) => `${at + 1}. ${content}`)
  const reason = 'You are in plan mode, and the model has a plan'
  const question = { title: 'Carry out this plan?', lines: steps, reason }
  const { choice, text = '' } = await desk.questions.choose(question, CHOICES)
  const chosen = CHOICES[choice - 1]
  if (chosen === APPROVE) await approve(desk, 'ask', submit)
  if (chosen === APPROVE_AND_AUTO) await approve(desk, 'auto', submit)
  if (chosen === EDIT) {
    desk.editor = giveBack(desk.editor, `Change the plan to:\n${steps.join('\n')}`)
    desk.display.refresh()
  }
  if (chosen === REJECT && text.trim() !== '') submit(`The plan is rejected: ${text.trim()}`)
}

async function approve(
  { current, display }: Pick<ChatDesk, 'current' | 'display'>,
  permission_mode: 'ask' | 'auto',
  submit: (text: string) => void,
): Promise<void> {
  const changed = await current.changeMode({ mode: 'build', permission_mode })
  if (changed.ok) submit('The plan is approved. Carry it out.')
  else display.print(failureRows(changed.error, display.columns))
}

const APPROVE: OwnChoice = { text: 'Approve, and ask before changes', decision: 'allowed' }
const APPROVE_AND_AUTO: OwnChoice = { text: 'Approve, and switch to auto', decision: 'allowed' }
const EDIT: OwnChoice = { text: 'Edit the plan in the input', decision: 'allowed' }
const REJECT: OwnChoice = {
  text: 'Reject, and stay in plan mode',
  decision: 'denied',
  field: { label: 'Reason for the model (empty: send nothing): ', text: '' },
}
const CHOICES: readonly OwnChoice[] = [APPROVE, APPROVE_AND_AUTO, EDIT, REJECT]
