import { useState } from 'react'
import { request } from '../api/server.ts'
import type { ApiSession } from '../api/shapes.ts'
import { navigate, sessionPath } from '../store/route.ts'
import { useStore } from '../store/store.ts'
import { visible } from '../transcript/text.ts'
import type { SessionsStore } from './sessions-store.ts'

const MOST_KNOWN = 12

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1) || path
}

/** Creates a Session in a workspace that is known, or in a folder that is typed and that the server checks. */
export function NewSession({
  sessions,
  folder,
}: {
  readonly sessions: SessionsStore
  readonly folder: string
}) {
  const { workspaces } = useStore(sessions.store)
  const [typed, setTyped] = useState<string>()
  const [mode, setMode] = useState('build')
  const [permissionMode, setPermission] = useState('ask')
  const [problem, setProblem] = useState('')
  const [isSending, setSending] = useState(false)
  const projectRoot = typed ?? (folder === '' ? (workspaces[0]?.projectRoot ?? '') : folder)
  const create = async () => {
    setSending(true)
    const body = { projectRoot, mode, permissionMode }
    const answer = await request<{ session: ApiSession }>('POST', '/api/harness/session/create', {
      body,
    })
    setSending(false)
    if (!answer.ok) return setProblem(answer.failure.message)
    void sessions.read()
    navigate(sessionPath(answer.value.session.sessionId))
  }
  return (
    <main className="new-session" aria-labelledby="new-title">
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void create()
        }}
      >
        <h1 id="new-title">New Session</h1>
        <p className="quiet">
          An agent works in one folder of this machine. Everything it does is recorded in the Log of
          the Session.
        </p>
        <label>
          Folder
          <input
            name="folder"
            required
            spellCheck={false}
            autoComplete="off"
            dir="ltr"
            placeholder="The absolute path of a project"
            value={projectRoot}
            onChange={(event) => setTyped(event.target.value)}
          />
        </label>
        {workspaces.length > 0 && (
          <div className="known" role="group" aria-label="Folders that Hawser knows">
            {workspaces.slice(0, MOST_KNOWN).map((one) => (
              <button
                key={one.projectRoot}
                type="button"
                className={
                  one.projectRoot === projectRoot ? 'known-folder current' : 'known-folder'
                }
                aria-pressed={one.projectRoot === projectRoot}
                onClick={() => setTyped(one.projectRoot)}
              >
                <bdi>{visible(nameOf(one.projectRoot))}</bdi>{' '}
                <bdi className="quiet path">{visible(one.projectRoot)}</bdi>
              </button>
            ))}
          </div>
        )}
        <div className="pair">
          <label>
            Mode
            <select value={mode} onChange={(event) => setMode(event.target.value)}>
              <option value="build">build</option>
              <option value="plan">plan (read-only)</option>
            </select>
          </label>
          <label>
            Permission
            <select value={permissionMode} onChange={(event) => setPermission(event.target.value)}>
              <option value="read-only">read-only</option>
              <option value="ask">ask</option>
              <option value="auto">auto (inside the sandbox)</option>
            </select>
          </label>
        </div>
        <button type="submit" className="primary" disabled={isSending || projectRoot === ''}>
          Start
        </button>
        {problem !== '' && (
          <p className="problem" role="alert">
            {visible(problem)}
          </p>
        )}
      </form>
    </main>
  )
}
