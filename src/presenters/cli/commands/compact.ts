import * as z from 'zod'
import { compactionsInForce } from '../../../history/history.ts'
import { failed, ok, type Result } from '../../../model/errors.ts'
import { definedFields } from '../../../model/fields/defined-fields.ts'
import { EventId, SessionId } from '../../../model/ids.ts'
import { Count } from '../../../model/shape.ts'
import type { Session } from '../../../session/session.ts'
import type { CompactionPreview } from '../../../session/queries/compaction-preview.ts'
import { openNamed } from '../../../session/workspace/session-reference.ts'
import {
  compactedLines,
  notCompactedLines,
  plannedLines,
  undoneLines,
  type CompactionCommands,
} from '../render/compaction-lines.ts'
import { withProgress } from '../render/progress.ts'
import { answer } from '../world/answer.ts'
import type { Run } from '../world/command.ts'
import type { COMPACT } from '../definitions/sessions.ts'
import { EXIT } from '../world/exit-code.ts'
import { inWorkspace } from '../world/workspace.ts'
import type { CliWorld } from '../world/world.ts'

const Range = z.object({ from_seq: Count, to_seq: Count })

const Lost = z.object({
  turns: Count.describe('Turns of which only excerpts are left.'),
  outputs: Count.describe('Tool outputs that are shown as pointers.'),
  output_bytes: Count,
  skills: z.array(z.string()).describe('Names of Skills that are no longer active.'),
})

const Kept = z.object({
  turns: Count.describe('Turns that are still sent in full.'),
  pinned: Count,
  decisions: Count,
  open_tasks: Count,
  resources: Count,
  skills: Count,
  hydrations: Count,
  files_touched: Count,
  tool_outcomes: Count,
})

export const Output = z.object({
  ok: z.literal(true),
  session_id: SessionId,
  dry_run: z.boolean().describe('Nothing was written: the figures are what would be recorded.'),
  compacted: z
    .boolean()
    .describe('There is a compaction: a recorded one or, in a dry run, one that would be.'),
  reason: z
    .enum(['nothing_to_compact', 'target_not_reached', 'state_too_large'])
    .optional()
    .describe('Why there is no compaction.'),
  strategy: z
    .string()
    .optional()
    .describe(
      '`elide`: pointers replace long tool outputs, and nothing else changes; otherwise how it was summarised.',
    ),
  range: Range.optional().describe('The Events that the summary replaces.'),
  tokens_before: Count.optional().describe('Estimated tokens of the next request.'),
  tokens_after: Count.optional().describe('The same after the compaction.'),
  tokens_least: Count.optional().describe(
    'Without a compaction: the smallest request that one could lead to.',
  ),
  target: Count.optional().describe('The most tokens that a compaction may leave.'),
  lost: Lost.optional().describe('What the next request no longer shows.'),
  kept: Kept.optional().describe('What it still shows: raw Turns, and the facts in each list.'),
  summary: z
    .enum(['excerpts', 'model'])
    .optional()
    .describe(
      'In a dry run: who would write the summary. With `model`, the figures are those of excerpts.',
    ),
  fallback: z
    .string()
    .optional()
    .describe('Why the summary consists of excerpts, although the model should have written it.'),
  request_bytes: z
    .object({ before: Count, after: Count })
    .optional()
    .describe('In a dry run: bytes of the next request with an empty message.'),
  undone: z
    .object({
      compaction_event_id: EventId,
      range: Range.optional(),
      surface_restored: z
        .boolean()
        .describe('The instructions and tools from before the compaction are in force again.'),
      in_force: Count.describe('Compactions that are still in force.'),
    })
    .optional()
    .describe('With --undo.'),
})

/**
 * Records a checkpoint, previews one, or undoes the last. Exit code 1 if the target cannot be reached: the next Turn may
 * not fit the window. Nothing to compact is not a failure.
 */
export const run: Run<typeof COMPACT> = async (world, { args: [named], options }) => {
  const { dryRun, undo, summary } = options
  return inWorkspace(world, options, async ({ harness }) => {
    if (dryRun && undo) return failed('invalid_args', 'Pass either --dry-run or --undo, not both.')
    const session = await openNamed(harness, named)
    if (!session.ok) return session
    const task = { world, session: session.value, summary }
    if (undo) return undoLast(task)
    return dryRun ? preview(task) : compact(task)
  })
}

interface Task {
  readonly world: CliWorld
  readonly session: Session
  readonly summary: 'excerpts' | 'model' | undefined
}

async function compact({ world, session, summary }: Task): Promise<Result<number>> {
  const done = await withProgress(world, 'Compacting', () => session.compact({ summary }))
  if (!done.ok) return done
  const plan = done.value
  const commands = commandsFor(session)
  const { fallback } = plan
  const facts = {
    session_id: session.id,
    dry_run: false,
    ...factsOf(plan),
    ...definedFields({ fallback }),
  }
  answer(world, facts, () =>
    text(plan.compactable ? compactedLines(plan, commands) : notCompactedLines(plan, commands)),
  )
  return ok(exitCode(plan))
}

async function preview({ world, session, summary }: Task): Promise<Result<number>> {
  const found = await withProgress(world, 'Planning a compaction', () =>
    session.previewCompaction({ summary }),
  )
  if (!found.ok) return found
  const { plan, request_bytes } = found.value
  const facts = {
    session_id: session.id,
    dry_run: true,
    ...factsOf(plan),
    ...definedFields({ summary: found.value.summary }),
    request_bytes,
  }
  answer(world, facts, () => text(plannedLines(found.value, commandsFor(session))))
  return ok(exitCode(plan))
}

async function undoLast({ world, session }: Task): Promise<Result<number>> {
  const last = compactionsInForce(session.events).at(-1)
  const done = await session.undoCompaction()
  if (!done.ok) return done
  const range = last?.id === done.value.compaction_event_id ? last.data.range : undefined
  const in_force = compactionsInForce(session.events).length
  const undone = { ...done.value, ...definedFields({ range }), in_force }
  const facts = { session_id: session.id, dry_run: false, compacted: false, undone }
  const words = () => text(undoneLines({ ...undone, range }, commandsFor(session)))
  return answer(world, facts, words)
}

type Plan = CompactionPreview['plan']

function factsOf(plan: Plan) {
  if (!plan.compactable) {
    const { reason, tokens_before, target, tokens_least } = plan
    return { compacted: false, reason, tokens_before, target, tokens_least }
  }
  const { compactable: compacted, data, target, lost, kept } = plan
  const { strategy, range, tokens_before, tokens_after } = data
  const summarised = { compacted, strategy, ...definedFields({ range }) }
  return { ...summarised, tokens_before, tokens_after, target, lost, kept }
}

function exitCode(plan: Plan): number {
  const isDone = plan.compactable || plan.reason === 'nothing_to_compact'
  return isDone ? EXIT.done : EXIT.failed
}

function commandsFor({ id }: Session): CompactionCommands {
  return {
    compact: `hawser compact ${id}`,
    undo: `hawser compact ${id} --undo`,
    lookUp: `hawser grep PATTERN --session ${id}`,
    otherModel: `hawser run --session ${id} --model NAME "Continue."`,
    newSession: 'hawser',
  }
}

function text(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('')
}
