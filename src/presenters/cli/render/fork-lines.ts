import type { ForkResult } from '../../../session/forks/fork-session.ts'

/** What a fork shares, for people. */
export function forkLines({
  session_id,
  parent_session_id,
  at_seq,
  asked_seq,
}: ForkResult): string[] {
  const shared = `Forked ${parent_session_id} after Event ${at_seq}: the new Session is ${session_id}.`
  if (asked_seq === undefined) return [shared]
  return [shared, `A Session cannot be forked after Event ${asked_seq}, which is inside a Turn.`]
}
