import type { Segment } from '../../model/segment.ts'
import type { BreakCause, ResetReason } from '../../model/prefix-break.ts'
import type { OutgoingRequest } from '../provider.ts'
import { buildBodyFrom } from './encode.ts'

/** The state of a server at the other end of a socket: its last answer and the request it answered. */
export interface ServerState {
  readonly responseId: string
  readonly model: string
  readonly sha256: string
}

/** The bytes to send over a socket for a request: all of it, or only the items that the server does not have. */
export interface Sending {
  /** The pieces of one message. Large pieces share the memory of the request body. */
  readonly pieces: readonly Buffer[]
  readonly reset?: ResetReason
}

/** Only new items if the request starts with all that the server has; otherwise the whole request, and the reason. Pure. */
export function sendingOf(
  request: OutgoingRequest,
  known: ServerState | undefined,
  unknown: ResetReason,
): Sending {
  const reset = known === undefined ? resetOfUnknown(request, unknown) : resetOf(request, known)
  const { body, segments, last } = request
  if (reset !== undefined || known === undefined)
    return { pieces: createEvent([body]), reset: reset ?? unknown }
  const news = buildBodyFrom(answerEnd(segments, last?.count ?? 0), request)
  return { pieces: createEvent(news, known.responseId) }
}

/** After a compaction, everything would have been sent again on an intact socket too. */
function resetOfUnknown({ brokenBy }: OutgoingRequest, unknown: ResetReason): ResetReason {
  return unknown === 'reconnected' && brokenBy === 'checkpoint' ? RESETS.checkpoint : unknown
}

function resetOf(
  { model, last, brokenBy }: OutgoingRequest,
  { sha256, model: answered }: ServerState,
): ResetReason | undefined {
  if (brokenBy !== undefined) return RESETS[brokenBy]
  if (model !== answered) return RESETS.model
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

/** The end of the answer that starts at `from`: the server already has it. */
function answerEnd(segments: readonly Segment[], from: number): number {
  let end = from
  while (ANSWERED.has(segments[end]?.role ?? '')) end += 1
  return end
}

const ANSWERED: ReadonlySet<string> = new Set(['assistant', 'reasoning', 'tool_call'])

/** Turns a body into the event that creates a response. Removes parameters of HTTP, which are in the first piece. */
function createEvent([first = NOTHING, ...more]: readonly Buffer[], previous?: string): Buffer[] {
  const at = first.indexOf(ONLY_HTTP)
  const id = previous === undefined ? '' : `"previous_response_id":${JSON.stringify(previous)},`
  const opening = Buffer.from(`{"type":"response.create",${id}`)
  if (at < 0) return [opening, first.subarray(1), ...more]
  return [opening, first.subarray(1, at), first.subarray(at + ONLY_HTTP.length), ...more]
}

const NOTHING = Buffer.alloc(0)
/** A parameter. No text can contain it, because quotes in texts are escaped. */
const ONLY_HTTP = Buffer.from('"stream":true,')
