import { closing } from '../../host/files/files.ts'
import type { StateAt } from '../../log/derived-index.ts'
import type { Cursor, LogLine } from '../../log/line.ts'
import type { LogPlace } from '../../log/place.ts'
import { openReader } from '../../log/reader.ts'
import { LOG_START } from '../../log/scan.ts'
import { canWiden } from '../../model/events/widening.ts'
import type { SessionId } from '../../model/ids.ts'
import { sessionFold, type SessionState } from './state.ts'

/**
 * The state of a Session as far as its Log is vouched for. A line that another process writes is read before the head covers
 * it; until then it widens nothing, so the head is read again while there is such a line.
 */
export class VouchedState {
  #state: SessionState = sessionFold.initial
  /** The lines before this one are folded already. */
  #next = 0
  /** The first line that may widen something once the head covers it. */
  #doubt: number | undefined

  get current(): SessionState {
    return this.#state
  }

  /** Continues after a state. */
  begin({ cursor, state }: StateAt<SessionState>): void {
    this.#state = state
    this.#next = cursor.seq
    this.#doubt = undefined
  }

  forget(): void {
    this.begin({ cursor: LOG_START, state: sessionFold.initial })
  }

  /** Folds those lines that are not folded yet. */
  take(lines: readonly LogLine[], covers: (seq: number) => boolean): void {
    for (const line of lines) {
      if (line.seq < this.#next) continue
      const covered = covers(line.seq)
      this.#state = sessionFold.step(this.#state, line, covered)
      this.#next = line.seq + 1
      if (!covered && canWiden(line.content)) this.#doubt ??= line.seq
    }
  }

  /** Folds the lines up to `end` again if the head covers more of those that are in doubt. */
  async settle(place: LogPlace, session: SessionId, end: Cursor): Promise<void> {
    if (this.#doubt === undefined) return
    const head = await place.heads.read(session)
    if (!head.ok || head.value === undefined || head.value.seq < this.#doubt) return
    const reader = await openReader(place, session)
    if (!reader.ok) return
    await closing(reader.value, async (opened) => {
      const indexed = await opened.stateAt(sessionFold)
      const start = indexed.ok ? indexed.value : undefined
      const isUsable = start !== undefined && start.cursor.seq <= end.seq
      const again = new VouchedState()
      if (isUsable) again.begin(start)
      const read = await opened.forward(
        (line) => {
          if (line.seq >= end.seq) return false
          again.take([line], opened.covers)
          return undefined
        },
        isUsable ? start.cursor : LOG_START,
      )
      if (!read.ok || read.value.cursor.seq < end.seq) return
      this.#state = again.#state
      this.#doubt = again.#doubt
    })
  }
}
