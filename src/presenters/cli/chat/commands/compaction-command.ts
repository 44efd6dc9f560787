import { failed, ok, type Result } from '../../../../model/errors.ts'
import {
  contentLines,
  fallbackLines,
  notCompactedLines,
  plannedLines,
  type CompactionCommands,
} from '../../render/compaction-lines.ts'
import { sentences } from '../../screen/rows.ts'
import type { CommandContext, CommandResult } from './command-context.ts'

/** Compacts the Session, previews that, or undoes the last compaction. Options of the shell command work too. */
export async function compact(
  context: CommandContext,
  argument: string,
): Promise<Result<CommandResult>> {
  const action = ACTIONS[argument.replace(/^--/, '')]
  if (action === undefined)
    return failed('invalid_args', 'Expected /compact, /compact dry-run or /compact undo.')
  const lines = await action(context)
  if (!lines.ok) return lines
  const { columns } = context
  return ok({ rows: lines.value.flatMap((line) => rowsOf(line, columns)) })
}

type Action = (context: CommandContext) => Promise<Result<readonly string[]>>

const ACTIONS: Readonly<Record<string, Action>> = {
  '': async ({ session }) => {
    const done = await session.compact()
    if (!done.ok) return done
    // What was compacted is shown by its Event.
    return ok(
      done.value.compactable
        ? [...fallbackLines(done.value), ...contentLines(done.value, COMMANDS)]
        : notCompactedLines(done.value, COMMANDS),
    )
  },
  'dry-run': async ({ session }) => {
    const found = await session.previewCompaction()
    return found.ok ? ok(plannedLines(found.value, COMMANDS)) : found
  },
  undo: async ({ session }) => {
    const done = await session.undoCompaction()
    return done.ok ? ok([]) : done
  },
}

const COMMANDS: CompactionCommands = {
  compact: '/compact',
  undo: '/compact undo',
  lookUp: 'Ctrl-O, then /PATTERN',
  otherModel: '/model NAME',
  newSession: '/new',
}

/** A line keeps its indentation when it is wrapped. */
function rowsOf(line: string, columns: number) {
  const text = line.trimStart()
  const first = ' '.repeat(line.length - text.length)
  return sentences(text, { columns, first, style: { dim: true } })
}
