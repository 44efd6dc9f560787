import * as z from 'zod'
import { ok, type Result } from '../../../model/errors.ts'
import { SessionId, TurnId } from '../../../model/ids.ts'
import { answer, wantsColour } from '../world/answer.ts'
import { painted } from '../text/cell-width.ts'
import type { CommandInput } from '../world/command.ts'
import { diffLines } from '../render/diff-lines.ts'
import { patchOf } from '../render/patch.ts'
import { withProgress } from '../render/progress.ts'
import { openNamed, turnNamed } from '../../../session/workspace/session-reference.ts'
import { sessionAndTurn } from '../input/session-and-turn.ts'
import { inWorkspace } from '../world/workspace.ts'
import type { OpenWorkspace } from '../../../session/workspace/workspace.ts'
import type { CliWorld } from '../world/world.ts'

const DiffArgs = z.object({
  args: z.tuple([z.string().optional(), z.string().optional()]),
  options: z.object({ json: z.boolean().default(false) }),
})
type DiffArgs = z.infer<typeof DiffArgs>

const ChangedFile = z.object({
  path: z.string(),
  change: z.enum(['created', 'changed']),
  text: z.boolean().describe('Both versions are available and are text.'),
  diff: z.string().describe('A patch for `patch -p1`; one line if `text` is false.'),
})

export const Output = z.object({
  ok: z.literal(true),
  session_id: SessionId,
  turn_id: TurnId.optional().describe('The requested Turn.'),
  files: z.array(ChangedFile),
})

/** Shows the file changes of a Session or of one Turn: readable on a terminal, otherwise as input for `patch -p1`. */
export async function run(world: CliWorld, commandInput: CommandInput): Promise<number> {
  const parsed = DiffArgs.parse(commandInput)
  return inWorkspace(world, commandInput, (opened) => show(world, opened, parsed))
}

async function show(
  world: CliWorld,
  { harness, settings: { settings } }: OpenWorkspace,
  { args: [first, second], options: { json } }: DiffArgs,
): Promise<Result<number>> {
  const named = sessionAndTurn(first, second)
  const session = await openNamed(harness, named.session)
  if (!session.ok) return session
  const turn = await turnNamed(harness, session.value, named.turn)
  if (!turn.ok) return turn
  const diffs = await withProgress(world, 'Comparing files', () =>
    harness.diff(session.value, turn.value),
  )
  if (!diffs.ok) return diffs
  const files = diffs.value.map((file) => ({ ...file, diff: patchOf(file) }))
  if (files.length === 0 && !json) {
    world.streams.stderr.write('hawser: this Session has not changed any files.\n')
  }
  const named_turn = turn.value === undefined ? {} : { turn_id: turn.value }
  const output = { session_id: session.value.id, ...named_turn, files }
  const whole = () => files.map(({ diff }) => diff).join('')
  return ok(answer(world, json, output, () => shown(world, whole(), settings.display?.colour)))
}

/** Unchanged for programs; on a terminal, with control characters escaped. */
function shown(world: CliWorld, diff: string, setting?: 'auto' | 'always' | 'never'): string {
  const { stdout } = world.streams
  const colour = wantsColour(world, stdout, setting)
  if (!colour && !stdout.isTTY) return diff
  return diffLines(diff, stdout.columns)
    .map((line) => `${painted(line, colour)}\n`)
    .join('')
}
