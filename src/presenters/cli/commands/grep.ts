import * as z from 'zod'
import { searchPattern } from '../../../encoding/search-pattern.ts'
import { lineExcerpt } from '../../../encoding/line-excerpt.ts'
import { ErrorObject } from '../../../model/error-shape.ts'
import { failed, ok, type Result } from '../../../model/errors.ts'
import { SessionId } from '../../../model/ids.ts'
import { Count } from '../../../model/shape.ts'
import { definedFields } from '../../../model/fields/defined-fields.ts'
import type { Harness } from '../../../session/harness.ts'
import type { Match, SearchEnd } from '../../../session/queries/search.ts'
import { Activity } from '../render/activity.ts'
import { answer, wantsColour } from '../world/answer.ts'
import { paintLine, PLAIN, type Line } from '../text/cell-width.ts'
import type { CommandInput, Run } from '../world/command.ts'
import type { GREP } from '../definitions/sessions.ts'
import { EXIT } from '../world/exit-code.ts'
import { errorOutput, failureAsText } from '../world/failure.ts'
import { PacedOutput } from '../world/paced-output.ts'
import { withoutTabs } from '../render/event-lines.ts'
import { sessionNamed } from '../../../session/workspace/session-reference.ts'
import { inWorkspace } from '../world/workspace.ts'
import type { OpenWorkspace } from '../../../session/workspace/workspace.ts'
import type { CliWorld } from '../world/world.ts'

const FoundMatch = z.object({
  session_id: SessionId,
  turn: Count.optional().describe('Number of the Turn, from 1; absent outside of a Turn.'),
  seq: Count,
  ts: z.string(),
  type: z.string(),
  field: z
    .string()
    .describe(
      'Path of the field in the data of the Event, for example arguments.command; whole is the whole output of a command, and content that of a text attachment.',
    ),
  text: z.string().describe('The matching line, or the part of a long line around the match.'),
  start: Count.describe('Start of the match in text, in UTF-16 code units.'),
  end: Count,
})
type FoundMatch = z.infer<typeof FoundMatch>

const Incomplete = z.object({
  session_id: SessionId,
  why: z.enum(['timeout', 'too_complex', 'damaged', 'text_missing', 'text_damaged']),
  seq: Count.optional().describe(
    'The Event at which the search stopped, or whose text cannot be read.',
  ),
  turn: Count.optional(),
  field: z.string().optional().describe('The text that cannot be read.'),
  damage: ErrorObject.optional(),
})
type Incomplete = z.infer<typeof Incomplete>

export const Output = z.object({
  ok: z.literal(true),
  matches: z.array(FoundMatch).describe('By Session, latest first; within a Session in Log order.'),
  searched: Count.describe('Sessions that were searched.'),
  limited: z.boolean().describe('The search stopped at the limit; there may be more matches.'),
  incomplete: z.array(Incomplete).describe('Sessions that could only be searched in part.'),
})

/** Time limits for one Session: of matching, because some patterns take practically unlimited time, and of all. */
const BUDGET_MS = 10_000
const TOTAL_MS = 60_000

/** Searches the texts of all Sessions. Exit code 0 with a match, 1 without, 124 after a timeout. */
export const run: Run<typeof GREP> = async (world, input) => {
  const none: Outcome = { matches: [], searched: 0, limited: false, incomplete: [] }
  return inWorkspace(world, input.options, (opened) => grep(world, opened, input), {
    ifUnused: () => report(world, input, none),
  })
}

type Outcome = Omit<z.infer<typeof Output>, 'ok'>

async function grep(
  world: CliWorld,
  opened: OpenWorkspace,
  input: CommandInput<typeof GREP>,
): Promise<Result<number>> {
  const { harness, settings } = opened
  const { session, json } = input.options
  const pattern = patternOf(input)
  if (!pattern.ok) return pattern
  const limit = limitOf(input.options.limit)
  if (!limit.ok) return limit
  const chosen = await sessionsToSearch(harness, session)
  if (!chosen.ok) return chosen
  const { stdout, stderr } = world.streams
  const colour = wantsColour(world, stdout, settings.settings.display?.colour)
  const output = new PacedOutput(stdout)
  const activity = new Activity(world.clock, stderr)
  activity.during('Searching')
  const searching = { harness, pattern: pattern.value, limit: limit.value }
  const outcome = await searchAll(searching, chosen.value, async (found) => {
    if (json) return true
    activity.clear()
    const isOpen = await output.write(`${paintLine(matchLine(found), colour)}\n`)
    // On a terminal, show each match as soon as it is found.
    if (stdout.isTTY) await output.flush()
    activity.during('Searching')
    return isOpen
  })
  activity.clear()
  if (!outcome.ok) return outcome
  await output.flush()
  return report(world, input, outcome.value)
}

