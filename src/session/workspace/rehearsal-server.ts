export interface RehearsalOptions {
  /** Default: any free port. */
  readonly port?: number
  /** How many requests per minute with one cache key can use the cache; default: all. */
  readonly cacheRate?: number
  /**
   * Called for every request; the status is 0 if the connection ended without a response. `reason`: why it was refused, in
   * one short text that may contain control characters.
   */
  readonly onRequest?: (request: {
    method: string
    path: string
    status: number
    reason?: string
  }) => void
}

/** The offline demo model as a server on this machine. Serves until it is closed. */
export interface RehearsalServer {
  /** Such as `http://127.0.0.1:4000`. */
  readonly origin: string
  /** The faults that can be injected into a request, such as `cut:BYTES`. */
  readonly switches: readonly string[]
  readonly close: () => Promise<void>
}
