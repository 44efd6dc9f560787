import type { CommandAhead, Confinement } from '../../host/sandbox/sandbox.ts'
import type { CommandsAhead } from '../../turn/parts/turn-parts.ts'
import type { SessionParts } from './session-parts.ts'
import { modeOfCalls, type SessionState } from './state.ts'

/**
 * Prepares a sandbox for the next command of a Turn: when an answer contains a call of `bash`, and with every request after that.
 * So a Turn without commands starts none. In `auto` only: a read-only Session runs commands in another sandbox, and in `ask` a
 * person reads the command first.
 */
export function commandsAhead(
  { workspace, tools }: Pick<SessionParts, 'workspace' | 'tools'>,
  owner: { readonly session: { readonly state: SessionState } },
): CommandsAhead {
  const { folder } = workspace
  const command = folder === undefined || folder === '' ? {} : { folder }
  let ahead: CommandAhead | undefined
  let runsCommands = false
  const prepare = () => {
    if (modeOfCalls(owner.session.state) !== 'auto') return
    if (ahead !== undefined && !ahead.isTaken()) return
    ahead = tools.sandbox.prepare?.(confinementOf({ workspace, tools }, 'workspace'), command)
  }
  return {
    answering: () => {
      if (runsCommands) prepare()
    },
    onCall: (name) => {
      if (name !== 'bash') return
      runsCommands = true
      prepare()
    },
    end: async () => ahead?.end(),
  }
}

/** What all commands of a Session have in common. */
export function confinementOf(
  { workspace, tools }: Pick<SessionParts, 'workspace' | 'tools'>,
  writable: Confinement['writable'],
): Confinement {
  const { path, identity, home } = workspace
  const { protectedPaths, readable = [], ofGuest = false } = tools
  return { workspace: path, identity, home, protectedPaths, readable, ofGuest, writable }
}
