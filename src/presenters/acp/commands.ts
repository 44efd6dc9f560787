import { countOf, groupDigits } from '../../encoding/amounts.ts'
import { undoOutcome } from '../../history/file-changes.ts'
import { notCoveredWords, uncoveredLines } from '../../history/ran-commands.ts'
import { failed, ok, type Result } from '../../model/errors.ts'
import type { Harness } from '../../session/harness.ts'
import type { UndoResult } from '../../session/changes/undo.ts'
import type { Session } from '../../session/session.ts'

export type ListedSkills = Awaited<ReturnType<Harness['skills']>>['skills']

interface Command {
  readonly description: string
  readonly hint?: string
  /** Returns the answer for the person. */
  readonly run: (session: Session, argument: string) => Promise<Result<string>>
}

/** Commands that a person types as a prompt. They are not Turns: the model does not see them. */
export const COMMANDS: Readonly<Record<string, Command>> = {
  compact: {
    description: 'Replace the older part of the conversation by a checkpoint; undo takes it back.',
    hint: 'undo',
    run: compact,
  },
  reload: {
    description: 'Take over the Skills and tools on disk.',
    run: async (session) => {
      const change = await session.reload()
      if (!change.ok) return change
      return ok(
        change.value === undefined
          ? 'Nothing to reload: this Session already has the current Skills and tools.'
          : `Reloaded: ${change.value}. The next request is not served from the prompt cache.`,
      )
    },
  },
  undo: {
    description: 'Restore the files that the last Turn changed, by tools or by commands.',
    run: async (session) => restoredAnswer(await session.undo()),
  },
  redo: {
    description: 'Reverse the last undo.',
    run: async (session) => restoredAnswer(await session.redo()),
  },
}

function restoredAnswer(undone: Result<UndoResult>): Result<string> {
  if (!undone.ok) return undone
  const files = undone.value.files.map((file) => `- ${file.path}: ${OUTCOMES[undoOutcome(file)]}`)
  const uncovered = uncoveredLines(undone.value.uncovered)
  return ok(
    [
      ...files,
      ...(uncovered.length === 0 ? [] : ['What these commands changed is not recorded:']),
      ...uncovered.map((line) => `- ${line}`),
      ...[notCoveredWords(undone.value.notCovered)].filter((text) => text !== ''),
    ].join('\n'),
  )
}

const OUTCOMES = {
  restored: 'restored',
  removed: 'removed',
  changed_since: 'not restored: changed since',
  failed: 'could not be restored',
} as const

/** The command that a prompt consists of; `undefined` for any other text. Pure. */
export function commandIn(
  text: string,
): { readonly command: Command; readonly argument: string } | undefined {
  const [, name = '', argument = ''] = /^\/([a-z][a-z0-9-]*)(?:\s+(.*?))?\s*$/s.exec(text) ?? []
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  return command === undefined ? undefined : { command, argument }
}

async function compact(session: Session, argument: string): Promise<Result<string>> {
  if (argument === 'undo') {
    const undone = await session.undoCompaction()
    return undone.ok ? ok('The last compaction was undone.') : undone
  }
  if (argument !== '') return failed('invalid_args', 'Expected /compact or /compact undo.')
  const done = await session.compact()
  if (!done.ok) return done
  const { value: plan } = done
  if (!plan.compactable) return ok(NOT_COMPACTED[plan.reason])
  const { tokens_before, tokens_after } = plan.data
  const fallback = plan.fallback === undefined ? '' : `${plan.fallback} `
  return ok(
    `${fallback}The next request has about ${countOf(tokens_after, 'token')} instead of ${groupDigits(tokens_before)}. The Log keeps everything. To take it back: /compact undo`,
  )
}

const NOT_COMPACTED = {
  nothing_to_compact: 'Nothing to compact: it would save less than 10 %.',
  target_not_reached: 'Not compacted: the newest Turns alone need most of the room.',
  state_too_large: 'Not compacted: commands whose end is not known leave no room for a checkpoint.',
} as const
