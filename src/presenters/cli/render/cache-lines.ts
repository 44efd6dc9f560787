import { ResetReason, type BreakCause } from '../../../model/prefix-break.ts'
import type { CacheFinding } from '../../../session/queries/cache-finding.ts'
import type { CacheSummary, ExplainedRequest } from '../../../session/queries/cache-report.ts'
import { countOf, groupDigits } from '../../../encoding/amounts.ts'
import { PLAIN, type Line, type Style } from '../text/cell-width.ts'

/**
 * A request as text: a row of figures, and notes below it. A heading is added when model, dialect, transport or contract
 * differ from the previous request. Pure.
 */
export function requestLines(request: ExplainedRequest, before?: ExplainedRequest): Line[] {
  const way = wayOf(request)
  const heading = before !== undefined && wayOf(before) === way ? [] : headingLines(way)
  return [
    ...heading,
    row(figuresOf(request), PLAIN),
    ...answerNotes(request),
    ...continuationNotes(request),
    ...breakNotes(request),
    ...findingNotes(request),
  ]
}

/** Why less of a request was cached than could have been; nothing if there is no reason. Pure. */
export function reasonLines(request: ExplainedRequest): Line[] {
  const notes = [...breakNotes(request), ...findingNotes(request)]
  if (notes.length === 0) return []
  const { turn, call_index } = request
  return [[{ text: `Turn ${turn}, request ${call_index + 1}:`, style: PLAIN }], ...notes]
}

/** Totals of all requests: what was cached of what could have been. Pure. */
export function summaryLines(summary: CacheSummary): Line[] {
  const { requests, answered, after_first, request_bytes, sent_bytes, continued } = summary
  if (requests === 0) return [[{ text: 'No request was sent.', style: PLAIN }]]
  const { cached_read, input } = after_first
  const cached =
    answered < 2
      ? `${countOf(requests, 'request')}; caching is visible from the second response on.`
      : `${countOf(requests, 'request')}; after the first call ${percent(after_first.cached_ratio)} of the tokens were cached: ${groupDigits(cached_read)} of ${groupDigits(input)}.`
  const sent =
    continued === 0
      ? undefined
      : `${groupDigits(continued)} continued on a socket: ${groupDigits(sent_bytes)} of ${countOf(request_bytes, 'byte')} were sent.`
  const none =
    summary.findings['no_cache'] === undefined ? undefined : `${findingWords('no_cache', '')}.`
  return [cached, sent, none].flatMap((text) =>
    text === undefined ? [] : [[{ text, style: PLAIN }]],
  )
}

function wayOf({ model, dialect, transport, contract_version }: ExplainedRequest): string {
  return `${model} (${dialect} over ${transport}, contract ${contract_version})`
}

function headingLines(way: string): Line[] {
  return [[{ text: way, style: { bold: true } }], row(HEADINGS, { dim: true })]
}

const HEADINGS = ['Request', 'Bytes', 'Sent', 'Shared', 'Input', 'Cached', 'Written']

/** Fixed, because rows are printed while the Log is read. */
const WIDTHS = [12, 12, 12, 8, 11, 8, 11]

function row(cells: readonly string[], style: Style): Line {
  const padded = cells.map((text, at) =>
    at === 0 ? text.padEnd(WIDTHS[at] ?? 0) : text.padStart(WIDTHS[at] ?? 0),
  )
  return [{ text: padded.join(''), style }]
}

function figuresOf(request: ExplainedRequest): string[] {
  const { turn, call_index, attempt, request_bytes, sent_bytes, kept_ratio, usage } = request
  const tried = attempt === 0 ? '' : ` (${attempt + 1})`
  const tokens =
    usage === undefined
      ? ['-', '-', '-']
      : [groupDigits(usage.input), percent(usage.cached_ratio), groupDigits(usage.cache_write)]
  return [
    `${turn}.${call_index}${tried}`,
    groupDigits(request_bytes),
    groupDigits(sent_bytes),
    kept_ratio === undefined ? '-' : percent(kept_ratio),
    ...tokens,
  ]
}

function percent(ratio: number): string {
  return `${Math.round(ratio * 100)} %`
}

function answerNotes({ usage }: ExplainedRequest): Line[] {
  return usage === undefined ? [note('no response was completed')] : []
}

