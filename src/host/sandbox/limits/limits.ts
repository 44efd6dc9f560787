/** What the processes of one command may use together. */
export interface CommandLimits {
  readonly processes: number
  readonly memoryBytes: number
}

/** A limit that a command met. */
export type LimitName = 'processes' | 'memory'

/** One way to hold a command to limits. */
export interface LimitMeans {
  /** `rlimits`: memory is limited for each process alone, and the number of processes only for users other than root. */
  readonly by: 'cgroup v2' | 'cgroup v1' | 'rlimits'
  /** Makes the group of one command. Throws what the system refuses; then there is no group. */
  open(limits: CommandLimits): Promise<LimitGroup>
}

/** The processes of one command. */
export interface LimitGroup {
  /** Put before an argument vector: a program that enters the group and then becomes the one that follows. */
  readonly entry: readonly string[]
  /** A limit on memory that every process has to carry itself, because the group has none. */
  readonly dataBytes?: number
  /** Which limits it has met so far, as far as the system counts that. Does not throw. */
  met(): Promise<readonly LimitName[]>
  /** To be called when nothing runs in it any more. Does not throw: what cannot be removed, a later process removes. */
  remove(): Promise<void>
}
