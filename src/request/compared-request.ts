import type { History, ResumeState } from '../history/history.ts'
import { namedProvider } from '../history/provider-name.ts'

/** The owner of a prompt cache. Requests to the same owner can share a prefix, whatever was sent elsewhere between them. */
export interface CacheKeeper {
  readonly provider: string
  readonly dialect: string
  readonly model: string
}

/** A request: the index of its Event, or its record from before the checkpoint. */
export type ComparedRequest =
  | { readonly at: number }
  | { readonly earlier: NonNullable<ResumeState['requests']>[number] }

/**
 * The request that the next one to `keeper` is compared with: the last one to the same keeper, or the last one of all if
 * there is none. `keeper.provider` is the provider after these Events. Reads backwards, and no further than it has to.
 */
export function comparedRequest(
  { state, events }: Pick<History, 'state' | 'events'>,
  keeper: CacheKeeper,
): ComparedRequest | undefined {
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
      if (same === true) return { at }
      if (candidate === -1) candidate = at
    } else if (event !== undefined && namedProvider(event) !== undefined) {
      if (candidate !== -1 && namedProvider(event) === keeper.provider) return { at: candidate }
      same = undefined
      candidate = -1
    }
  }
  if (candidate !== -1 && state.provider === keeper.provider) return { at: candidate }
  const { requests = [] } = state
  const earlier =
    requests.find((one) => isTo(one, keeper)) ?? (last === -1 ? requests[0] : undefined)
  if (earlier !== undefined) return { earlier }
  return last === -1 ? undefined : { at: last }
}

function isTo(one: CacheKeeper, keeper: CacheKeeper): boolean {
  return (
    one.provider === keeper.provider && one.dialect === keeper.dialect && one.model === keeper.model
  )
}
