/** What a snapshot of the workspace has at a path. Only the permission bits of a mode count. */
export type SnapshotEntry =
  | { readonly kind: 'file'; readonly mode: number; readonly size: number; readonly sha256: string }
  | { readonly kind: 'link'; readonly target: string }
  | { readonly kind: 'folder'; readonly mode: number }
  | { readonly kind: 'uncovered'; readonly why: UncoveredReason }

/** Why a path is not in a snapshot. */
export const UNCOVERED_REASONS = [
  'ignored',
  'repository',
  'not_regular_file',
  'too_large',
  'unreadable',
] as const
export type UncoveredReason = (typeof UNCOVERED_REASONS)[number]

/** A path whose entry differs between two snapshots; an absent entry is a missing one. */
export interface PathChange {
  /** Relative to the workspace. A byte that is not UTF-8 is a lone surrogate. */
  readonly path: string
  readonly before?: SnapshotEntry
  readonly after?: SnapshotEntry
}

export function isSameEntry(
  one: SnapshotEntry | undefined,
  other: SnapshotEntry | undefined,
): boolean {
  if (one === undefined || other === undefined) return one === other
  if (one.kind === 'file')
    return other.kind === 'file' && one.sha256 === other.sha256 && one.mode === other.mode
  if (one.kind === 'link') return other.kind === 'link' && one.target === other.target
  if (one.kind === 'uncovered') return other.kind === 'uncovered' && one.why === other.why
  return other.kind === 'folder' && one.mode === other.mode
}

const LONE = /(?<![\uD800-\uDBFF])([\uDC80-\uDCFF])/

/** A path for people and Events: what is not UTF-8 is written as `\xNN`. */
export function readablePath(path: string): string {
  return path
    .split(LONE)
    .map((part, at) =>
      at % 2 === 0 ? part : `\\x${(part.charCodeAt(0) - 0xdc00).toString(16).padStart(2, '0')}`,
    )
    .join('')
}
