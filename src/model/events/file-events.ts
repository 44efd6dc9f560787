import * as z from 'zod'
import { BlobKey, SessionId, Sha256, TurnId } from '../ids.ts'
import { UNCOVERED_REASONS } from './snapshot-entry.ts'
import { Count, Flag, list, openObject, type Frozen } from '../shape.ts'
import { RedactedOf } from './tool-events.ts'

/** How a path differs between two snapshots. */
const PathChange = z.enum(['created', 'changed', 'removed'])

/** Why a path is not in a snapshot. */
const UncoveredPath = openObject(() => ({
  path: z.string(),
  why: z.enum(UNCOVERED_REASONS),
}))
export type UncoveredPath = Frozen<z.infer<typeof UncoveredPath>>

/**
 * The workspace around a command that can write. It is recorded with `before` when the command starts, and again with `after`
 * when it has ended. The snapshots are outside of the workspace and of the Log; see ADR 38.
 */
export const WorkspaceSnapshot = openObject(() => ({
  /** Of the call; the `command_id` of a command of the person. */
  call_id: z.string(),
  before: Sha256.optional(),
  after: Sha256.optional(),
  /** Files and links that differ, not all of them if there are many. */
  files: list(openObject(() => ({ path: z.string(), change: PathChange }))),
  /** How many files and links differ. Absent if none do. */
  counts: openObject(() => ({ created: Count, changed: Count, removed: Count })).optional(),
  /** Paths that are not covered, not all of them if there are many. */
  uncovered: list(UncoveredPath),
  uncovered_count: Count.optional(),
  /** Hawser was stopped before the command ended: other programs may have changed files since. */
  by_others: Flag,
  /** Why there is no snapshot. */
  why: z.string().optional(),
}))

/** An absent blob means that the file did not exist, unless `change` says what happened: then the snapshots have it. */
const RestoredFile = openObject(() => ({
  path: z.string(),
  before_blob: BlobKey.optional(),
  after_blob: BlobKey.optional(),
  redacted_of: RedactedOf.optional(),
  /** What the restoration did to the path. Older versions did not record it. */
  change: PathChange.optional(),
  outcome: z.enum(['restored', 'changed_since', 'failed']),
  /** Why it failed; `redacted`: the stored content lacks a key that is no longer known. */
  why: z.string().optional(),
}))

export const FilesRestored = openObject(() => ({
  /** Absent for a command of the person. */
  undone_turn_id: TurnId.optional(),
  undone_command_id: z.string().optional(),
  /** The person went back before that Turn of another Session, from which this one was forked: its files and those of later ones. */
  rewound_from: SessionId.optional(),
  /** Also everything after it was undone. */
  onwards: Flag,
  /** An undo of this was reversed. */
  redo: Flag,
  /** Snapshots of the paths, before and after they were restored. */
  before: Sha256.optional(),
  after: Sha256.optional(),
  files: z.array(RestoredFile),
  by: z.enum(['person', 'model', 'policy']),
}))
