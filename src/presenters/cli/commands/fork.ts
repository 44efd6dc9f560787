import * as z from 'zod'
import { failed, ok, type Result } from '../../../model/errors.ts'
import { SessionId } from '../../../model/ids.ts'
import { Count } from '../../../model/shape.ts'
import type { ForkAt, ForkResult } from '../../../session/forks/fork-session.ts'
import { sessionNamed } from '../../../session/workspace/session-reference.ts'
import type { FORK } from '../definitions/sessions.ts'
import { forkLines } from '../render/fork-lines.ts'
import { visibleLine } from '../text/visible-text.ts'
import { answer } from '../world/answer.ts'
import type { CommandInput, Run } from '../world/command.ts'
import { inWorkspace } from '../world/workspace.ts'

export const Output = z.object({
  ok: z.literal(true),
  session_id: SessionId.describe('The new Session.'),
  parent_session_id: SessionId.describe(
    'The Session whose Event is the last shared one: the named one, or the one that it was forked from.',
  ),
  at_seq: Count.describe('The number of the last shared Event.'),
  asked_seq: Count.optional().describe(
    'The Event up to which it was asked for, if the Session could not be forked there.',
  ),
})

/** Creates a Session that shares another one up to a point. */
export const run: Run<typeof FORK> = async (world, input) =>
  inWorkspace(world, input.options, async ({ harness }) => {
    const at = pointOf(input)
    if (!at.ok) return at
    const id = await sessionNamed(harness, input.args[0])
    if (!id.ok) return id
    const forked = await harness.fork(id.value, at.value)
    if (!forked.ok) return forked
    return answer(world, forked.value, () => words(forked.value))
  })

function pointOf({ options: { at, turn } }: CommandInput<typeof FORK>): Result<ForkAt> {
  if (at !== undefined && turn !== undefined)
    return failed('invalid_args', 'Pass either --at or --turn, not both.', {}, NUMBERS)
  if (at !== undefined) {
    const seq = numberOf(at)
    return seq === undefined ? notANumber('--at', 0, at) : ok({ seq })
  }
  if (turn === undefined) return ok(undefined)
  const number = numberOf(turn)
  return number === undefined || number < 1 ? notANumber('--turn', 1, turn) : ok({ turn: number })
}

function numberOf(text: string): number | undefined {
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined
}

function notANumber(flag: string, least: number, given: string): Result<never> {
  const shown = visibleLine(given.slice(0, 80))
  const message = `${flag} must be a whole number from ${least}; it is "${shown}".`
  return failed('invalid_args', message, { flag, given: shown }, NUMBERS)
}

const NUMBERS = [
  { action: 'Show the Turns and Events with their numbers.', command: 'hawser log show SESSION' },
]

function words(forked: ForkResult): string {
  const { session_id } = forked
  return [...forkLines(forked), `To continue: hawser run --session ${session_id}`, ''].join('\n')
}
