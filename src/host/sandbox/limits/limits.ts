/** What all processes of one command may use together. */
export interface CommandLimits {
  readonly processes: number
  readonly memoryBytes: number
}

/** A limit that a command can reach. */
export type LimitName = 'processes' | 'memory'

/** One way to enforce limits. */
export interface LimitMethod {
  /** `rlimits` limits memory per process, and the number of processes only for users other than root. */
  readonly by: 'cgroup v2' | 'cgroup v1' | 'rlimits'
  /** Creates the group of one command. Throws when the system refuses; then no group is left behind. */
  open(limits: CommandLimits): Promise<LimitGroup>
}

/** The processes of one command. */
export interface LimitGroup {
  /** Put before an argument vector: a program that enters the group and then executes the rest. */
  readonly entry: readonly string[]
  /** A memory limit that each process must set itself, because the group has none. */
  readonly dataBytes?: number
  /** The limits reached so far, as far as the system counts them. Does not throw. */
  reachedLimits(): Promise<readonly LimitName[]>
  /** Call it when nothing runs in the group any more; further calls do nothing. Does not throw: a later process removes what is left. */
  remove(): Promise<void>
}
