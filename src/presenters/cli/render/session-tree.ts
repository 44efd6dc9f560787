import type { ListedSession } from '../../../session/queries/list.ts'

export interface TreeRow {
  readonly session: ListedSession
  /** 0 for a Session that stands by itself; a fork stands one below its parent. */
  readonly depth: number
}

/**
 * Sessions with each fork below its parent. They come the latest first; so do the families, by their latest member, and the
 * forks of one parent. A fork whose parent is not here stands by itself.
 */
export function sessionTree(sessions: readonly ListedSession[]): TreeRow[] {
  const byId = new Map<string, ListedSession>(sessions.map((session) => [session.id, session]))
  const parentOf = parentsAmong(byId)
  const roots = new Set<ListedSession>()
  const forks = new Map<ListedSession, ListedSession[]>()
  for (const session of sessions) {
    const parent = parentOf(session)
    if (parent !== undefined) forks.set(parent, [...(forks.get(parent) ?? []), session])
    let root = session
    for (let above = parent; above !== undefined; above = parentOf(above)) root = above
    roots.add(root)
  }
  const rows: TreeRow[] = []
  const waiting = [...roots].toReversed().map((session) => ({ session, depth: 0 }))
  for (let row = waiting.pop(); row !== undefined; row = waiting.pop()) {
    rows.push(row)
    const depth = row.depth + 1
    const below = forks.get(row.session) ?? []
    waiting.push(...below.toReversed().map((session) => ({ session, depth })))
  }
  return rows
}

/** Logs that came from elsewhere may name each other as parents in a circle: those have none. */
function parentsAmong(byId: ReadonlyMap<string, ListedSession>) {
  const named = ({ state }: ListedSession) => byId.get(state.parent_session_id)
  return (session: ListedSession): ListedSession | undefined => {
    const seen = new Set([session])
    for (let above = named(session); above !== undefined; above = named(above)) {
      if (above === session) return undefined
      // A circle further up, which this one only hangs on.
      if (seen.has(above)) break
      seen.add(above)
    }
    return named(session)
  }
}
