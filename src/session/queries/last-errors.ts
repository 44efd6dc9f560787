import type { LogPlace } from '../../log/place.ts'
import { openReader } from '../../log/reader.ts'
import type { ErrorKind } from '../../model/errors.ts'
import type { SessionId } from '../../model/ids.ts'

/** How many lines are read from the end of a Log. */
const LINES = 500

/**
 * The errors of recent failed Turns, the last failure of the latest Session first. Unreadable Logs are skipped;
 * `listSessions` reports them.
 */
export async function lastErrors(
  place: LogPlace,
  sessions: readonly SessionId[],
): Promise<readonly ErrorKind[]> {
  const kinds: ErrorKind[] = []
  for (const session of sessions) kinds.push(...(await errorsOf(place, session)))
  return kinds
}

async function errorsOf(place: LogPlace, session: SessionId): Promise<ErrorKind[]> {
  const reader = await openReader(place, session)
  if (!reader.ok) return []
  try {
    const kinds: ErrorKind[] = []
    let lines = 0
    for await (const line of reader.value.backward()) {
      lines += 1
      if (!line.ok || lines > LINES) break
      const { content } = line.value
      if (!content.isKnown || content.event.type !== 'turn_ended') continue
      const { error } = content.event.data
      if (error !== undefined) kinds.push(error.kind)
    }
    return kinds
  } finally {
    await reader.value.close()
  }
}