function continuationNotes({ continuation }: ExplainedRequest): Line[] {
  if (continuation === undefined) return []
  if (continuation.used) return [note('continued: only new items were sent')]
  const { reset_reason = '' } = continuation
  // A Log of another version may contain an unknown reason.
  const known = ResetReason.safeParse(reset_reason).data
  const why = known === undefined ? reset_reason : RESETS[known]
  return [note(`sent in full: ${why === '' ? 'no reason recorded' : why}`)]
}

const RESETS: Readonly<Record<ResetReason, string>> = {
  no_previous_response: 'there was no previous response to continue from',
  surface_changed: 'the surface (instructions or tools) changed',
  params_changed: 'request parameters changed',
  model_changed: 'the model changed',
  dialect_changed: 'the dialect changed',
  compaction: 'a checkpoint replaced older History',
  compaction_undone: 'a Compaction was undone',
  transient_retired: 'bytes sent for one Turn only were retired',
  resource_quarantined: 'a Resource rejected by the provider is no longer sent',
  resource_dropped: 'a Resource was dropped',
  payload_missing: 'stored bytes are missing',
  forked: 'the Session was forked',
  prefix_mismatch: 'it does not start with the whole previous request',
  previous_response_not_found: 'the provider no longer had the previous response',
  reconnected: 'the connection is new',
  fallback: 'the socket failed, so HTTP was used',
  relayed: 'the relay of a guest has no sockets',
}

function breakNotes({ prefix_break, seq }: ExplainedRequest): Line[] {
  if (prefix_break === undefined) return []
  const { at, cause } = prefix_break
  const where =
    at === 0
      ? 'shares nothing with the previous request'
      : `prefix breaks at byte ${groupDigits(at)}`
  const isBug = cause === 'unknown'
  const explained = note(`${where}: ${CAUSES[cause]}`, isBug ? { colour: 'red' } : { dim: true })
  return isBug
    ? [explained, note(`report it with the output of \`hawser log verify\` for Event ${seq}`)]
    : [explained]
}

const CAUSES: Readonly<Record<BreakCause, string>> = {
  surface: 'the surface (instructions or tools) changed',
  params: 'request parameters changed',
  model: 'the model changed',
  dialect: 'the dialect changed',
  checkpoint: 'a checkpoint replaced older History',
  undo: 'a Compaction was undone',
  transient_retired: 'bytes sent for one Turn only were retired',
  quarantine: 'a Resource rejected by the provider is no longer sent',
  drop: 'a Resource was dropped',
  payload_missing: 'stored bytes are missing',
  fork: 'the Session was forked',
  unknown: 'no Event explains it; this is a bug in Hawser',
}

function findingNotes(request: ExplainedRequest): Line[] {
  const { finding, shared_ratio, usage, idle_ms = 0 } = request
  // A break has its own note, and a provider without a cache is mentioned in the summary.
  if (finding === undefined || finding === 'bug' || finding === 'no_cache') return []
  const compared = `${percent(shared_ratio)} of its bytes were sent before, but ${percent(usage?.cached_ratio ?? 0)} of tokens were cached`
  return [note(`${compared}: ${findingWords(finding, duration(idle_ms))}`, { colour: 'yellow' })]
}

function findingWords(finding: CacheFinding, idle: string): string {
  switch (finding) {
    case 'bug':
      return CAUSES.unknown
    case 'no_cache':
      return 'The offline demo model has no cache'
    case 'too_short':
      return 'the shared prefix is too short to be cached'
    case 'key_changed':
      return 'the cache key differs from the previous request'
    case 'cold':
      return `the provider's cache was cold (${idle} since the last call)`
    case 'crowded':
      return 'too many requests per minute for this cache key'
    case 'unexplained':
      return 'nothing in the Log explains it, so the cause is on the provider side'
    default:
      return finding satisfies never
  }
}

function duration(ms: number): string {
  const minutes = Math.floor(ms / 60_000)
  if (minutes < 1) return `${Math.round(ms / 1000)} s`
  return minutes < 120 ? `${minutes} min` : `${Math.floor(minutes / 60)} h`
}

function note(text: string, style: Style = { dim: true }): Line {
  return [{ text: `    ${text}`, style }]
}
