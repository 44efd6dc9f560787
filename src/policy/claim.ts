/** What a call would access, declared by the tool before anything happens. */
export interface Claim {
  readonly tool: string
  /** `none` accesses nothing outside the Session; `run` starts a program, which may do anything its sandbox allows. */
  readonly effect: 'none' | 'read' | 'write' | 'run'
  /**
   * Workspace-relative paths that are read or written: as the model wrote them and, at decision time, also where they
   * really lead.
   */
  readonly paths: readonly string[]
  /** Those of the paths that git would read because of other files on disk, with the reason. */
  readonly gitReads?: readonly { readonly path: string; readonly reason: string }[]
  readonly command?: string
  /** The program needs network access. */
  readonly network: boolean
  /** A Resource whose bytes would be sent to the model. */
  readonly upload?: {
    readonly handle: string
    readonly name: string
    readonly kind: 'image' | 'pdf' | 'text'
    readonly size_bytes: number
  }
  /** Facts that a Skill would fetch, with the argument vector if a command fetches them. */
  readonly hydration?: {
    readonly skill: string
    /** Where the Skill comes from. */
    readonly from?: string | undefined
    readonly context_source_id: string
    readonly argv?: readonly string[] | undefined
  }
}
