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
  readonly replay: 'attach-turn' | 'window' | 'cost-aware'
  readonly late_role: string
  readonly effort?: string
  readonly tool_choice: string
  readonly limits: Readonly<Record<string, number>>
}
