import type { ListSessionsResponse, SessionInfo } from '@agentclientprotocol/sdk'
import { causeOf, failed, ok, type Result } from '../../model/errors.ts'
import { definedFields } from '../../model/fields/defined-fields.ts'
import type { ListedSession } from '../../session/queries/list.ts'
import { inHeld, type Workspaces } from '../../session/workspace/open-workspaces.ts'

const PAGE = 50

interface SessionInFolder {
  readonly cwd: string
  readonly one: ListedSession
}

/** Sessions of one folder, or of all that are known, the latest first, a page at a time. */
export async function listedPage(
  workspaces: Workspaces,
  folders: readonly string[],
  cursor: string | undefined,
): Promise<Result<ListSessionsResponse>> {
  const after = cursor === undefined ? undefined : decodeCursor(cursor)
  if (after === undefined && cursor !== undefined) {
    return failed('cursor_expired', 'The cursor is not one that session/list returned.')
  }
  const all: SessionInFolder[] = []
  for (const folder of folders) {
    const listed = await sessionsIn(workspaces, folder)
    if (listed.ok) all.push(...listed.value)
    else if (folders.length === 1) return listed
  }
  return ok(pageAfter(all, after))
}

/** A folder that was never used has none. The path of the folder is returned as it was given: clients compare it. */
async function sessionsIn(
  workspaces: Workspaces,
  folder: string,
): Promise<Result<readonly SessionInFolder[]>> {
  const listed = await inHeld(workspaces.hold(folder), async ({ workspace }) => {
    const all = await workspace.harness.list()
    return ok(all.map((one) => ({ cwd: folder, one })))
  })
  if (!listed.ok && causeOf(listed.error)?.type === 'never_used') return ok([])
  return listed
}

/** By time and id, so that a Session written meanwhile moves to an earlier page and no other is skipped. Pure. */
function pageAfter(
  all: readonly SessionInFolder[],
  after: string | undefined,
): ListSessionsResponse {
  const sorted = all.toSorted((a, b) => (keyOf(a) < keyOf(b) ? 1 : -1))
  const rest = after === undefined ? sorted : sorted.filter((one) => keyOf(one) < after)
  const page = rest.slice(0, PAGE)
  const last = page.at(-1)
  const more = rest.length > PAGE && last !== undefined
  return {
    sessions: page.map(infoOf),
    ...(more ? { nextCursor: Buffer.from(keyOf(last)).toString('base64url') } : {}),
  }
}

function keyOf({ one: { id, state } }: SessionInFolder): string {
  return `${state.last_ts} ${id}`
}

function decodeCursor(cursor: string): string | undefined {
  const place = Buffer.from(cursor, 'base64url').toString('utf8')
  return /^\S* ses_[0-9a-z]{26}$/.test(place) ? place : undefined
}

function infoOf({ cwd, one: { id, state, busy, foreign, damage } }: SessionInFolder): SessionInfo {
  const { title, last_ts, turns, provider, model } = state
  const facts = { turns, provider, model, busy, foreign }
  return {
    sessionId: id,
    cwd,
    ...(title === '' ? {} : { title }),
    ...(last_ts === '' ? {} : { updatedAt: last_ts }),
    _meta: { hawser: { ...facts, ...definedFields({ damage: damage?.kind }) } },
  }
}
