import { undoOutcome, type UndoOutcome } from '../../../history/file-changes.ts'
import type { SessionId } from '../../../model/ids.ts'
import type { RewindResult } from '../../../session/forks/rewind.ts'
import { resourceWords } from '../text/resource-words.ts'
import { visibleLine, visibleText } from '../text/visible-text.ts'

/** The new branch, the message that it lacks, and what became of the files, for people. */
export function rewindLines(
  { session_id, turn, text, stdin, resources, files }: RewindResult,
  from: SessionId,
): string[] {
  const message = [text, ...(stdin === undefined ? [] : [stdin])].join('\n')
  return [
    `Went back before Turn ${turn} of ${from}: the new Session is ${session_id}.`,
    'The withdrawn message:',
    ...visibleText(message)
      .split('\n')
      .map((line) => `  ${line}`.trimEnd()),
    ...resources.map((resource) => `  ${visibleLine(resourceWords(resource))}`),
    ...(files.length === 0 ? [] : ['Files:']),
    ...files.map((file) => `  ${wordsOf(file).padEnd(28)}  ${visibleLine(file.path)}`),
    `To continue: hawser chat --session ${session_id}`,
    '',
  ]
}

function wordsOf(file: RewindResult['files'][number]): string {
  return file.why === 'redacted' ? 'not restored: contained a key' : OUTCOMES[undoOutcome(file)]
}

const OUTCOMES = {
  restored: 'restored',
  removed: 'removed',
  changed_since: 'not restored: changed since',
  failed: 'not restored: failed',
} as const satisfies Record<UndoOutcome, string>
