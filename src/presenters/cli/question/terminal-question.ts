import type { Clock } from '../../../host/clock.ts'
import type { Streams } from '../../../host/streams.ts'
import type { Activity } from '../render/activity.ts'
import { Asking } from './asking.ts'
import { Display } from '../screen/display.ts'
import { listenToKeys } from '../screen/keyboard.ts'
import { questionTitle } from './proposal.ts'
import type {
  OpenQuestions,
  Question,
  SettledQuestion,
} from '../../../session/questions/session-questions.ts'
import { sentences } from '../screen/rows.ts'
import type { Line } from '../text/cell-width.ts'

export interface TerminalParts {
  readonly streams: Streams
  readonly clock: Clock
  readonly colour: boolean
  readonly activity: Activity
}

/** Shows the open questions of a Session at the terminal until all are settled. */
export async function askOpen(
  { streams, clock, colour, activity }: TerminalParts,
  { questions, interrupt }: AskedSession,
): Promise<void> {
  const { stdin, stderr } = streams
  const over = new AbortController()
  const defects: unknown[] = []
  const display = new Display(
    { streams: { ...streams, stdout: stderr }, clock, colour },
    {
      scene: () => ({
        open: [],
        activity: [],
        question: (columns, most) => asking.rows(columns, most),
        draft: undefined,
        hint: asking.hint(),
        cursor: 'none',
      }),
      onResize: () => {},
      onDefect: (defect) => {
        defects.push(defect)
        over.abort()
      },
    },
  )
  const asking = new Asking(
    clock,
    () => display.refresh(),
    () => display.attract('A question waits'),
  )
  activity.clear()
  // Other output in the meantime goes above the question.
  const uncover = activity.cover(() => display.lift())
  const stopKeys = listenToKeys(
    stdin,
    clock,
    (key) => {
      // The terminal is in raw mode, so Ctrl-C arrives as a key.
      if (key.kind === 'press' && key.chord === 'ctrl-c') stdin.interrupt()
      else asking.take(key)
    },
    // No one can answer any more.
    interrupt,
  )
  const stopListening = questions.listen((change) => {
    if (change.kind !== 'settled') return
    display.print(outcome(change.question, change.settlement, stderr.columns))
    if (questions.open.length === 0) over.abort()
  })
  try {
    display.open()
    asking.watch(questions)
    if (questions.open.length > 0) await aborted(over.signal)
    if (defects.length > 0) throw defects[0]
  } finally {
    stopListening()
    stopKeys()
    uncover()
    asking.close()
    await display.close()
  }
}

interface AskedSession {
  readonly questions: OpenQuestions
  readonly interrupt: () => void
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve())
  })
}

/** The rows that remain after the answer. */
function outcome(question: Question, settled: SettledQuestion, columns: number): Line[] {
  return [
    ...questionTitle(question, columns),
    ...sentences(settledWords(settled), { columns, first: '  ' }),
  ]
}

function settledWords({ decision, by, scope, reason }: SettledQuestion): string {
  if (by !== 'person') return 'Not answered.'
  if (decision === 'allowed')
    return scope === 'once' ? 'Yes, once.' : `Yes, for this ${scopeName(scope)}.`
  return reason === undefined ? 'No.' : `No: ${reason}`
}

function scopeName(scope: 'session' | 'workspace'): string {
  return scope === 'session' ? 'Session' : scope
}
