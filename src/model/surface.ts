import type { Replay } from './modes.ts'

/** What a Session's requests start with, and what shapes their bytes; frozen when the Session starts. */
export interface Surface {
  readonly contract_version: string
  readonly model: string
  /** Layer 0, then what Layer 1 adds to it as text; each a system block. */
  readonly system: readonly string[]
  /** Sorted by name. */
  readonly tools: readonly ToolSchema[]
  readonly params: SurfaceParams
}

export interface ToolSchema {
  readonly name: string
  readonly description: string
  /** JSON Schema. */
  readonly parameters: Readonly<Record<string, unknown>>
}

/** Everything else that a byte of a request may depend on. */
export interface SurfaceParams {
  readonly replay: Replay
  readonly late_role: string
  readonly effort?: string
  readonly tool_choice: string
  /** The model reasons, and what it reasoned comes back to it. */
  readonly reasoning?: boolean
  /** The server takes a prompt cache key. */
  readonly cache_key?: boolean
  /** Whether the model takes images and PDF files; absent where nobody knows. */
  readonly images?: boolean
  readonly files?: boolean
  /** Those of the model that requests are fitted to, by their names in its facts, and those of a Turn. */
  readonly limits: Readonly<Record<string, number>>
}
