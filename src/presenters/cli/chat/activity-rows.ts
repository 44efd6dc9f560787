import { groupDigits } from '../../../encoding/amounts.ts'
import { planRows } from '../screen/plan-rows.ts'
import { aside, oneRow, sentences, verbatim } from '../screen/rows.ts'
import type { Line } from '../text/cell-width.ts'
import { visibleLine } from '../text/visible-text.ts'
import {
  OUTPUT_LINES,
  type ActivityFacts,
  type AwaitedThing,
  type LiveCall,
} from './turn-activity.ts'

/** How facts are shown. */
interface ActivityView {
  readonly columns: number
  /** A reading of the clock of the facts. */
  readonly nowMs: number
}

/** How long each picture of the spinner stays. */
export const SPIN_MS = 120
const SPINNER = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'] as const
const MOST_TITLE_ROWS = 2
const MOST_THINKING_ROWS = 3
const MOST_PLAN_ROWS = 8

/** What is running: each call with the end of its output, the thinking, the plan, and text that waits for the model. Pure. */
export function activityRows(facts: ActivityFacts, view: ActivityView): Line[] {
  const { columns } = view
  return [
    ...facts.calls.flatMap((call) => callRows(call, view)),
    ...thinkingRows(facts, columns),
    ...planRows(facts.plan, columns, MOST_PLAN_ROWS),
    ...facts.steering.map((text) =>
      oneRow(text.replaceAll(/\s+/g, ' '), { columns, first: '↳ steering: ' }),
    ),
  ]
}

/**
 * The line that says what the Turn waits for, for how long it has been running, and how many tokens the model wrote. A
 * `still` line has no spinner and no times, so that it changes only when something happens. Pure.
 */
export function pulseLine(
  facts: ActivityFacts,
  {
    nowMs,
    isStill,
    hasQuestion,
  }: Omit<ActivityView, 'columns'> & { isStill: boolean; hasQuestion: boolean },
): Line | undefined {
  const words = hasQuestion ? 'waiting for you' : awaitedWords(facts, isStill ? undefined : nowMs)
  if (words === '') return undefined
  const { count, isEstimate } = facts.tokens
  const tokens = count === 0 ? [] : [`${isEstimate ? '~' : ''}${shortCount(count)} tokens`]
  const elapsed = facts.sinceMs === undefined ? [] : [duration(nowMs - facts.sinceMs)]
  if (isStill) return aside(`… ${words}`)
  const sign = hasQuestion ? '?' : (SPINNER[Math.floor(nowMs / SPIN_MS) % SPINNER.length] ?? '…')
  return [
    { text: `${sign} `, style: { colour: 'cyan' } },
    ...aside([words, ...(hasQuestion ? [] : elapsed), ...tokens].join(' · ')),
  ]
}

function callRows({ title, sinceMs, output, notice }: LiveCall, view: ActivityView): Line[] {
  const { columns, nowMs } = view
  const ms = nowMs - sinceMs
  const running = ms < 1_000 ? title : `${title} · ${duration(ms)}`
  const lines = output.split('\n').filter((line) => line.trim() !== '')
  return [
    ...sentences(running, { columns, first: '… ' }).slice(0, MOST_TITLE_ROWS),
    ...(notice === ''
      ? []
      : sentences(notice, { columns, first: '  ', style: { colour: 'yellow' } })),
    ...lines.slice(-OUTPUT_LINES).flatMap((line): Line[] => {
      return verbatim(line, { columns, first: '  ', style: { dim: true } }).slice(0, 1)
    }),
  ]
}

function thinkingRows({ waitsFor, thinking }: ActivityFacts, columns: number): Line[] {
  if (waitsFor.kind !== 'thinking' || thinking.trim() === '') return []
  const style = { dim: true, italic: true }
  return sentences(thinking.trim(), { columns, first: '  ', style }).slice(-MOST_THINKING_ROWS)
}

/** Without `nowMs`, a wait is shown in full instead of what is left of it. */
function awaitedWords({ waitsFor, calls }: ActivityFacts, nowMs: number | undefined): string {
  const [first, ...others] = calls
  if (first !== undefined && waitsFor.kind !== 'retry') {
    const name = first.title.split(' ')[0] ?? ''
    return others.length === 0 ? `running ${name}` : `running ${calls.length} calls`
  }
  return wordsOf(waitsFor, nowMs)
}

function wordsOf(waitsFor: AwaitedThing, nowMs: number | undefined): string {
  switch (waitsFor.kind) {
    case 'nothing':
      return ''
    case 'model':
      return 'waiting for the model'
    case 'thinking':
      return 'thinking'
    case 'answer':
      return 'answering'
    case 'work':
      return visibleLine(waitsFor.text)
    case 'retry': {
      const { attempt, of, delay_ms, kind } = waitsFor.retry
      const left = nowMs === undefined ? delay_ms : Math.max(0, waitsFor.untilMs - nowMs)
      return `retry ${attempt} of ${of} in ${Math.ceil(left / 1000)} s (${kind.replaceAll('_', ' ')})`
    }
    default:
      return waitsFor satisfies never
  }
}

/** For example `12 s` or `2 min 5 s`. */
export function duration(ms: number): string {
  const seconds = Math.floor(Math.max(0, ms) / 1000)
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}

/** For example `950` or `12.3k`. */
function shortCount(count: number): string {
  return count < 1_000 ? groupDigits(count) : `${(count / 1_000).toFixed(1)}k`
}
