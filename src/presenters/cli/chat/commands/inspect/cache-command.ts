import { failed, ok, type Result } from '../../../../../model/errors.ts'
import {
  CACHE_EVENTS,
  CacheReport,
  type ExplainedRequest,
} from '../../../../../session/queries/cache-report.ts'
import { reasonLines, requestLines, summaryLines } from '../../../render/cache-lines.ts'
import { head, sentences } from '../../../screen/rows.ts'
import { wrappedVerbatim } from '../../../text/cell-width.ts'
import type { CommandContext, CommandResult } from '../command-context.ts'

/** The rows of `/cache all`; more are in the figures of `cache explain`. */
const MOST_ROWS = 400

/** Explains where less was cached than could have been, and why; with `all`, shows the figures of every request. */
export async function cacheCommand(
  { session, actions, columns }: CommandContext,
  argument: string,
): Promise<Result<CommandResult>> {
  if (argument !== '' && argument !== 'all')
    return failed('invalid_args', 'Expected /cache or /cache all.')
  const report = new CacheReport()
  const requests: ExplainedRequest[] = []
  const add = (request: ExplainedRequest | undefined) => {
    if (request !== undefined) requests.push(request)
  }
  const read = await actions.read?.(session.id, { types: CACHE_EVENTS }, ({ event }) => {
    if (event !== undefined) add(report.take(event))
  })
  if (read?.ok === false) return read
  add(report.end())
  const lines =
    argument === 'all'
      ? requests.flatMap((request, at) => requestLines(request, requests[at - 1]))
      : requests.flatMap(reasonLines)
  const rows = head(
    lines.flatMap((line) => wrappedVerbatim(line, columns)),
    MOST_ROWS,
  )
  const whole = summaryLines(report.summary).flatMap((line) =>
    sentences(line.map(({ text }) => text).join(''), { columns }),
  )
  const none =
    requests.length > 1 && lines.length === 0
      ? sentences('Every request extends the one before it; nothing broke the prefix.', { columns })
      : []
  return ok({ rows: [[], ...rows, ...none, ...whole] })
}
