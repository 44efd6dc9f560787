import { thawSurface } from '../../../src/prompt/surface.ts'
import type { RequestInputs } from '../../../src/request/predict.ts'
import { Conversation } from '../../../src/history/conversation.ts'
import { sealLine } from '../../../src/log/line.ts'
import { LOG_START, scan } from '../../../src/log/scan.ts'
import { sha256 } from '../../../src/encoding/hash.ts'
import type { ConversationItem } from '../../../src/model/conversation.ts'
import type { WholeEvent } from '../../../src/model/events/event.ts'
import type { Segment } from '../../../src/model/segment.ts'
import type { Surface } from '../../../src/model/surface.ts'
import { escapedItems } from '../../../src/request/escaped-items.ts'
import { CrashDisk } from '../host/crash-disk.ts'
import { DIALECTS, type DialectName } from '../providers/dialects.ts'
import { SAMPLE_SESSION, generateLog, type GeneratedLog } from './log-generator.ts'
import { overwrite } from '../log/raw-log.ts'

/** A request of a generated Log: the input it was built from, its segments, and its body as it would be sent. */
export interface GeneratedRequest {
  readonly inputs: RequestInputs
  readonly items: readonly ConversationItem[]
  readonly segments: readonly Segment[]
  readonly body: Buffer
}

/** A mistake to plant in the building of requests; each step is correct by default. */
export interface Mistake {
  readonly items?: (items: ConversationItem[], events: readonly WholeEvent[]) => ConversationItem[]
  readonly segments?: (segments: Segment[], events: readonly WholeEvent[]) => Segment[]
  readonly body?: (body: Buffer) => Buffer
}

export interface GenerateOptions {
  readonly mistake?: Mistake
  readonly dialect?: DialectName
  /** With Turns that only ask for a summary. */
  readonly summaries?: boolean
}

/** Every request of the Log with that seed, built from its raw lines. */
export async function generatedRequests(
  seed: number,
  { mistake = {}, dialect = 'rehearsal', summaries = false }: GenerateOptions = {},
): Promise<GeneratedRequest[]> {
  const { log, events } = await readLog(seed, dialect, summaries)
  const requests: GeneratedRequest[] = []
  let surface: Surface | undefined
  for (const [at, event] of events.entries()) {
    if (event.type === 'prompt_surface') {
      surface = thawSurface(log.blobs.get(event.data.blob) ?? Buffer.alloc(0))
    }
    if (event.type !== 'provider_request' || surface === undefined) continue
    const options = { log, mistake, dialect, summaries }
    requests.push(requestAt(events.slice(0, at), event.turn_id, surface, options))
  }
  return requests
}

/** The Events of the Log with that seed. */
export async function generatedEvents(seed: number): Promise<WholeEvent[]> {
  return [...(await readLog(seed, 'rehearsal', false)).events]
}

interface ReadLog {
  readonly log: GeneratedLog
  readonly events: readonly WholeEvent[]
}

/** The Log with that seed. The last ones are kept, because many tests use the same seeds. */
async function readLog(seed: number, dialect: DialectName, summaries: boolean): Promise<ReadLog> {
  const name = `${seed} ${dialect} ${summaries}`
  const known = READ.get(name)
  if (known !== undefined) return known
  const log = generateLog(seed, dialect, summaries)
  const read = { log, events: await eventsOf(log) }
  READ.set(name, read)
  const [oldest] = READ.keys()
  if (READ.size > MOST_READ && oldest !== undefined) READ.delete(oldest)
  return read
}

const READ = new Map<string, ReadLog>()
const MOST_READ = 120

function requestAt(
  events: readonly WholeEvent[],
  turn: WholeEvent['turn_id'],
  surface: Surface,
  { log: { blobs }, mistake, dialect }: Required<GenerateOptions> & { readonly log: GeneratedLog },
): GeneratedRequest {
  const { encode, buildBody } = DIALECTS[dialect]
  const folded = new Conversation(events, { turn, replay: surface.params.replay }).items()
  const loaded = folded.map((item): ConversationItem => {
    if (!('parts' in item)) return item
    const parts = item.parts.map((part) => {
      const bytes = part.type === 'blob' ? blobs.get(part.blob) : undefined
      return bytes === undefined ? part : { ...part, bytes }
    })
    return { ...item, parts }
  })
  const items = mistake.items?.(loaded, events) ?? loaded
  const right = encode(escapedItems(items, dialect, surface.params), surface)
  const segments = mistake.segments?.(right, events) ?? right
  const surfaceSegments = segments.slice(0, encode([], surface).length)
  // Marks move from request to request, as in a Session.
  const marks = [{ after: surfaceSegments.length }, { after: segments.length }]
  const built = buildBody(segments, { cacheKey: 'hw1', marks })
  const body = mistake.body?.(built) ?? built
  return { items, segments, body, inputs: { dialect, surface, surfaceSegments, events, turn } }
}

/** Writes the Log to a disk as lines and reads it back. */
async function eventsOf({ drafts, ids }: GeneratedLog): Promise<WholeEvent[]> {
  let prev: string | null = null
  const lines = drafts.map(({ type, data, turn_id }, seq) => {
    const id = ids[seq]
    if (id === undefined) throw new Error('an Event without an id')
    const turn = turn_id === undefined ? {} : { turn_id }
    const ts = '2026-01-31T12:00:00.000Z'
    const unsealed = {
      id,
      session_id: SAMPLE_SESSION,
      ...turn,
      ts,
      type,
      data: JSON.stringify(data),
    }
    const { bytes } = sealLine(unsealed, seq, prev, 0)
    prev = sha256(bytes.subarray(0, -1))
    return bytes
  })
  const folder = new CrashDisk(1).folder()
  await overwrite(folder, 'log', Buffer.concat(lines))
  const file = await folder.open('log', 'read')
  const events: WholeEvent[] = []
  const options = { session: SAMPLE_SESSION, strict: true, from: LOG_START }
  const end = await scan(file, options, ({ content }) => {
    if (!content.isKnown) throw new Error(`an Event that is not known: ${content.event.type}`)
    // No generated field is long enough to be spilled, so the stored Event is whole.
    events.push(content.event as WholeEvent)
  })
  if (end.fault !== undefined) throw new Error(end.fault.reason)
  return events
}
