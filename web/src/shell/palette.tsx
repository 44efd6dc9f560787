import { useState } from 'react'
import { stateOf, type SessionsStore } from '../sessions/sessions-store.ts'
import { useStore } from '../store/store.ts'
import { visible } from '../transcript/text.ts'
import { Dialog } from './dialog.tsx'
import { navigate, sessionPath } from '../store/route.ts'

export interface Command {
  readonly name: string
  readonly about: string
  readonly run: () => void
}

const MOST = 50

/** Finds commands and Sessions by what is typed. */
export function Palette({
  sessions,
  commands,
  onClose,
}: {
  readonly sessions: SessionsStore
  readonly commands: readonly Command[]
  readonly onClose: () => void
}) {
  const { workspaces } = useStore(sessions.store)
  const [search, setSearch] = useState('')
  const [chosen, setChosen] = useState(0)
  const known = workspaces.flatMap((one) =>
    one.sessions.map((session): Command => ({
      name: session.title === '' ? 'New Session' : session.title,
      about: `${stateOf(session).word} · ${one.projectRoot}`,
      run: () => navigate(sessionPath(session.sessionId)),
    })),
  )
  const found = [...commands, ...known]
    .filter(({ name, about }) => `${name} ${about}`.toLowerCase().includes(search.toLowerCase()))
    .slice(0, MOST)
  const run = (command: Command | undefined) => {
    if (command === undefined) return
    onClose()
    command.run()
  }
  return (
    <Dialog title="Go to" onClose={onClose}>
      <input
        type="search"
        autoFocus
        role="combobox"
        aria-expanded="true"
        aria-controls="palette"
        aria-activedescendant={`palette-${chosen}`}
        aria-label="Search commands and Sessions"
        value={search}
        onChange={(event) => {
          setSearch(event.target.value)
          setChosen(0)
        }}
        onKeyDown={(event) => {
          const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
          if (step !== 0) setChosen((chosen + step + found.length) % Math.max(1, found.length))
          else if (event.key === 'Enter') run(found[chosen])
          else return
          event.preventDefault()
        }}
      />
      <ul id="palette" className="suggestions" role="listbox" aria-label="Results">
        {found.map((command, at) => (
          <li
            key={`${command.name}-${at}`}
            id={`palette-${at}`}
            role="option"
            aria-selected={at === chosen}
            ref={
              at === chosen ? (element) => element?.scrollIntoView({ block: 'nearest' }) : undefined
            }
            onClick={() => run(command)}
          >
            <bdi>{visible(command.name.slice(0, 120))}</bdi>{' '}
            <span className="quiet">{visible(command.about)}</span>
          </li>
        ))}
      </ul>
    </Dialog>
  )
}
