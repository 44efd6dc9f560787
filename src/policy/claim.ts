/** What a call would touch, said by the tool before anything happens. */
export interface Claim {
  readonly tool: string
  /** `none` touches nothing outside the Session; `run` starts a program, which may do anything its sandbox lets it. */
  readonly effect: 'none' | 'read' | 'write' | 'run'
  /**
   * Workspace-relative paths that are read or written: as the model wrote them, and, when it is decided on, also where they
   * really lead.
   */
  readonly paths: readonly string[]
  /** Of these, what git would read because of what else is on the disk, with the reason. */
  readonly gitReads?: readonly { readonly path: string; readonly reason: string }[]
  readonly command?: string
  /** The program is to reach the network. */
  readonly network: boolean
  /** A Resource whose bytes are to go to the model. */
  readonly upload?: {
    readonly handle: string
    readonly name: string
    readonly kind: 'image' | 'pdf' | 'text'
    readonly size_bytes: number
  }
}
