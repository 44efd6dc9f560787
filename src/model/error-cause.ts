/** What stands at a path. */
export type EntryKind = 'file' | 'folder' | 'symlink' | 'pipe' | 'socket' | 'device'

/**
 * Why an expected failure happened, as far as code decides on it. Whoever makes the error adds it with `withCause`; readers
 * narrow it by `type`. A fact that no code decides on belongs into `details` alone.
 */
export type ErrorCause =
  /** `not_found`: the folder exists, and Hawser keeps nothing in it. */
  | { readonly type: 'never_used' }
  /** `resource_missing`: what the blob store has in place of the bytes. */
  | { readonly type: 'payload'; readonly state: 'missing' | 'damaged' }
  /** `not_regular_file`: what was found where something else is needed. */
  | { readonly type: 'found'; readonly entry: EntryKind }
  /** `no_match`: the file is not what it was when it was last read. */
  | { readonly type: 'changed_since' }
  /** `permission_denied`: the file has a second name. */
  | { readonly type: 'hard_link' }
  /** `too_large`: the file has grown to this size since it was opened. */
  | { readonly type: 'grown'; readonly size: number }
  /** The system refused: an errno code, or a refusal of the file ports. */
  | { readonly type: 'system'; readonly code: string }
  /** `invalid_args`: a file of settings has these keys, which are not known. */
  | { readonly type: 'unknown_settings'; readonly keys: readonly string[] }
  /** `sandbox_unavailable`: why no sandbox can be used. */
  | { readonly type: 'no_sandbox'; readonly why: string }
  | ProviderCause

/** What a provider, or the connection to it, said of a failed call. */
export interface ProviderCause {
  readonly type: 'provider'
  /** The status of the answer; absent where the error came in the middle of one. */
  readonly status?: number
  /** The vendor's own word for the error. */
  readonly code?: string
  /** How long the server asks to wait. */
  readonly retryAfterMs?: number
  /** The provider refused an image or document of the request. */
  readonly refusedMedia?: RefusedMedia
  /** No socket could be opened, or the open one broke. */
  readonly noSocket?: true
  /** Only the way is to blame: the same request may be sent again at once, and takes another way. */
  readonly again?: true
}

export interface RefusedMedia {
  /** Where the item stands in the request, as the vendor writes it: `messages.3.content.1`, `input[3].content[1]`. */
  readonly at?: string
}

/**
 * The key of an error's cause. A symbol: JSON leaves it out, so that no Log, export or answer of a command can carry a
 * cause, and a copy made by spreading keeps it.
 */
export const CAUSE: unique symbol = Symbol('cause')
