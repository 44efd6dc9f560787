import * as z from 'zod'
import { ok, type Result } from '../../../model/errors.ts'
import { SessionId } from '../../../model/ids.ts'
import { Dialect } from '../../../model/events/provider-events.ts'
import { BreakCause } from '../../../model/prefix-break.ts'
import { Count } from '../../../model/shape.ts'
import { CACHE_FINDINGS } from '../../../session/queries/cache-finding.ts'
import {
  CACHE_EVENTS,
  CacheReport,
  type ExplainedRequest,
} from '../../../session/queries/cache-report.ts'
import { wantsColour } from '../world/answer.ts'
import { requestLines, summaryLines } from '../render/cache-lines.ts'
import { terminalText } from '../text/cell-width.ts'
import type { CommandInput, Run } from '../world/command.ts'
import type { CACHE_EXPLAIN } from '../definitions/cache.ts'
import { EXIT } from '../world/exit-code.ts'
import { jsonLine } from '../text/json-line.ts'
import { reportEnd } from '../world/log-end.ts'
import { PacedOutput } from '../world/paced-output.ts'
import { sessionNamed } from '../../../session/workspace/session-reference.ts'
import { inWorkspace } from '../world/workspace.ts'
import type { OpenWorkspace } from '../../../session/workspace/workspace.ts'
import type { CliWorld } from '../world/world.ts'

const Ratio = z.number().min(0)

const Tokens = z.object({
  input: Count.describe('All prompt tokens, cached ones included.'),
  cached_read: Count,
  cache_write: Count,
  cached_ratio: Ratio.describe('cached_read of input, from 0 to 1.'),
})

const RequestLine = z
  .object({
    type: z.literal('request'),
    seq: Count.describe('Number of the Event that recorded it.'),
    turn: Count.describe('Of the Session, from 1.'),
    call_index: Count,
    attempt: Count,
    model: z.string(),
    dialect: Dialect,
    contract_version: z.string(),
    transport: z.string(),
    request_bytes: Count,
    sent_bytes: Count.describe('Less than request_bytes if the provider already had the rest.'),
    shared_prefix_bytes: Count.describe(
      'Bytes of the previous request to the same model that this one starts with, brackets included; all of them if it extends that request.',
    ),
    shared_ratio: Ratio.describe('shared_prefix_bytes of request_bytes, from 0 to 1.'),
    kept_ratio: Ratio.optional().describe(
      'shared_prefix_bytes of the previous request to the same model, from 0 to 1. Absent for the first request.',
    ),
    idle_ms: Count.optional().describe('Time since the last completed call to the same model.'),
    prefix_break: z
      .object({ at: Count, cause: BreakCause.describe('`unknown` is a bug.') })
      .optional(),
    usage: Tokens.optional().describe('Absent if no response was completed.'),
    continuation: z
      .object({ used: z.boolean(), reset_reason: z.string().optional() })
      .optional()
      .describe('Whether only new items were sent; if not, why.'),
    finding: z
      .enum(CACHE_FINDINGS)
      .optional()
      .describe('Why less was cached than was shared, as far as the Log shows.'),
  })
  .describe('One request, in Log order.')

const SummaryLine = z
  .object({
    type: z.literal('summary'),
    ok: z.literal(true),
    session_id: SessionId,
    requests: Count,
    answered: Count.describe('Requests with a completed response.'),
    after_first: Tokens.describe('Of the answered requests, except the first.'),
    request_bytes: Count,
    sent_bytes: Count,
    continued: Count.describe('Requests that sent only new items.'),
    breaks: z.record(z.string(), Count).describe('How often the prefix broke, by cause.'),
    findings: z.record(z.string(), Count),
  })
  .describe('The last line. If the Log is damaged, an error follows.')

export const Output = z
  .union([RequestLine, SummaryLine])
  .describe('JSON Lines: every request, then a summary.')

/** Shows how much of each request of a Session was cached, and why not more. Exit code 1 if the Log is damaged. */
export const run: Run<typeof CACHE_EXPLAIN> = async (world, input) =>
  inWorkspace(world, input.options, (opened) => explain(world, opened, input))

async function explain(
  world: CliWorld,
  { harness, settings: { settings } }: OpenWorkspace,
  { args: [named], options: { json } }: CommandInput<typeof CACHE_EXPLAIN>,
): Promise<Result<number>> {
  const id = await sessionNamed(harness, named)
  if (!id.ok) return id
  const { stdout } = world.streams
  const output = new PacedOutput(stdout)
  const colour = wantsColour(world, stdout, settings.display?.colour)
  const report = new CacheReport()
  let before: ExplainedRequest | undefined
  const print = async (request: ExplainedRequest | undefined): Promise<boolean> => {
    if (request === undefined) return !stdout.isBroken
    const text = json
      ? jsonLine({ type: 'request', ...request })
      : terminalText(requestLines(request, before), colour)
    before = request
    return output.write(text)
  }
  const end = await harness.read(id.value, { types: CACHE_EVENTS }, async ({ event }) => {
    const isOpen = await print(event === undefined ? undefined : report.take(event))
    return isOpen ? undefined : false
  })
  if (!end.ok) return end
  await print(report.end())
  const { summary } = report
  const last = { type: 'summary', ok: true, session_id: id.value, ...summary }
  await output.write(json ? jsonLine(last) : terminalText(summaryLines(summary), colour))
  await output.flush()
  return stdout.isBroken ? ok(EXIT.done) : reportEnd(world, end.value)
}
