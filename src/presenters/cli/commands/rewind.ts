import * as z from 'zod'
import { Descriptor } from '../../../model/descriptor.ts'
import { causeOf, failed, ok, type Failed, type Result } from '../../../model/errors.ts'
import { SessionId } from '../../../model/ids.ts'
import { Count } from '../../../model/shape.ts'
import type { RewindOptions, RewindResult } from '../../../session/forks/rewind.ts'
import type { Session } from '../../../session/session.ts'
import { openNamed } from '../../../session/workspace/session-reference.ts'
import type { REWIND } from '../definitions/sessions.ts'
import { askToConfirm, canAsk } from '../input/confirm.ts'
import { withProgress } from '../render/progress.ts'
import { rewindLines } from '../render/rewind-lines.ts'
import { RestoredFile, restoredFiles } from '../text/undo-words.ts'
import { UncoveredCommand, uncoveredNote, UncoveredPath } from '../text/uncovered-commands.ts'
import { visibleLine } from '../text/visible-text.ts'
import { answer } from '../world/answer.ts'
import type { CommandInput, Run } from '../world/command.ts'
import { EXIT } from '../world/exit-code.ts'
import { inWorkspace } from '../world/workspace.ts'
import type { CliWorld } from '../world/world.ts'

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
  turn: Count.describe('The Turn whose message is withdrawn.'),
  text: z.string().describe('The withdrawn message.'),
  stdin: z.string().optional().describe('Its standard input.'),
  resources: z.array(Descriptor).describe('Its attachments.'),
  files: z.array(RestoredFile).describe('What was restored; empty without --files.'),
  all_restored: z.boolean(),
  uncovered: z.array(UncoveredCommand).describe('Commands since then, with --files.'),
  not_covered: z
    .array(UncoveredPath)
    .describe('What snapshots do not cover, not all of it if there is much; with --files.'),
})

/** Forks a Session before a message. Exit code 1 if a file could not be restored. */
export const run: Run<typeof REWIND> = async (world, input) =>
  inWorkspace(world, input.options, async ({ harness }) => {
    const options = optionsOf(input)
    if (!options.ok) return options
    const session = await openNamed(harness, input.args[0])
    if (!session.ok) return session
    const rewound = await rewind(world, session.value, options.value, input.options.json)
    if (!rewound.ok) return rewound
    const { commands, notCovered = { paths: [], count: 0 }, ...result } = rewound.value
    const files = [...restoredFiles(result)]
    const all_restored = result.files.every(({ outcome }) => outcome === 'restored')
    const uncovered = [...commands]
    const output = { ...result, files, all_restored, uncovered, not_covered: [...notCovered.paths] }
    answer(world, output, () => rewindLines(rewound.value, session.value.id).join('\n'))
    if (!input.options.json)
      world.streams.stderr.write(uncoveredNote({ uncovered, notCovered }).join(''))
    return ok(all_restored ? EXIT.done : EXIT.failed)
  })

function optionsOf({
  options: { turn, files, force, summary },
}: CommandInput<typeof REWIND>): Result<RewindOptions> {
  if (turn === undefined)
    return failed('invalid_args', 'Pass --turn with the number of a Turn.', {}, NUMBERS)
  if (!/^[1-9]\d{0,8}$/.test(turn)) {
    const given = visibleLine(turn.slice(0, 80))
    const message = `--turn must be a whole number from 1; it is "${given}".`
    return failed('invalid_args', message, { flag: '--turn', given }, NUMBERS)
  }
  if (force && !files)
    return failed('invalid_args', '--force overwrites files, so it needs --files.', {}, [
      { action: 'Restore the files too.', command: `hawser rewind --turn ${turn} --files --force` },
    ])
  return ok({ turn: Number(turn), files, summary, ...(force ? { conflicts: 'overwrite' } : {}) })
}

const NUMBERS = [
  { action: 'Show the Turns and their numbers.', command: 'hawser log show SESSION' },
]

/** Asks about files that something else changed since, if there is a terminal. */
async function rewind(
  world: CliWorld,
  session: Session,
  options: RewindOptions,
  json: boolean,
): Promise<Result<RewindResult>> {
  const rewinding = (how: RewindOptions) =>
    withProgress(world, 'Rewinding', () => session.rewind(how))
  const tried = await rewinding(options)
  const cause = tried.ok ? undefined : causeOf(tried.error)
  if (tried.ok || cause?.type !== 'files_changed') return tried
  if (json || !canAsk(world.streams)) return withForce(tried, session, options)
  const names = cause.paths.map((path) => `  ${visibleLine(path)}\n`)
  world.streams.stderr.write(`Something else changed these files since:\n${names.join('')}`)
  if (await askToConfirm(world.streams, 'Overwrite them?'))
    return rewinding({ ...options, conflicts: 'overwrite' })
  if (await askToConfirm(world.streams, 'Leave them, and restore the others?'))
    return rewinding({ ...options, conflicts: 'leave' })
  return failed('refused', 'Not confirmed; nothing was changed.')
}

function withForce({ error }: Failed, { id }: Session, { turn }: RewindOptions): Failed {
  const command = `hawser rewind ${id} --turn ${turn}`
  return failed(error.kind, error.message, error.details, [
    { action: 'Rewind the conversation only.', command },
    { action: 'Overwrite these files.', command: `${command} --files --force` },
  ])
}
