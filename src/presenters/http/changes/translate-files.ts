import { undoOutcome, type UndoOutcome } from '../../../history/file-changes.ts'
import { definedFields } from '../../../model/fields/defined-fields.ts'
import type { UncoveredPath } from '../../../model/events/file-events.ts'
import type { TurnId } from '../../../model/ids.ts'
import type { SessionDiff } from '../../../session/changes/diff.ts'
import type { UndoResult } from '../../../session/changes/undo.ts'

/** A command whose changes are not known. */
interface ApiCommand {
  readonly turn: number
  readonly by: 'model' | 'person' | 'skill'
  readonly command: string
}

export interface ApiDiff {
  readonly files: readonly {
    readonly path: string
    readonly change: 'created' | 'changed' | 'removed'
    readonly text: boolean
    readonly diff: string
  }[]
  readonly turnUndone: boolean
  readonly uncoveredCommands: readonly ApiCommand[]
  readonly notCovered: readonly UncoveredPath[]
}

export interface ApiUndo {
  readonly turnId?: TurnId
  /** Of a command of the person, if that was undone. */
  readonly commandId?: string
  readonly allRestored: boolean
  readonly files: readonly {
    readonly path: string
    readonly outcome: UndoOutcome
    readonly why?: string
  }[]
  readonly uncoveredCommands: readonly ApiCommand[]
  readonly notCovered: readonly UncoveredPath[]
}

export function apiDiff({ files, undone, uncovered, notCovered }: SessionDiff): ApiDiff {
  return {
    files: files.map(({ path, change, text, diff }) => ({ path, change, text, diff })),
    turnUndone: undone,
    uncoveredCommands: uncovered.map(apiCommand),
    notCovered: notCovered.paths,
  }
}

export function apiUndo(done: UndoResult): ApiUndo {
  const { undone_turn_id: turnId, undone_command_id: commandId, files, uncovered } = done
  const { notCovered } = done
  return {
    ...definedFields({ turnId, commandId }),
    allRestored: files.every(({ outcome }) => outcome === 'restored'),
    files: files.map((file) => {
      const { path, why } = file
      return { path, outcome: undoOutcome(file), ...definedFields({ why }) }
    }),
    uncoveredCommands: uncovered.map(apiCommand),
    notCovered: notCovered.paths,
  }
}

function apiCommand({ turn, by, command }: UndoResult['uncovered'][number]): ApiCommand {
  return { turn, by, command }
}
