import { useEffect, useMemo, useRef } from 'react'
import { request } from '../api/server.ts'
import { Composer } from '../composer/composer.tsx'
import { DraftKeeper } from '../composer/draft-keeper.ts'
import { Outbox } from '../composer/outbox.ts'
import { Uploads } from '../composer/uploads.ts'
import { ElsewhereCard, QuestionCard } from '../question/question.tsx'
import { Banner } from './banner.tsx'
import { useStore } from '../store/store.ts'
import { Transcript } from '../transcript/transcript.tsx'
import { visible } from '../transcript/text.ts'
import { Header } from './header.tsx'
import { SessionClient } from '../session/session-client.ts'

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
  const { client, keeper, outbox } = parts
  const view = useStore(client.store)
  const { draft, state } = useStore(keeper.store)
  const input = useRef<HTMLTextAreaElement>(null)
  const { isRunning, messageKeys, steered, phase, questions, connection } = view

  const isReady = phase === 'ready' && state !== 'loading'
  useEffect(() => {
    if (isReady && connection === 'open') outbox.resume(isRunning)
  }, [outbox, isReady, connection, isRunning])
  useEffect(() => {
    if (isReady) outbox.confirm(messageKeys, steered, isRunning)
  }, [outbox, isReady, messageKeys, steered, isRunning, draft.unconfirmed])
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

  const interrupt = () =>
    void request<object>('POST', '/api/harness/interrupt', { body: { sessionId: id } })
  const { unconfirmed } = draft
  const pending = useMemo(
    () => unconfirmed.filter(({ messageKey }) => !messageKeys.has(messageKey)),
    [unconfirmed, messageKeys],
  )
  return (
    <main className="session" aria-label="Session">
      <Header view={view} onMenu={onMenu} />
      <Banner connection={connection} />
      {view.phase === 'failed' ? (
        <div className="empty" role="alert">
          <p>This Session cannot be shown: {visible(view.failure?.message ?? '')}</p>
        </div>
      ) : (
        <Transcript client={client} view={view} pending={pending} />
      )}
      <div className="below">
        {questions.map((question) => (
          <QuestionCard key={question.request_id} question={question} />
        ))}
        {questions.length === 0 && view.elsewhere !== undefined && view.info?.runsHere !== true && (
          <ElsewhereCard asked={view.elsewhere} />
        )}
        {view.phase !== 'failed' && (
          <Composer
            sessionId={id}
            parts={parts}
            view={view}
            input={input}
            onInterrupt={interrupt}
          />
        )}
      </div>
    </main>
  )
}

/** The parts of one Session, which live as long as it is shown. */
function sessionParts(id: string) {
  const client = new SessionClient(id)
  const keeper = new DraftKeeper(id)
  const outbox = new Outbox(id, keeper)
  const uploads = new Uploads(keeper)
  const open = () => () => {
    client.close()
    keeper.close()
    outbox.close()
    uploads.close()
  }
  return { client, keeper, outbox, uploads, open }
}
