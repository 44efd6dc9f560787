import type { EventData } from '../../model/events/event.ts'
import type { SessionId } from '../../model/ids.ts'
import type { Harness } from '../harness.ts'
import type { ListedSession } from './list.ts'

/** How the last Turn of a Session ended. */
export interface TurnOutcomes {
  readonly lastStatus: EventData<'turn_ended'>['status']
}

type Status = TurnOutcomes['lastStatus']

const MOST_KNOWN = 10_000
const MOST_READ = 50

/** Kept for each Session until it is written again: a list is asked for often, and changes rarely. */
export class LastOutcomes {
  readonly #known = new Map<SessionId, { readonly ts: string; readonly status?: Status }>()

  /** `undefined` if none of its last Events ends a Turn. */
  async lastOf(
    harness: Harness,
    { id, state: { last_ts: ts } }: ListedSession,
  ): Promise<Status | undefined> {
    const known = this.#known.get(id)
    if (known?.ts === ts) return known.status
    let status: Status | undefined
    let read = 0
    await harness.readBackward(id, { types: ['turn_ended'] }, ({ event }) => {
      read += 1
      if (event?.type === 'turn_ended') status = event.data.status
      return status === undefined && read < MOST_READ ? undefined : false
    })
    if (this.#known.size >= MOST_KNOWN) this.#known.clear()
    this.#known.set(id, { ts, ...(status === undefined ? {} : { status }) })
    return status
  }
}
