import type { EventData } from '../../model/events/event.ts'
import type { SessionId } from '../../model/ids.ts'
import type { readLogBackward } from '../reading/read-log.ts'
import type { ListedSession } from './list.ts'

/** How the last Turn of a Session ended. */
export interface TurnOutcomes {
  readonly lastStatus: EventData<'turn_ended'>['status']
}

/** Reads the Logs of a workspace. */
interface BackwardReader {
  readBackward(
    ...query: Tail<Parameters<typeof readLogBackward>>
  ): ReturnType<typeof readLogBackward>
}

type Tail<T extends readonly unknown[]> = T extends readonly [unknown, ...infer Rest] ? Rest : never

type Status = TurnOutcomes['lastStatus']

const MOST_KNOWN = 10_000
const MOST_READ = 50

/** Kept for each Session until it is written again: a list is asked for often, and changes rarely. */
export class LastOutcomes {
  readonly #outcomes = new Map<SessionId, { readonly ts: string; readonly status?: Status }>()

  /** `undefined` if none of its last Events ends a Turn. */
  async lastOf(
    reader: BackwardReader,
    { id, state: { last_ts: ts } }: ListedSession,
  ): Promise<Status | undefined> {
    const known = this.#outcomes.get(id)
    if (known?.ts === ts) return known.status
    let status: Status | undefined
    let read = 0
    await reader.readBackward(id, { types: ['turn_ended'] }, ({ event }) => {
      read += 1
      if (event?.type === 'turn_ended') status = event.data.status
      return status === undefined && read < MOST_READ ? undefined : false
    })
    if (this.#outcomes.size >= MOST_KNOWN) this.#outcomes.clear()
    this.#outcomes.set(id, { ts, ...(status === undefined ? {} : { status }) })
    return status
  }
}
