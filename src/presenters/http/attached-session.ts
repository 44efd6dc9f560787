import { ok, type Result } from '../../model/errors.ts'
import { SessionId } from '../../model/ids.ts'
import type { ClientOptions } from '../../session/admission/attach-options.ts'
import type { Session } from '../../session/session.ts'
import type { ServerParts } from './server-parts.ts'
import {
  inHeld,
  noSuchSession,
  type HeldWorkspace,
} from '../../session/workspace/open-workspaces.ts'

/** A Session that a request uses, and its workspace. */
export interface AttachedSession {
  readonly session: Session
  readonly holding: HeldWorkspace
  /** Leaves after `until`. A running Turn continues, and keeps the workspace open if `until` waits for it. */
  leave(until?: Promise<unknown>): Promise<void>
}

/** Attaches to a Session for one request. An invalid id is answered like that of no Session. */
export async function attachSession(
  { workspaces, settledQuestions }: Pick<ServerParts, 'workspaces' | 'settledQuestions'>,
  named: string,
  client: ClientOptions = {},
): Promise<Result<AttachedSession>> {
  const id = SessionId.safeParse(named)
  if (!id.success) return noSuchSession()
  const held = await workspaces.holdFor(id.data)
  if (!held.ok) return held
  const session = await held.value.workspace.harness.open(id.data, client)
  if (!session.ok) {
    await held.value.release()
    return session
  }
  settledQuestions.follow(session.value.openQuestions)
  const leave: AttachedSession['leave'] = async (until) => {
    // Never `close`: as the last client, that would interrupt a Turn whose own client has disconnected.
    await session.value.detach()
    await until
    await held.value.release()
  }
  return ok({ session: session.value, holding: held.value, leave })
}

/** That there is such a Session, without opening it. */
export function knownSession(
  { workspaces }: Pick<ServerParts, 'workspaces'>,
  id: SessionId,
): Promise<Result<object>> {
  return inHeld(workspaces.holdFor(id), ({ workspace }) => workspace.harness.find(id))
}

/** Runs `work` with a Session, and leaves it in any case. */
export async function inSession<T>(
  attaching: Promise<Result<AttachedSession>>,
  work: (attached: AttachedSession) => Promise<Result<T>>,
): Promise<Result<T>> {
  const attached = await attaching
  if (!attached.ok) return attached
  try {
    return await work(attached.value)
  } finally {
    await attached.value.leave()
  }
}
