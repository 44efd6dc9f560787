/** The call that a continued Turn was in. */
export interface InterruptedCall {
  readonly call_index: number
  /** Of its last request. */
  readonly attempt: number
  /** The index in `events` of its first request. */
  readonly first: number
  /** Of the request that ran when Hawser stopped; absent if its failure is known and what it contains has changed since. */
  readonly sha256: string | undefined
}
