import * as z from 'zod'
import { failed, ok, type Result } from '../../../../model/errors.ts'
import { SessionId } from '../../../../model/ids.ts'
import { Count } from '../../../../model/shape.ts'
import type { Harness } from '../../../../session/harness.ts'
import { answer } from '../../world/answer.ts'
import { countOf } from '../../../../encoding/amounts.ts'
import type { CommandInput, Run } from '../../world/command.ts'
import type { LOG_SALVAGE } from '../../definitions/log.ts'
import { withProgress } from '../../render/progress.ts'
import { sessionNamed } from '../../../../session/workspace/session-reference.ts'
import { inWorkspace } from '../../world/workspace.ts'
import type { OpenWorkspace } from '../../../../session/workspace/workspace.ts'
import type { CliWorld } from '../../world/world.ts'

export const Output = z.object({
  ok: z.literal(true),
  session_id: SessionId.describe('The new Session.'),
  salvaged_from: SessionId.describe('The damaged Session, which is unchanged.'),
  events: Count.describe('Events copied.'),
  missing: z
    .array(z.object({ from_seq: Count, to_seq: Count }))
    .describe('Event numbers of the old Log with no intact line.'),
  continuable: z.boolean().describe('Whether the new Session can be continued.'),
})
type SalvageOutput = Omit<z.infer<typeof Output>, 'ok'>

/** Copies the intact Events of a Log into a new Session, and leaves the old one unchanged. */
export const run: Run<typeof LOG_SALVAGE> = async (world, input) =>
  inWorkspace(world, input.options, (opened) => salvage(world, opened, input))

async function salvage(
  world: CliWorld,
  { harness }: OpenWorkspace,
  { args: [named] }: CommandInput<typeof LOG_SALVAGE>,
): Promise<Result<number>> {
  const old = await sessionNamed(harness, named)
  if (!old.ok) return old
  const saved = await withProgress(world, 'Copying intact Events', () => harness.salvage(old.value))
  if (!saved.ok) return saved
  const { session_id, events, missing } = saved.value
  if (events === 0) {
    // Do not leave an empty Session behind.
    const deleted = await harness.delete(session_id)
    return deleted.ok ? nothingWhole(old.value) : deleted
  }
  const continuable = await canContinue(harness, session_id)
  if (!continuable.ok) return continuable
  const output = {
    session_id,
    salvaged_from: old.value,
    events,
    missing: [...missing],
    continuable: continuable.value,
  }
  return answer(world, output, () => words(output))
}

/** A Session without its first Event or its surface is read-only. */
async function canContinue(harness: Harness, id: SessionId): Promise<Result<boolean>> {
  const needed = new Set(['session_started', 'prompt_surface'])
  const read = await harness.read(id, { types: [] }, ({ raw }) => {
    needed.delete(raw.type)
    return needed.size === 0 ? false : undefined
  })
  return read.ok ? ok(needed.size === 0) : read
}

function nothingWhole(session_id: SessionId): Result<never> {
  return failed('log_damaged', 'This Log has no intact line: nothing can be salvaged.', {
    session_id,
    reason: 'nothing_whole',
  })
}

function words({ session_id, salvaged_from, events, missing, continuable }: SalvageOutput): string {
  const gaps = missing.map(({ from_seq, to_seq }) =>
    from_seq === to_seq ? `${from_seq}` : `${from_seq} to ${to_seq}`,
  )
  const lost = missing.reduce((sum, { from_seq, to_seq }) => sum + to_seq - from_seq + 1, 0)
  return [
    `Copied ${countOf(events, 'Event')} from ${salvaged_from} to ${session_id}.`,
    lost === 0
      ? 'No missing Events were detected.'
      : `Missing: ${countOf(lost, 'Event')}, ${gapWords(gaps)}.`,
    'The old Log is unchanged.',
    continuable
      ? `To continue: hawser run --session ${session_id}`
      : `Its first Events are missing, so it can be read but not continued: hawser log show ${session_id}`,
    '',
  ].join('\n')
}

const MOST_GAPS = 20

function gapWords(gaps: readonly string[]): string {
  const more = gaps.length - MOST_GAPS
  const shown = gaps.slice(0, MOST_GAPS).join(', ')
  return more > 0 ? `${shown} and ${countOf(more, 'more gap')}` : shown
}
