import { jsonText } from '../text/json-line.ts'
import type { ExportFormat } from './export-format.ts'

/**
 * `{session, events, damage?}`: every Event with its long fields loaded, one per line, so that exports can be compared
 * by line. Control characters are escaped.
 */
export function jsonExport(): ExportFormat {
  let first = true
  return {
    begin: ({ session: { id, state, foreign }, version }) => {
      const { title, turns, last_ts, provider, model, mode } = state
      const facts = { title, turns, last_at: last_ts, provider, model, mode, foreign }
      const session = { session_id: id, ...facts, exported_by: `hawser ${version}` }
      return `{"session":${jsonText(session)},"events":[`
    },
    event: ({ raw, event }) => {
      const before = first ? '\n' : ',\n'
      first = false
      return before + jsonText(event ?? raw)
    },
    end: (damage) => {
      const ending = damage === undefined ? '' : `,"damage":${jsonText(damage)}`
      return `\n]${ending}}\n`
    },
  }
}
