import { useEffect, useMemo, useRef, useState } from 'react'
import { request } from '../api/server.ts'
import { Composer } from '../composer/composer.tsx'
import { ElsewhereCard, QuestionCard } from '../question/question.tsx'
import { Banner } from './banner.tsx'
import { useStore } from '../store/store.ts'
import { CopyButton } from '../transcript/copy-button.tsx'
import { Transcript } from '../transcript/transcript.tsx'
import { visible } from '../transcript/text.ts'
import { Header } from './header.tsx'
import { sessionParts } from './session-parts.ts'
import type { SessionView } from '../session/session-client.ts'
import type { SentMessage } from '../api/shapes.ts'

/** One Session: its transcript, the question that is open, and the composer. */
export function SessionScreen({
  id,
  onMenu,
  onSessionsChanged,
}: {
  readonly id: string
  readonly onMenu: () => void
  readonly onSessionsChanged: () => void
}) {
  const parts = useMemo(() => sessionParts(id), [id])
  useEffect(() => parts.open(), [parts])
  const { client, keeper, outbox, uploads } = parts
  const view = useStore(client.store)
  const { draft, state } = useStore(keeper.store)
  const accepted = useStore(outbox.accepted)
  const input = useRef<HTMLTextAreaElement>(null)
  const [isDropping, setDropping] = useState(false)
  const { isRunning, messageKeys, steered, phase, questions, connection } = view

  const isReady = phase === 'ready' && state !== 'loading'
  useEffect(() => {
    if (isReady) outbox.confirm(messageKeys, steered, isRunning)
  }, [outbox, isReady, messageKeys, steered, isRunning, draft.unconfirmed])
  useEffect(() => {
    if (isReady && connection === 'open') outbox.resume(messageKeys, isRunning)
    // Once for each connection: what is sent later is sent by itself.
  }, [outbox, isReady, connection, isRunning])
  useEffect(() => onSessionsChanged(), [isRunning, questions.length, onSessionsChanged])
  useEffect(() => {
    const seen = () => {
      if (!document.hidden) void keeper.load()
    }
    addEventListener('focus', seen)
    document.addEventListener('visibilitychange', seen)
    return () => {
      removeEventListener('focus', seen)
      document.removeEventListener('visibilitychange', seen)
    }
  }, [keeper])
  useEffect(() => {
    if (connection === 'open') void keeper.load()
  }, [keeper, connection])
  useEffect(() => {
    if (matchMedia('(min-width: 760px)').matches) input.current?.focus()
  }, [id])
  useTitle(view)

  const interrupt = () =>
    void request<object>('POST', '/api/harness/interrupt', { body: { sessionId: id } })
  const pending = useMemo(
    () => pendingOf([...accepted, ...draft.unconfirmed], messageKeys),
    [accepted, draft.unconfirmed, messageKeys],
  )
  const isFailed = view.phase === 'failed'
  return (
    <main
      className={isDropping ? 'session dropping' : 'session'}
      aria-label="Session"
      onDragOver={(event) => {
        event.preventDefault()
        setDropping(!isFailed && event.dataTransfer.types.includes('Files'))
      }}
      onDragLeave={(event) => {
        const to = event.relatedTarget
        if (!(to instanceof Node && event.currentTarget.contains(to))) setDropping(false)
      }}
      onDrop={(event) => {
        setDropping(false)
        if (isFailed || event.dataTransfer.files.length === 0) return
        event.preventDefault()
        uploads.add(event.dataTransfer.files)
        input.current?.focus()
      }}
    >
      <Header view={view} onMenu={onMenu} />
      <Banner connection={connection} />
      {isFailed ? (
        <Failed message={view.failure?.message ?? ''} />
      ) : (
        <Transcript client={client} view={view} pending={pending} />
      )}
      <div className="below">
        {questions.map((question) => (
          <QuestionCard
            key={question.request_id}
            question={question}
            onAnswered={() => input.current?.focus()}
          />
        ))}
        {questions.length === 0 && isElsewhere(view) && view.elsewhere !== undefined && (
          <ElsewhereCard asked={view.elsewhere} />
        )}
        {!isFailed && (
          <Composer
            sessionId={id}
            parts={parts}
            view={view}
            input={input}
            onInterrupt={interrupt}
          />
        )}
      </div>
      {isDropping && (
        <p className="drop-here" role="status">
          Drop the files to attach them
        </p>
      )}
    </main>
  )
}

/** Another process runs the Turn. One that was killed asks nothing any more. */
function isElsewhere({ isRunning, info }: SessionView): boolean {
  return isRunning && info?.runsHere !== true
}

function Failed({ message }: { readonly message: string }) {
  return (
    <div className="empty failed column" role="alert">
      <p>This Session cannot be shown: {visible(message)}</p>
      <p className="actions">
        <button type="button" onClick={() => location.reload()}>
          Try again
        </button>
        <CopyButton text={message} what="error" />
      </p>
    </div>
  )
}

/** A message is shown once, until its Turn is. */
function pendingOf(
  sent: readonly SentMessage[],
  known: ReadonlySet<string>,
): readonly SentMessage[] {
  const byKey = new Map(sent.map((one) => [one.messageKey, one] as const))
  return [...byKey.values()].filter(({ messageKey }) => !known.has(messageKey))
}

/** Other tabs show what this one is about, and that it waits. */
function useTitle({ info, questions, isRunning }: SessionView): void {
  const name = info?.title === undefined || info.title === '' ? 'New Session' : info.title
  const sign = questions.length > 0 ? '◐ ' : isRunning ? '● ' : ''
  useEffect(() => {
    document.title = `${sign}${visible(name.slice(0, 100))} · Hawser`
    return () => void (document.title = 'Hawser')
  }, [sign, name])
}
