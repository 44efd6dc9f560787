import { useCallback, useEffect, useMemo, useState } from 'react'
import { request } from '../api/server.ts'
import { forgetToken } from '../store/token.ts'
import { SessionScreen } from './session-screen.tsx'
import { NewSession } from '../sessions/new-session.tsx'
import { SessionsPanel } from '../sessions/sessions-panel.tsx'
import { SessionsStore } from '../sessions/sessions-store.ts'
import { useStore } from '../store/store.ts'
import { Palette, type Command } from './palette.tsx'
import { address, navigate, sessionOf } from '../store/route.ts'
import { Shortcuts } from './shortcuts.tsx'
import { SignedOut } from './signed-out.tsx'
import { toggleTheme } from './theme.ts'

type Overlay = 'none' | 'palette' | 'keys'

/** The whole page: the Sessions, and one of them or a new one. */
export function App({ folder }: { readonly folder: string }) {
  const path = useStore(address)
  const id = sessionOf(path)
  const sessions = useMemo(() => new SessionsStore(), [])
  const { failure } = useStore(sessions.store)
  const [overlay, setOverlay] = useState<Overlay>('none')
  const [isMenuOpen, setMenuOpen] = useState(false)
  useEffect(() => sessions.start(), [sessions])
  useEffect(() => setMenuOpen(false), [path])
  const commands = useMemo((): readonly Command[] => commandsFor(id, setOverlay), [id])
  useKeys(commands, setOverlay)
  useEffect(() => keepPage(() => setMenuOpen(false)), [])
  const changed = useCallback(() => void sessions.read(), [sessions])
  if (failure?.status === 401)
    return <SignedOut problem="The token of this tab is not that of the server any more." />
  return (
    <div className={isMenuOpen ? 'app menu-open' : 'app'}>
      <div
        className="side"
        onClick={(event) => event.target === event.currentTarget && setMenuOpen(false)}
      >
        <SessionsPanel sessions={sessions} current={id} onNew={() => navigate('/')} />
      </div>
      {id === undefined ? (
        <div className="page">
          <button
            type="button"
            className="menu"
            aria-label="Sessions"
            onClick={() => setMenuOpen(true)}
          >
            ☰
          </button>
          <NewSession sessions={sessions} folder={folder} />
        </div>
      ) : (
        <SessionScreen
          key={id}
          id={id}
          onMenu={() => setMenuOpen(!isMenuOpen)}
          onSessionsChanged={changed}
        />
      )}
      {overlay === 'palette' && (
        <Palette sessions={sessions} commands={commands} onClose={() => setOverlay('none')} />
      )}
      {overlay === 'keys' && <Shortcuts onClose={() => setOverlay('none')} />}
    </div>
  )
}

/** A command, and the key that it has with Alt. */
interface KeyedCommand extends Command {
  readonly key?: string
}

function commandsFor(
  id: string | undefined,
  open: (overlay: Overlay) => void,
): readonly KeyedCommand[] {
  const own: readonly KeyedCommand[] =
    id === undefined
      ? []
      : [
          { name: 'Go to the message', about: 'Alt+M', key: 'm', run: focus('.composer textarea') },
          { name: 'Go to the open question', about: 'Alt+Q', key: 'q', run: focus('.question h2') },
          { name: 'Go to the transcript', about: 'Alt+T', key: 't', run: focus('.transcript') },
          {
            name: 'Interrupt the running Turn',
            about: 'Alt+.',
            key: '.',
            run: () =>
              void request<object>('POST', '/api/harness/interrupt', { body: { sessionId: id } }),
          },
          { name: 'Attach files', about: '', run: () => clickOn('.composer input[type=file]') },
        ]
  return [
    { name: 'New Session', about: 'Alt+N', key: 'n', run: () => navigate('/') },
    ...own,
    { name: 'Keys', about: '?', run: () => open('keys') },
    { name: 'Change between dark and light', about: '', run: toggleTheme },
    {
      name: 'Sign out of this tab',
      about: '',
      run: () => {
        forgetToken()
        location.assign('/')
      },
    },
  ]
}

function dropped(event: DragEvent): void {
  event.preventDefault()
}

/** A file that misses its place would replace the page; Escape closes the sheet. Returns the function that ends both. */
function keepPage(close: () => void): () => void {
  const pressed = ({ key }: KeyboardEvent) => {
    if (key === 'Escape') close()
  }
  addEventListener('dragover', dropped)
  addEventListener('drop', dropped)
  addEventListener('keydown', pressed)
  return () => {
    removeEventListener('dragover', dropped)
    removeEventListener('drop', dropped)
    removeEventListener('keydown', pressed)
  }
}

function focus(selector: string): () => void {
  return () => {
    const found = document.querySelector(selector)
    if (found instanceof HTMLElement) found.focus()
  }
}

function clickOn(selector: string): void {
  const found = document.querySelector(selector)
  if (found instanceof HTMLElement) found.click()
}

/** By its place where the key types another character with Alt, as on a Mac. */
function isKey({ key, code }: KeyboardEvent, wanted: string): boolean {
  if (/^[ -~]$/.test(key)) return key.toLowerCase() === wanted
  return code === (wanted === '.' ? 'Period' : `Key${wanted.toUpperCase()}`)
}

function useKeys(commands: readonly KeyedCommand[], open: (overlay: Overlay) => void): void {
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      const isPalette = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k'
      const isTyping =
        event.target instanceof HTMLTextAreaElement ||
        event.target instanceof HTMLInputElement ||
        event.target instanceof HTMLSelectElement
      const command =
        event.altKey && !event.ctrlKey && !event.metaKey
          ? commands.find(({ key }) => key !== undefined && isKey(event, key))
          : undefined
      if (isPalette) open('palette')
      else if (command !== undefined) command.run()
      else if (event.key === '?' && !isTyping && !event.ctrlKey && !event.metaKey) open('keys')
      else return
      event.preventDefault()
    }
    addEventListener('keydown', pressed)
    return () => removeEventListener('keydown', pressed)
  }, [commands, open])
}
