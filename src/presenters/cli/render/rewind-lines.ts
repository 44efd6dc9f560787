import type { SessionId } from '../../../model/ids.ts'
import type { RewindResult } from '../../../session/forks/rewind.ts'
import { resourceWords } from '../text/resource-words.ts'
import { restoredFiles, restoredLines } from '../text/undo-words.ts'
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
    ...restoredLines(restoredFiles({ files })),
    `To continue: hawser chat --session ${session_id}`,
    '',
  ]
}
