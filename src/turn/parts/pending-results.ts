import type { Clock } from '../../host/clock.ts'
import { ok, type Failed, type Result } from '../../model/errors.ts'
import type { EventDraft } from '../../model/events/event.ts'
import type { RecordedResult } from '../../request/compose-request.ts'
import { failedOutcome } from '../../tools/tool.ts'

/** Appends Events in one write; when it resolves, they are durable and all watchers have received them. */
export type Commit = (drafts: readonly EventDraft[]) => Promise<Result<void>>

type ResultDraft = EventDraft<'tool_result'>

interface ResultLog {
  readonly commit: Commit
  readonly clock: Pick<Clock, 'after'>
  readonly recordedText: (text: string) => string
}

/** The maximum time before the write of a result starts, whatever the Turn waits for. */
const SOON_MS = 20
/** Results with more characters of output are recorded immediately, because one append has a maximum size. */
const MOST_OUTPUT = 256 * 1024

/**
 * Results of calls that changed nothing. They are recorded in one write with the next Event of the Turn, usually the
 * request that contains them. After a crash before that write, the Log has no results of these calls and needs none,
 * because the calls may run again. The result of a call with effects is never delayed here.
 */
export class PendingResults {
  readonly #log: ResultLog
  #waiting: ResultDraft[] = []
  #output = 0
  /** In the order of the write; not yet in `log.events()`. */
  #writing: ResultDraft[] = []
  #cancelTimer: (() => void) | undefined
  #flushing: Promise<Result<void>> = Promise.resolve(ok(undefined))

  constructor(log: ResultLog) {
    this.#log = log
  }

  add(result: ResultDraft): void {
    this.#waiting.push(result)
    this.#output += result.data.output.length
    if (this.#output > MOST_OUTPUT) this.#flush()
    else this.#cancelTimer ??= this.#log.clock.after(SOON_MS, () => this.#flush())
  }

  /** The results that are not in `log.events()` yet, as their Events will contain them. */
  get ahead(): RecordedResult[] {
    const { recordedText } = this.#log
    return [...this.#writing, ...this.#waiting].map(({ data }) => ({
      call_id: recordedText(data.call_id),
      name: recordedText(data.name),
      outcome: data.outcome,
      output: recordedText(data.output),
    }))
  }

  /** `log.commit`, with the results in the same write, before `drafts`. */
  commit: Commit = async (drafts) => {
    const recorded = await this.#record(drafts)
    // Already settled, because the Log acknowledges in order. A later Event must not hide that a result was lost.
    const flushed = await this.#flushing
    return flushed.ok ? recorded : flushed
  }

  #flush(): void {
    const earlier = this.#flushing
    const flushed = this.#record([])
    this.#flushing = flushed.then(async (now) => {
      const before = await earlier
      return before.ok ? now : before
    })
    // The next commit throws the error.
    this.#flushing.catch(() => {})
  }

  async #record(drafts: readonly EventDraft[]): Promise<Result<void>> {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    const results = this.#waiting.splice(0)
    this.#output = 0
    if (results.length + drafts.length === 0) return ok(undefined)
    this.#writing.push(...results)
    const recorded = await this.#log.commit([...results, ...drafts])
    this.#writing = this.#writing.filter((one) => !results.includes(one))
    // One of them cannot be recorded; the others must not be lost with it.
    if (!recorded.ok && recorded.error.kind === 'internal')
      for (const one of results) await recordResult(this.#log, one)
    return recorded
  }
}

/**
 * Records the result of a call, after the other Events of that call. Because the call ran, the Log must have a result: if a
 * defect makes it impossible to record, a replacement is recorded, and the Turn ends with that defect.
 */
export async function recordResult(
  { commit }: Pick<ResultLog, 'commit'>,
  result: ResultDraft,
  record: readonly EventDraft[] = [],
): Promise<Result<void>> {
  const recorded = await commit([...record, result])
  if (!recorded.ok && recorded.error.kind === 'internal')
    await commit([replacement(result, recorded)])
  return recorded
}

function replacement({ data: { call_id, name } }: ResultDraft, { error }: Failed): ResultDraft {
  const { outcome, output } = failedOutcome(error)
  return {
    type: 'tool_result',
    data: { call_id, name, outcome, error, output, duration_ms: 0 },
  }
}
