import { lastPressure } from '../../../history/last-pressure.ts'
import { aside } from '../screen/rows.ts'
import type { Scene } from '../screen/screen.ts'
import type { Line } from '../text/cell-width.ts'
import { activityRows, pulseLine } from './activity-rows.ts'
import type { ChatDesk } from './desk.ts'
import { queueRows } from './commands/message-queue.ts'
import { statusLine } from './status-line.ts'

/** What the live region shows below the finished rows. */
export function liveRegion(desk: ChatDesk): Scene {
  const { asking, editor, picking, suggestions, display } = desk
  const { busy, view } = desk.current
  const { columns } = display
  const hasQuestion = asking.waits
  if (picking.isOpen)
    return {
      open: view.open(),
      activity: [],
      question: (width, most) => picking.rows(width, most),
      draft: undefined,
      hint: picking.hint(),
      cursor: 'none',
    }
  const { isStill, isPlain } = desk.parts.signals
  if (isPlain) return plainRegion(desk)
  const nowMs = desk.parts.clock.monotonicMs()
  const facts = view.activity
  const activity = hasQuestion ? [] : activityRows(facts, { columns, nowMs })
  return {
    open: view.open(),
    activity: [...activity, ...queueRows(desk.queue, columns), ...waiting(desk)],
    pulse: busy ? pulseLine(facts, { nowMs, isStill, hasQuestion }) : undefined,
    question: (width, most) => asking.rows(width, most),
    draft: editor.draft,
    chips: editor.chips,
    ...(hasQuestion ? {} : { below: (width: number) => suggestions.rows(width) }),
    hint: hint(desk, columns),
    // Keys go to the question.
    cursor: hasQuestion ? 'none' : busy ? 'drawn' : 'own',
  }
}

/** Nothing changes but the question and the input, where the cursor stays. */
function plainRegion({ asking, editor, note, queue }: ChatDesk): Scene {
  const queued = queue.length === 0 ? '' : `${queue.length} queued`
  return {
    open: [],
    activity: [],
    question: (width, most) => asking.rows(width, most),
    draft: asking.waits ? undefined : editor.draft,
    chips: editor.chips,
    hint: asking.waits ? asking.hint() : aside(note === '' ? queued : note),
    cursor: asking.waits ? 'none' : 'own',
  }
}

/** The title of the terminal: the state, and what the Session is about. */
export function windowTitle({ asking, current }: ChatDesk): string {
  const { title, workspace } = current.session.state
  const about = title === '' ? (workspace.split('/').at(-1) ?? '') : title
  const state = asking.waits ? '? ' : current.busy ? '● ' : ''
  return `${state}${about} · hawser`
}

/** The attachments for the next message, one per line. */
function waiting({ pending }: ChatDesk): Line[] {
  return pending.waiting.map(({ words }, at) => aside(`[${at + 1}] ${words}`))
}

function hint(desk: ChatDesk, columns: number): Line {
  const { note, asking, current, queue, branch, editor } = desk
  if (note !== '') return [{ text: note, style: { colour: 'yellow' } }]
  if (asking.waits) return asking.hint()
  const { session, busy, work } = current
  const { mode, permission_mode, model, effort, workspace, cost_usd } = session.state
  // A message waits for a command.
  const running =
    work === 'Turn' ? ['Esc interrupts', 'Enter steers', 'Tab queues'] : ['Esc interrupts']
  const facts = {
    mode,
    permission_mode,
    model,
    effort,
    workspace,
    cost_usd,
    branch,
    pressure: lastPressure(session.events),
    queueLength: queue.length,
    keys: [...vimMode(editor), ...(busy ? running : ['/help'])],
  }
  return statusLine(facts, columns)
}

/** Named in every mode but that in which keys type. */
function vimMode({ vim }: ChatDesk['editor']): string[] {
  if (vim === undefined || vim.mode === 'insert') return []
  return [vim.mode.toUpperCase().replace('-', ' ')]
}
