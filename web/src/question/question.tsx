import { lazy, Suspense, useId, useState } from 'react'
import { isRecord, request } from '../api/server.ts'
import type { Question, QuestionElsewhere } from '../session/turn-view.ts'
import { pretty } from '../transcript/tool-card.tsx'
import { cut, visible } from '../transcript/text.ts'

const DiffView = lazy(async () => ({
  default: (await import('../transcript/diff-view.tsx')).DiffView,
}))

/**
 * A permission question with the answers of the terminal. It takes no focus and no key that was meant for the composer; once a
 * person is in it, its numbers answer.
 */
export function QuestionCard({
  question,
  onAnswered,
}: {
  readonly question: Question
  /** Where the focus was is gone. */
  readonly onAnswered: () => void
}) {
  const {
    request_id: requestId,
    subject,
    reason,
    diff,
    choices,
    tool,
    upload,
    hydration,
    paths,
  } = question
  const title = useId()
  const asked = askedIn(question.arguments ?? '')
  const about = paths.length === 0 ? subject : `${tool} ${paths.join(', ')}`
  const [editing, setEditing] = useState<number>()
  const [text, setText] = useState('')
  const [problem, setProblem] = useState('')
  const [isSending, setSending] = useState(false)
  const answer = async (choice: number, words?: string) => {
    setSending(true)
    const body = { requestId, choice, ...(words === undefined ? {} : { text: words }) }
    const answered = await request<object>('POST', '/api/harness/permission', { body })
    setSending(false)
    if (answered.ok) onAnswered()
    else setProblem(answered.failure.message)
  }
  const choose = (number: number) => {
    const choice = choices.find((one) => one.number === number)
    if (choice === undefined || isSending) return
    if (choice.field === undefined) return void answer(number)
    setText(choice.field.text)
    setEditing(number)
  }
  const field = choices.find(({ number }) => number === editing)?.field
  return (
    <section
      className="question"
      aria-labelledby={title}
      data-question={requestId}
      onKeyDown={(event) => {
        const isTyping = event.target instanceof HTMLInputElement
        if (
          !isTyping &&
          /^[1-9]$/.test(event.key) &&
          !event.ctrlKey &&
          !event.metaKey &&
          !event.altKey
        )
          choose(Number(event.key))
        if (event.key === 'Escape' && editing !== undefined) setEditing(undefined)
      }}
    >
      <h2 id={title} tabIndex={-1}>
        Waiting for you: {visible(cut(about, 400).shown)}
      </h2>
      <p>{visible(reason)}</p>
      {upload !== undefined && (
        <p>
          Send <bdi>{visible(upload.name)}</bdi> to the model?
        </p>
      )}
      {hydration?.argv !== undefined && <pre dir="ltr">{visible(hydration.argv.join(' '))}</pre>}
      {diff !== undefined && diff !== '' ? (
        <Suspense fallback={<p className="quiet">Loading the changes…</p>}>
          <DiffView diff={diff} />
        </Suspense>
      ) : (
        question.arguments !== undefined && (
          <pre
            className="output"
            dir="ltr"
            tabIndex={0}
            role="region"
            aria-label={asked.isCommand ? 'Command' : `Arguments of ${tool}`}
          >
            {visible(asked.shown)}
          </pre>
        )
      )}
      <div className="choices">
        {choices.map(({ number, text: words, decision }) => (
          <button
            key={number}
            type="button"
            className={decision === 'denied' ? 'deny' : 'allow'}
            disabled={isSending}
            onClick={() => choose(number)}
          >
            <kbd>{number}</kbd> {visible(words)}
          </button>
        ))}
      </div>
      {field !== undefined && editing !== undefined && (
        <form
          onSubmit={(event) => {
            event.preventDefault()
            void answer(editing, text)
          }}
        >
          <label>
            {field.label}
            <input value={text} autoFocus onChange={(event) => setText(event.target.value)} />
          </label>
          <button type="submit" disabled={isSending}>
            Answer
          </button>
        </form>
      )}
      {problem !== '' && (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
    </section>
  )
}

/** A command as it runs, with what else its call has; the arguments of any other call. */
function askedIn(text: string): { readonly shown: string; readonly isCommand: boolean } {
  try {
    const value: unknown = JSON.parse(text)
    if (isRecord(value) && typeof value['command'] === 'string') {
      const { command, ...more } = value
      const rest = Object.keys(more).length === 0 ? '' : `\n\n${JSON.stringify(more, null, 2)}`
      return { shown: command + rest, isCommand: true }
    }
  } catch {
    // Shown as it is.
  }
  return { shown: pretty(text), isCommand: false }
}

/** A question that another process asks: only it can take the answer. */
export function ElsewhereCard({ asked: { subject } }: { readonly asked: QuestionElsewhere }) {
  return (
    <section className="question elsewhere" aria-label="A question in another program">
      <h2>Waiting elsewhere: {visible(cut(subject, 400).shown)}</h2>
      <p>
        The terminal, editor or program that runs this Turn asks it. Answer it there; the answer
        appears here.
      </p>
    </section>
  )
}
