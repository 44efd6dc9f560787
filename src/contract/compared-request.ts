import type { WholeEvent } from '../model/events/event.ts'

/** The owner of a prompt cache. Requests to the same owner can share a prefix, whatever was sent elsewhere between them. */
export interface CacheKeeper {
  readonly provider: string
  readonly dialect: string
  readonly model: string
}

/**
 * The index of the request that the next one to `keeper` is compared with: the last one to the same keeper, or the last one of all
 * if there is none; -1 if no request was sent. `keeper.provider` is the provider after these Events. Reads backwards, and no
 * further than it has to.
 */
export function comparedRequest(events: readonly WholeEvent[], keeper: CacheKeeper): number {
  let last = -1
  /** Whether the current Events were written under the same provider; not known before the Event that names theirs. */
  let same: boolean | undefined = true
  let candidate = -1
  for (let at = events.length - 1; at >= 0; at -= 1) {
    const event = events[at]
    if (event?.type === 'provider_request') {
      if (last === -1) last = at
      const { dialect, model } = event.data
      if (dialect !== keeper.dialect || model !== keeper.model) continue
      if (same === true) return at
      if (candidate === -1) candidate = at
    } else if (event !== undefined && namedProvider(event) !== undefined) {
      if (candidate !== -1 && namedProvider(event) === keeper.provider) return candidate
      same = undefined
      candidate = -1
    }
  }
  return last
}

/** The provider after these Events. */
export function providerAfter(events: readonly WholeEvent[]): string | undefined {
  const last = events.findLast((event) => namedProvider(event) !== undefined)
  return last && namedProvider(last)
}

/** The provider that applies from this Event on. */
export function namedProvider(event: WholeEvent): string | undefined {
  return event.type === 'session_started' || event.type === 'session_settings'
    ? event.data.provider
    : undefined
}
