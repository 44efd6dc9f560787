import type { LogPlace } from '../../log/place.ts'
import { openReader } from '../../log/reader.ts'
import type { ErrorKind } from '../../model/errors.ts'
import type { SessionId } from '../../model/ids.ts'

/** How far back a Log is looked at. */
const LINES = 500

/** Why Turns failed lately, the latest Session's last failure first. What cannot be read is passed over: it is told elsewhere. */
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
      const { logged } = line.value
      if (!logged.known || logged.event.type !== 'turn_ended') continue
      const { error } = logged.event.data
      if (error !== undefined) kinds.push(error.kind)
    }
    return kinds
  } finally {
    await reader.value.close()
  }
}
