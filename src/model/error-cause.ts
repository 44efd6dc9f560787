import type { TurnId } from './ids.ts'

/** The type of an entry at a path. */
export type EntryKind = 'file' | 'folder' | 'symlink' | 'pipe' | 'socket' | 'device'

/**
 * The cause of an expected failure, as far as code branches on it. The code that creates the error adds it with `withCause`;
 * readers narrow it by `type`. A fact that no code branches on belongs in `details` only.
 */
export type ErrorCause =
  /** `not_found`: the folder exists but contains nothing of Hawser. */
  | { readonly type: 'never_used' }
  /** `resource_missing`: the state of the bytes in the blob store. */
  | { readonly type: 'payload'; readonly state: 'missing' | 'damaged' }
  /** `not_regular_file`: the type of entry that was found instead. */
  | { readonly type: 'found'; readonly entry: EntryKind }
  /** `not_found`: commands ran since the last Turn that can be undone, which is named. */
  | { readonly type: 'commands_since'; readonly turn: TurnId }
  /** `invalid_args`: the message of a terminal frame has an end already. */
  | { readonly type: 'already_ended' }
  /** `no_match`: the file has changed since it was last read. */
  | { readonly type: 'changed_since' }
  /** `no_match`: something else changed these files since the Session did. */
  | { readonly type: 'files_changed'; readonly paths: readonly string[] }
  /** `permission_denied`: the file has more than one hard link. */
  | { readonly type: 'hard_link' }
  /** `too_large`: the file has grown to this size since it was opened. */
  | { readonly type: 'grown'; readonly size: number }
  /** The system refused: an errno code, or a code of the file ports. */
  | { readonly type: 'system'; readonly code: string }
  /** `invalid_args`: the unknown keys of a settings file. */
  | { readonly type: 'unknown_settings'; readonly keys: readonly string[] }
  /** `sandbox_unavailable`: why no sandbox is available. */
  | { readonly type: 'no_sandbox'; readonly why: string }
  | ProviderCause

/** Facts that a provider, or the connection to it, reported about a failed call. */
export interface ProviderCause {
  readonly type: 'provider'
  /** The status of the response; absent for an error inside a stream. */
  readonly status?: number
  /** The vendor's error code. */
  readonly code?: string
  /** The vendor's id of the request. */
  readonly requestId?: string
  /** How long the server asks to wait. */
  readonly retryAfterMs?: number
  /** The provider refused an image or document of the request. */
  readonly refusedMedia?: RefusedMedia
  /** No socket could be opened, or the open one failed. */
  readonly noSocket?: true
  /** An open socket failed. */
  readonly lostSocket?: true
  /** Only the transport failed: the same request may be sent again immediately over another one. */
  readonly again?: true
}

export interface RefusedMedia {
  /** The position of the item in the request, in the vendor's notation: `messages.3.content.1`, `input[3].content[1]`. */
  readonly at?: string
}

/**
 * The property of an error's cause. A symbol: JSON omits it, so that no Log, export or command output can contain a cause, while
 * a copy made by spreading keeps it.
 */
export const CAUSE: unique symbol = Symbol('cause')
