import type { ListedSession } from '../../../session/queries/list.ts'

export interface TreeRow {
  readonly session: ListedSession
  /** 0 for a root; a fork is one deeper than its parent. */
  readonly depth: number
}

/**
 * Sorts Sessions with each fork below its parent. Input is sorted latest first; so are families, by their latest
 * member, and the forks of one parent. A fork without its parent here is a root.
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

/** Logs from elsewhere may form a cycle of parents; such Sessions are treated as roots. */
function parentsAmong(byId: ReadonlyMap<string, ListedSession>) {
  const named = ({ state }: ListedSession) => byId.get(state.parent_session_id)
  return (session: ListedSession): ListedSession | undefined => {
    const seen = new Set([session])
    for (let above = named(session); above !== undefined; above = named(above)) {
      if (above === session) return undefined
      // A cycle further up that does not include this Session.
      if (seen.has(above)) break
      seen.add(above)
    }
    return named(session)
  }
}

/** What is before a Session of this depth. */
export function branchOf(depth: number): string {
  return depth === 0 ? '' : `${'  '.repeat(Math.min(depth, DEEPEST) - 1)}└ `
}

/** Deeper forks are not indented further. */
const DEEPEST = 8
