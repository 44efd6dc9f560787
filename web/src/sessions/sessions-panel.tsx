import { useEffect, useState } from 'react'
import { request } from '../api/server.ts'
import type { ApiSession } from '../api/shapes.ts'
import { navigate, sessionPath } from '../store/route.ts'
import { useStore } from '../store/store.ts'
import { visible } from '../transcript/text.ts'
import { ageOf, stateOf, treeOf, type SessionsStore } from './sessions-store.ts'

/** Every Session of every workspace, as a tree with forks, searched by title. */
export function SessionsPanel({
  sessions,
  current,
  onNew,
}: {
  readonly sessions: SessionsStore
  readonly current: string | undefined
  readonly onNew: () => void
}) {
  const { phase, failure, workspaces } = useStore(sessions.store)
  const [search, setSearch] = useState('')
  useMinute()
  const shown = workspaces
    .map((one) => ({ ...one, nodes: treeOf(one.sessions, search) }))
    .filter(({ nodes, problem }) => nodes.length > 0 || problem !== undefined)
  return (
    <nav className="sessions" aria-label="Sessions">
      <div className="sessions-head">
        <button type="button" className="primary" onClick={onNew}>
          + New Session
        </button>
        <input
          type="search"
          aria-label="Search Sessions"
          placeholder="Search"
          value={search}
          onChange={(event) => setSearch(event.target.value)}
        />
      </div>
      {phase === 'loading' && <p className="quiet">Loading the Sessions…</p>}
      {failure !== undefined && (
        <p className="problem" role="alert">
          {failure.message}
        </p>
      )}
      {phase === 'ready' && shown.length === 0 && (
        <p className="empty">
          {search === '' ? 'No Sessions yet. Start with a new one.' : 'No Session matches.'}
        </p>
      )}
      {shown.map(({ projectRoot, nodes, problem }) => (
        <section key={projectRoot} aria-label={projectRoot}>
          <h2 title={projectRoot}>
            <bdi>{visible(projectRoot.slice(projectRoot.lastIndexOf('/') + 1)) || '/'}</bdi>
          </h2>
          {problem !== undefined && <p className="problem">{visible(problem)}</p>}
          <ul>
            {nodes.map(({ session, depth }) => (
              <SessionRow
                key={session.sessionId}
                session={session}
                depth={depth}
                isCurrent={session.sessionId === current}
                onDeleted={() => sessions.read()}
              />
            ))}
          </ul>
        </section>
      ))}
    </nav>
  )
}

/** Draws the ages again. */
function useMinute(): void {
  const [, setCount] = useState(0)
  useEffect(() => {
    const timer = setInterval(() => setCount((count) => count + 1), 60_000)
    return () => clearInterval(timer)
  }, [])
}

function SessionRow({
  session,
  depth,
  isCurrent,
  onDeleted,
}: {
  readonly session: ApiSession
  readonly depth: number
  readonly isCurrent: boolean
  readonly onDeleted: () => Promise<void>
}) {
  const [isAsking, setAsking] = useState(false)
  const [problem, setProblem] = useState('')
  const { sessionId, title, updatedAt } = session
  const { sign, word } = stateOf(session)
  const name = title === '' ? 'New Session' : title
  const path = sessionPath(sessionId)
  const remove = async () => {
    const answer = await request<object>('DELETE', `/api/harness/session/${sessionId}`)
    setAsking(false)
    if (!answer.ok) return setProblem(answer.failure.message)
    if (isCurrent) navigate('/')
    await onDeleted()
  }
  return (
    <li className={isCurrent ? 'row current' : 'row'} data-depth={Math.min(depth, 4)}>
      <a
        href={path}
        aria-current={isCurrent ? 'page' : undefined}
        onClick={(event) => {
          if (event.ctrlKey || event.metaKey || event.shiftKey) return
          event.preventDefault()
          navigate(path)
        }}
      >
        <span className={`sign sign-${word.replaceAll(' ', '-')}`} aria-hidden="true">
          {depth > 0 ? '└ ' : ''}
          {sign}
        </span>
        <span className="about">
          <bdi className="title">{visible(name.slice(0, 200))}</bdi>
          <span className="quiet state">
            <span className="word">{word}</span>
            {updatedAt !== undefined && ` · ${ageOf(updatedAt)}`}
          </span>
        </span>
      </a>
      {isAsking ? (
        <span className="confirm" role="group" aria-label={`Delete ${name}?`}>
          <button type="button" className="deny" autoFocus onClick={() => void remove()}>
            Delete
          </button>
          <button type="button" onClick={() => setAsking(false)}>
            Keep
          </button>
        </span>
      ) : (
        <button
          type="button"
          className="quiet delete"
          aria-label={`Delete Session ${name.slice(0, 80)}`}
          onClick={() => setAsking(true)}
        >
          ×
        </button>
      )}
      {problem !== '' && (
        <p className="problem" role="alert">
          {visible(problem)}
        </p>
      )}
    </li>
  )
}
