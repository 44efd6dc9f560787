import { failed, ok, type Result } from '../../../model/errors.ts'
import type { SessionId } from '../../../model/ids.ts'
import type { Harness } from '../../../session/harness.ts'
import type { ListedSession } from '../../../session/queries/list.ts'
import { cell, inColumns } from '../text/columns.ts'
import { painted } from '../text/cell-width.ts'
import type { CliWorld } from '../world/world.ts'
import { typedLine } from './typed-line.ts'

/** How many are offered. Older ones can be named by their id. */
const MOST = 15
const LONGEST_ANSWER = 40
/** Columns before the title, and the spaces between them. */
const BEFORE_TITLE = '15  2026-01-31T12:00Z  1000  '.length

/** Lists the latest Sessions of the folder and asks which one to continue. Standard input must be a terminal. */
export async function chosenSession(
  { streams }: Pick<CliWorld, 'streams'>,
  harness: Harness,
): Promise<Result<{ readonly session: SessionId; readonly resume: undefined }>> {
  const { stderr } = streams
  const all = (await harness.list()).filter(
    ({ foreign, damage }) => !foreign && damage === undefined,
  )
  const offered = all.slice(0, MOST)
  if (offered.length === 0) return failed('not_found', 'No Sessions in this folder yet.')
  stderr.write(listOf(offered, stderr.columns))
  if (all.length > offered.length)
    stderr.write(`${all.length - offered.length} older ones: hawser sessions\n`)
  const question = `Session (1 to ${offered.length}; Enter for 1): `
  const typed = await typedLine(streams, { question, shown: true, longest: LONGEST_ANSWER })
  if (typed === undefined) return failed('interrupted', 'No Session was chosen.')
  const answer = typed.trim() === '' ? '1' : typed.trim()
  const chosen = /^\d{1,2}$/.test(answer) ? offered[Number(answer) - 1] : undefined
  if (chosen !== undefined) return ok({ session: chosen.id, resume: undefined })
  const range = { from: 1, to: offered.length }
  return failed('invalid_args', `Expected a number from 1 to ${offered.length}.`, range, [
    { action: 'Choose again.', command: 'hawser --resume' },
  ])
}

function listOf(sessions: readonly ListedSession[], columns: number): string {
  const rows = sessions.map(({ state: { last_ts, turns, title } }, at) => [
    cell(String(at + 1)),
    cell(last_ts === '' ? '-' : `${last_ts.slice(0, 'yyyy-mm-ddThh:mm'.length)}Z`),
    cell(String(turns)),
    cell(title, {}, Math.max(16, columns - BEFORE_TITLE)),
  ])
  return inColumns(rows, ['right', 'left', 'right', 'left'])
    .map((line) => `${painted(line, false)}\n`)
    .join('')
}
