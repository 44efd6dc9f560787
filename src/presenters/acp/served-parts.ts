import type { AgentContext } from '@agentclientprotocol/sdk'
import type { Session } from '../../session/session.ts'
import type { HeldWorkspace } from '../../session/workspace/open-workspaces.ts'
import type { ClientOffers } from './protocol.ts'

/** A Session that a client has open, and what serves it. */
export interface ServedParts {
  readonly session: Session
  readonly holding: HeldWorkspace
  /** The path of the workspace as the client spells it, which may lead through links. Paths in messages begin with it. */
  readonly root: string
  readonly client: AgentContext
  readonly offers: ClientOffers
  /** The past is sent too. */
  readonly replay: boolean
  readonly env: Readonly<Record<string, string | undefined>>
}
