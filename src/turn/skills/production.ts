import type { HawserError } from '../../model/errors.ts'
import type { EventData, EventDraft } from '../../model/events/event.ts'
import type { RawOutput } from './hydrated-output.ts'

type Hydration = EventData<'skill_context_hydration'>

/** What a source produced. */
export interface Production {
  readonly status: Hydration['status']
  /** Why it is not `ok`. */
  readonly error?: HawserError
  /** Absent for none. */
  readonly raw?: RawOutput
  /** The output is only part of what there is, and the rest is not known. */
  readonly partial?: boolean
  /** The Resource that was viewed, and the view. */
  readonly view?: Pick<Hydration, 'resource_id' | 'handle'> & {
    readonly record: readonly EventDraft[]
  }
  /** Sentences. */
  readonly limitations?: readonly string[]
}

export function failure(error: HawserError): Production {
  return { status: error.kind === 'interrupted' ? 'interrupted' : 'failed', error }
}

export function complete(text: string | Buffer): RawOutput {
  return { bytes: Buffer.from(text), end: 'complete' }
}
