import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { logName } from '../src/log/files/names.ts'
import type { Session } from '../src/session/session.ts'
import { SESSIONS } from './scratch.ts'

/** Figures of a Log, or of what one round trip adds to it. */
export interface LogAmounts {
  readonly log_bytes: number
  readonly syncs: number
}

/** The figures of a Session below `root`, a place of openParts. */
export async function logAmounts(root: string, { id, events }: Session): Promise<LogAmounts> {
  return {
    log_bytes: (await stat(join(root, SESSIONS, logName(id)))).size,
    // Each write is synced, and its first Event is the one without `batch`.
    syncs: events.filter(({ batch }) => batch === undefined).length,
  }
}
