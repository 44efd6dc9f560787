import * as z from 'zod'
import { undoOutcome, type UndoOutcome } from '../../../history/file-changes.ts'
import { definedFields } from '../../../model/fields/defined-fields.ts'
import type { UndoResult } from '../../../session/changes/undo.ts'
import { visibleLine } from './visible-text.ts'

/**
 * `removed`: it did not exist before; `changed_since`: something else changed it since, so it was left alone; `failed`: it could not be
 * read or written.
 */
export const RestoredFile = z.object({
  path: z.string(),
  outcome: z.enum(['restored', 'removed', 'changed_since', 'failed']),
  why: z
    .string()
    .optional()
    .describe(
      '`redacted`: its content contained a key, which is not stored; `missing`: its snapshot is not stored any more; `uncovered`: no snapshot has its content; `overwritten`: a command overwrote this object of git.',
    ),
})
export type RestoredFile = z.infer<typeof RestoredFile>

export function restoredFiles({ files }: Pick<UndoResult, 'files'>): readonly RestoredFile[] {
  return files.map((file) => {
    const { path, why } = file
    return { path, outcome: undoOutcome(file), ...definedFields({ why }) }
  })
}

export function isUndone({ outcome }: { readonly outcome: UndoOutcome }): boolean {
  return outcome === 'restored' || outcome === 'removed'
}

/** One line for each file. */
export function restoredLines(files: readonly RestoredFile[]): readonly string[] {
  return files.map(
    ({ path, outcome, why }) =>
      `  ${(REASONS.get(why ?? '') ?? OUTCOMES[outcome]).padEnd(28)}  ${visibleLine(path)}`,
  )
}

const OUTCOMES = {
  restored: 'restored',
  removed: 'removed',
  changed_since: 'not restored: changed since',
  failed: 'not restored: failed',
} as const satisfies Record<UndoOutcome, string>

const REASONS: ReadonlyMap<string, string> = new Map([
  ['redacted', 'not restored: contained a key'],
  ['missing', 'not restored: not stored'],
  ['overwritten', 'not restored: overwritten'],
  ['uncovered', 'not restored: not covered'],
])