function patternOf({
  args: [pattern],
  options: { ignoreCase, fixed: isLiteral },
}: CommandInput<typeof GREP>): Result<RegExp> {
  const compiled = searchPattern(pattern, { ignoreCase, isLiteral })
  if (compiled instanceof RegExp) return ok(compiled)
  return failed('invalid_args', `Invalid regular expression: ${compiled}.`, { pattern }, [
    { action: 'To search for literal text, pass -F.' },
  ])
}

function limitOf(text: string): Result<number> {
  if (/^[1-9]\d{0,4}$/.test(text)) return ok(Number(text))
  return failed('invalid_args', '--limit must be a number from 1 to 99999.')
}

/** The latest first. */
async function sessionsToSearch(
  harness: Harness,
  named: string | undefined,
): Promise<Result<readonly SessionId[]>> {
  if (named === undefined) return ok((await harness.list()).map(({ id }) => id))
  const id = await sessionNamed(harness, named)
  return id.ok ? ok([id.value]) : id
}

interface Searching {
  readonly harness: Harness
  readonly pattern: RegExp
  readonly limit: number
}

/** `show` returns false when the output is closed. */
async function searchAll(
  { harness, pattern, limit }: Searching,
  sessions: readonly SessionId[],
  show: (found: FoundMatch) => Promise<boolean>,
): Promise<Result<Outcome>> {
  const matches: FoundMatch[] = []
  const incomplete: Incomplete[] = []
  let searched = 0
  let isOpen = true
  // What a fork shares is found in the Session that wrote it.
  const elsewhere = new Set(sessions)
  for (const session_id of sessions) {
    if (matches.length >= limit || !isOpen) break
    const bounds = { budgetMs: BUDGET_MS, totalMs: TOTAL_MS }
    const options = { pattern, limit: limit - matches.length, elsewhere, ...bounds }
    const end = await harness.search(session_id, options, async (match) => {
      const found = foundIn(session_id, match)
      matches.push(found)
      isOpen = isOpen && (await show(found))
    })
    // Another process deleted it after the Sessions were listed.
    if (!end.ok && end.error.kind === 'not_found' && sessions.length > 1) continue
    if (!end.ok && end.error.kind !== 'log_damaged') return end
    searched += 1
    incomplete.push(...gapsOf(session_id, end.ok ? end.value : { damage: end.error, unread: [] }))
  }
  return ok({ matches, searched, limited: matches.length >= limit, incomplete })
}

function foundIn(session_id: SessionId, match: Match): FoundMatch {
  const { turn, seq, ts, type, field } = match
  const { text, start, end } = lineExcerpt(match)
  return {
    session_id,
    ...definedFields({ turn }),
    seq,
    ts,
    type,
    field,
    text,
    start,
    end,
  }
}

/** Such as `ses_…:3:12:tool_result: the line`, with the Turn before the Event and the match coloured. */
function matchLine({ session_id, turn, seq, type, text, start, end }: FoundMatch): Line {
  return [
    { text: `${session_id}:${turn ?? '-'}:${seq}:${type}: `, style: { dim: true } },
    { text: withoutTabs(text.slice(0, start)), style: PLAIN },
    { text: withoutTabs(text.slice(start, end)), style: { bold: true, colour: 'red' } },
    { text: withoutTabs(text.slice(end)), style: PLAIN },
  ]
}

function gapsOf(
  session_id: SessionId,
  { gaveUp, damage, unread }: Pick<SearchEnd, 'gaveUp' | 'damage' | 'unread'>,
): Incomplete[] {
  const texts = unread.map(({ seq, field, why }): Incomplete => {
    return { session_id, why: why === 'damaged' ? 'text_damaged' : 'text_missing', seq, field }
  })
  if (gaveUp !== undefined) return [...texts, { session_id, ...gaveUp }]
  if (damage === undefined) return texts
  return [...texts, { session_id, why: 'damaged', damage: errorOutput(damage) }]
}

function report(
  world: CliWorld,
  { options: { json, limit } }: CommandInput<typeof GREP>,
  outcome: Outcome,
): Result<number> {
  const { matches, limited, incomplete } = outcome
  if (json) answer(world, outcome, () => '')
  const { stderr } = world.streams
  if (!json) for (const gap of incomplete) stderr.write(gapWords(gap))
  if (!json && limited) {
    stderr.write(`hawser: stopped after ${limit} matches; raise the limit with --limit N\n`)
  }
  if (matches.length > 0) return ok(EXIT.done)
  const isCut = incomplete.some(({ why }) => why === 'timeout' || why === 'too_complex')
  return ok(isCut ? EXIT.timedOut : EXIT.failed)
}

function gapWords({ session_id, why, seq, field, damage }: Incomplete): string {
  if (damage !== undefined) return failureAsText({ error: damage })
  if (field !== undefined) {
    const state = why === 'text_damaged' ? 'damaged' : 'missing'
    return `hawser: Event ${seq} of ${session_id}: its ${field} is ${state} and was not searched.\n`
  }
  const reason = why === 'timeout' ? 'it took too long' : 'the pattern is too complex'
  return `hawser: search of ${session_id} stopped at Event ${seq}: ${reason}.\n`
}
