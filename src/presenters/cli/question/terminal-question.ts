import type { Clock } from '../../../host/clock.ts'
import type { Streams } from '../../../host/streams.ts'
import type { Activity } from '../render/activity.ts'
import { Asking } from './asking.ts'
import { Display } from '../screen/display.ts'
import { listenToKeys } from '../screen/keyboard.ts'
import { questionTitle } from './proposal.ts'
import { Questions, type Answer, type Question } from '../../../session/questions/questions.ts'
import { sentences } from '../screen/rows.ts'
import type { Line } from '../text/cell-width.ts'

export interface TerminalParts {
  readonly streams: Streams
  readonly clock: Clock
  readonly colour: boolean
  readonly activity: Activity
}

/** Shows one question at the terminal and waits for its answer. */
export async function askOne(
  { streams, clock, colour, activity }: TerminalParts,
  question: Question,
  signal: AbortSignal,
): Promise<Answer> {
  const { stdin, stderr } = streams
  const questions = new Questions()
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
      resized: () => {},
      onDefect: (defect) => {
        defects.push(defect)
        questions.leave()
      },
    },
  )
  const asking = new Asking(
    questions,
    clock,
    () => display.refresh(),
    () => display.bell(),
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
    () => questions.leave(),
  )
  try {
    const answering = questions.ask(question, signal)
    display.open()
    const answer = await answering
    if (defects.length > 0) throw defects[0]
    display.print(outcome(question, answer, stderr.columns))
    return answer
  } finally {
    stopKeys()
    uncover()
    asking.close()
    await display.close()
  }
}

/** The rows that remain after the answer. */
function outcome(question: Question, answer: Answer, columns: number): Line[] {
  return [
    ...questionTitle(question, columns),
    ...sentences(answerWords(answer), { columns, first: '  ' }),
  ]
}

function answerWords({ allowed, by, scope, reason }: Answer): string {
  if (by !== 'person') return 'Not answered.'
  if (allowed) return scope === 'once' ? 'Yes, once.' : `Yes, for this ${SCOPES[scope]}.`
  return reason === undefined ? 'No.' : `No: ${reason}`
}

const SCOPES = { session: 'Session', workspace: 'workspace' } as const
