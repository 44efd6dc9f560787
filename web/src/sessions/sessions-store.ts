import { request, type Failure } from '../api/server.ts'
import type { ApiSession, ApiWorkspace } from '../api/shapes.ts'
import { Store } from '../store/store.ts'

/** All Sessions of this machine, as last received. */
export interface KnownSessions {
  readonly phase: 'loading' | 'ready' | 'failed'
  readonly failure: Failure | undefined
  readonly workspaces: readonly ApiWorkspace[]
}

const LOOK_MS = 3_000

/** Reads the list again and again while the page is visible. */
export class SessionsStore {
  readonly store = new Store<KnownSessions>({
    phase: 'loading',
    failure: undefined,
    workspaces: [],
  })
  #last = ''
  #isReading = false

  /** Returns the function that ends it. */
  start(): () => void {
    void this.read()
    const timer = setInterval(() => {
      if (!document.hidden) void this.read()
    }, LOOK_MS)
    return () => clearInterval(timer)
  }

  async read(): Promise<void> {
    if (this.#isReading) return
    this.#isReading = true
    const answer = await request<{ workspaces: ApiWorkspace[] }>('GET', '/api/harness/workspaces')
    this.#isReading = false
    if (!answer.ok) return this.store.change({ phase: 'failed', failure: answer.failure })
    const text = JSON.stringify(answer.value.workspaces)
    if (text === this.#last && this.store.value.phase === 'ready') return
    this.#last = text
    this.store.set({ phase: 'ready', failure: undefined, workspaces: answer.value.workspaces })
  }
}

/** What a Session is doing, as a sign and a word. */
export function stateOf(session: ApiSession): { readonly sign: string; readonly word: string } {
  if (session.damage !== undefined) return { sign: '✗', word: 'damaged' }
  if ((session.questions ?? 0) > 0) return { sign: '◐', word: 'waiting for you' }
  if (session.runsHere === true) return { sign: '●', word: 'running' }
  if (session.busy || session.turnOpen) return { sign: '●', word: 'running elsewhere' }
  if (session.foreign) return { sign: '○', word: 'read-only' }
  if (session.lastStatus === 'failed' || session.lastStatus === 'refused')
    return { sign: '✗', word: 'failed' }
  return { sign: '○', word: 'idle' }
}

export interface SessionNode {
  readonly session: ApiSession
  readonly depth: number
}

/** The Sessions of a workspace, forks below their parents; the rest in the given order. */
export function treeOf(sessions: readonly ApiSession[], search: string): readonly SessionNode[] {
  const wanted = search.trim().toLowerCase()
  const found = sessions.filter(
    ({ title, sessionId, model }) =>
      wanted === '' || `${title} ${sessionId} ${model}`.toLowerCase().includes(wanted),
  )
  const ids = new Set(found.map(({ sessionId }) => sessionId))
  const children = new Map<string, ApiSession[]>()
  for (const session of found) {
    const { parentSessionId = '' } = session
    const parent = ids.has(parentSessionId) ? parentSessionId : ''
    const siblings = children.get(parent)
    if (siblings === undefined) children.set(parent, [session])
    else siblings.push(session)
  }
  const below = (parent: string, depth: number): SessionNode[] =>
    (children.get(parent) ?? []).flatMap((session) => [
      { session, depth },
      ...below(session.sessionId, depth + 1),
    ])
  return below('', 0)
}

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** How long ago, in the largest unit that fits; a date after a week. */
export function ageOf(time: string, now = Date.now()): string {
  const age = now - Date.parse(time)
  if (age < MINUTE_MS) return 'now'
  if (age < HOUR_MS) return `${Math.floor(age / MINUTE_MS)} min ago`
  if (age < DAY_MS) return `${Math.floor(age / HOUR_MS)} h ago`
  if (age < 7 * DAY_MS) return `${Math.floor(age / DAY_MS)} d ago`
  return time.slice(0, 10)
}
