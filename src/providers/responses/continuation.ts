import type { Segment } from '../../model/segment.ts'
import type { BreakCause, ResetReason } from '../../model/prefix-break.ts'
import type { Outgoing } from '../provider.ts'
import { frameFrom } from './encode.ts'

/** What a server remembers at the other end of a socket: its last answer, and the request it was an answer to. */
export interface Remembered {
  readonly responseId: string
  readonly sha256: string
}

/** What goes over a socket for a request: all of it, or what is new since what the server remembers. */
export interface Sending {
  /** Of one message. What is large in them is the memory of the request's body. */
  readonly pieces: readonly Buffer[]
  readonly reset?: ResetReason
}

/** Only new items, where the request begins with all that the server knows; all of it otherwise, and why. Pure. */
export function sendingOf(
  request: Outgoing,
  known: Remembered | undefined,
  unknown: ResetReason,
): Sending {
  const reset = known === undefined ? unknown : resetOf(request, known)
  const { body, segments, last } = request
  if (reset !== undefined || known === undefined)
    return { pieces: created([body]), reset: reset ?? unknown }
  const news = frameFrom(answerEnd(segments, last?.count ?? 0), request)
  return { pieces: created(news, known.responseId) }
}

function resetOf({ last, brokenBy }: Outgoing, { sha256 }: Remembered): ResetReason | undefined {
  if (brokenBy !== undefined) return RESETS[brokenBy]
  return last?.sha256 === sha256 ? undefined : 'prefix_mismatch'
}

const RESETS: Readonly<Record<BreakCause, ResetReason>> = {
  surface: 'surface_changed',
  params: 'params_changed',
  model: 'model_changed',
  dialect: 'dialect_changed',
  checkpoint: 'compaction',
  undo: 'compaction_undone',
  transient_retired: 'transient_retired',
  quarantine: 'resource_quarantined',
  drop: 'resource_dropped',
  payload_missing: 'payload_missing',
  fork: 'forked',
  unknown: 'prefix_mismatch',
}

/** Where the answer ends that began at `from`: the server has it already. */
function answerEnd(segments: readonly Segment[], from: number): number {
  let end = from
  while (ANSWERED.has(segments[end]?.role ?? '')) end += 1
  return end
}

const ANSWERED: ReadonlySet<string> = new Set(['assistant', 'reasoning', 'tool_call'])

/** A body as the event that creates a response. What only HTTP knows is left out; it stands in the first piece. */
function created([first = NOTHING, ...more]: readonly Buffer[], previous?: string): Buffer[] {
  const at = first.indexOf(ONLY_HTTP)
  const id = previous === undefined ? '' : `"previous_response_id":${JSON.stringify(previous)},`
  const opening = Buffer.from(`{"type":"response.create",${id}`)
  if (at < 0) return [opening, first.subarray(1), ...more]
  return [opening, first.subarray(1, at), first.subarray(at + ONLY_HTTP.length), ...more]
}

const NOTHING = Buffer.alloc(0)
/** Of the parameters; no text can hold it, because quotes in texts are escaped. */
const ONLY_HTTP = Buffer.from('"stream":true,')
