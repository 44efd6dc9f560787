export interface RehearsalOptions {
  /** Any free port by default. */
  readonly port?: number
  /** How many requests of a cache key find its cache within a minute; without it all do. */
  readonly cacheRate?: number
  /** Called for every request; the status is 0 where the connection ended without an answer. */
  readonly heard?: (request: { method: string; path: string; status: number }) => void
}

/** The rehearsal model as a server on this machine. Serves until it is closed. */
export interface RehearsalServer {
  /** As in `http://127.0.0.1:4000`. */
  readonly origin: string
  /** What can be made to go wrong with a request, as in `cut:BYTES`. */
  readonly switches: readonly string[]
  readonly close: () => Promise<void>
}
