import { failed, ok, type Failed, type Result } from '../../src/model/errors.ts'

/** The faults to inject into one response, to test how clients handle them. */
export interface Faults {
  /** The delay before the first byte of the answer. */
  readonly delayMs: number
  /** The connection ends after this many bytes of the answer. */
  readonly cutAfter?: number
  /** The status to return instead of the model's answer. */
  readonly status?: number
  /** The `retry-after` header of that response, in seconds. */
  readonly retryAfter?: number
  /** The index of the event, from 0, that is sent as invalid JSON; `middle` is the event in the middle. */
  readonly malformed?: FrameNumber
  /** The event that is sent twice. */
  readonly duplicate?: FrameNumber
  /** The event that is swapped with the next one. */
  readonly outOfOrder?: FrameNumber
  /** A request with more tokens is refused as too long. */
  readonly overflowAt?: number
  readonly refuseImages: boolean
  /** The connection is destroyed before any byte of an answer. */
  readonly close: boolean
  /** Applies to the first request with this text only; see `OnceOnly`. */
  readonly once?: string
}

type FrameNumber = number | 'middle'

export const NO_FAULTS: Faults = { delayMs: 0, refuseImages: false, close: false }

/** Every switch as a person types it. */
export const SWITCHES = [
  'delay:MS',
  'cut:BYTES',
  'status:429|529|503|500',
  'retry-after:SECONDS',
  'malformed[:EVENT]',
  'duplicate[:EVENT]',
  'out-of-order[:EVENT]',
  'overflow:TOKENS',
  'refuse-images',
  'close',
  'once[:LABEL]',
  'strict',
] as const

/** Header names are lower case. */
export type FaultHeaders = Readonly<Record<string, string | readonly string[] | undefined>>

export interface RequestSwitches {
  /** Without its switches. */
  readonly path: string
  readonly faults: Faults
  /** Every field that the types of the vendor's SDK lack is refused: see `rules/leniency.ts`. */
  readonly strict: boolean
}

/**
 * Reads the switches of a request: `?rehearse=delay:200,cut:300`, the header `x-rehearse: cut:300`, or the first segments of
 * the path as in `/~strict/~cut:300,delay:20/v1/messages`, for clients that accept only a base URL. All three are combined.
 */
export function readFaults(
  path: string,
  query: URLSearchParams,
  headers: FaultHeaders,
): Result<RequestSwitches> {
  const leading = LEADING.exec(path)?.[0] ?? ''
  const texts = [
    ...leading.split('/').map((segment) => decodeSegment(segment.slice(1))),
    ...query.getAll('rehearse'),
    ...[headers['x-rehearse'] ?? []].flat(),
  ]
  const joined = texts.join(',')
  const switches = joined.split(',').flatMap((one) => (one.trim() === '' ? [] : [one.trim()]))
  const faults = faultsOf(switches.filter((one) => one !== STRICT))
  if (!faults.ok) return faults
  const rest = path.slice(leading.length)
  return ok({
    path: rest === '' ? '/' : rest,
    faults: faults.value,
    strict: switches.includes(STRICT),
  })
}

const LEADING = /^(?:\/~[^/]*)+/
const STRICT = 'strict'

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

function faultsOf(switches: readonly string[]): Result<Faults> {
  const names = new Set<string>()
  const parts: Partial<Faults>[] = []
  for (const one of switches) {
    const [name, value] = splitAtColon(one)
    if (names.has(name)) return unfit(one, 'is repeated')
    names.add(name)
    const meaning = MEANINGS.get(name)
    if (meaning === undefined) return unfit(one, 'is unknown')
    const part = meaning(value)
    if (part === undefined) return unfit(one, 'has an invalid value')
    parts.push(part)
  }
  if (names.has('retry-after') && !names.has('status')) {
    return unfit('retry-after', 'requires a status')
  }
  if (names.has('once')) parts.push({ once: switches.join(',') })
  return ok(parts.reduce<Faults>((all, part) => Object.assign(all, part), { ...NO_FAULTS }))
}

function splitAtColon(text: string): [string, string | undefined] {
  const colon = text.indexOf(':')
  return colon === -1 ? [text, undefined] : [text.slice(0, colon), text.slice(colon + 1)]
}

/** The faults that a switch with this value causes; `undefined` if the value is invalid. */
type Meaning = (value: string | undefined) => Partial<Faults> | undefined

const LONGEST_DELAY_MS = 60_000
const LABEL = /^[\w.-]{1,64}$/

const MEANINGS: ReadonlyMap<string, Meaning> = new Map([
  ['delay', counting((delayMs) => ({ delayMs }), LONGEST_DELAY_MS)],
  ['cut', counting((cutAfter) => ({ cutAfter }))],
  ['status', counting((status) => (STATUSES.has(status) ? { status } : undefined))],
  ['retry-after', counting((retryAfter) => ({ retryAfter }))],
  ['malformed', frameNumber((malformed) => ({ malformed }))],
  ['duplicate', frameNumber((duplicate) => ({ duplicate }))],
  ['out-of-order', frameNumber((outOfOrder) => ({ outOfOrder }))],
  ['overflow', counting((overflowAt) => ({ overflowAt }))],
  ['refuse-images', (value) => (value === undefined ? { refuseImages: true } : undefined)],
  ['close', (value) => (value === undefined ? { close: true } : undefined)],
  ['once', (value) => (value === undefined || LABEL.test(value) ? {} : undefined)],
])
const STATUSES: ReadonlySet<number> = new Set([429, 529, 503, 500])

function counting(made: (value: number) => Partial<Faults> | undefined, most = 1e9): Meaning {
  return (value = '') => {
    const count = /^\d{1,10}$/.test(value) ? Number(value) : Infinity
    return count <= most ? made(count) : undefined
  }
}

function frameNumber(made: (value: FrameNumber) => Partial<Faults>): Meaning {
  return (value) => (value === undefined ? made('middle') : counting(made)(value))
}

function unfit(one: string, why: string): Failed {
  const known = SWITCHES.join(', ')
  const shown = one.slice(0, 64)
  return failed('invalid_args', `The switch “${shown}” ${why}. Known switches: ${known}.`, {
    switch: shown,
    known: SWITCHES,
  })
}

/** Remembers which `once` switches were used already. The number is bounded: the oldest are forgotten. */
export class OnceOnly {
  readonly #onceKeys = new Set<string>()

  /** The faults of this request. Call it once per request, and only for a request that the model would answer. */
  now(faults: Faults): Faults {
    const { once } = faults
    if (once === undefined) return faults
    if (this.#onceKeys.has(once)) return NO_FAULTS
    this.#onceKeys.add(once)
    for (const oldest of this.#onceKeys) {
      if (this.#onceKeys.size <= MOST_HELD) break
      this.#onceKeys.delete(oldest)
    }
    return faults
  }
}

const MOST_HELD = 10_000

/**
 * The events of an answer as they are sent: each a frame of server-sent events, or a message of a socket. With `whole`, the
 * cut is before the frame that does not fit, because a socket never delivers part of a message. See `cutShort`. Pure.
 */
export function spoilFrames(
  frames: readonly Buffer[],
  faults: Faults,
  { whole = false }: { readonly whole?: boolean } = {},
): Buffer[] {
  const { malformed, duplicate, outOfOrder, cutAfter } = faults
  let all = [...frames]
  const at = (number: FrameNumber) => (number === 'middle' ? (frames.length - 1) >> 1 : number)
  if (malformed !== undefined) {
    all = all.map((frame, index) => (index === at(malformed) ? cutInHalf(frame) : frame))
  }
  if (duplicate !== undefined) {
    all = all.flatMap((frame, index) => (index === at(duplicate) ? [frame, frame] : [frame]))
  }
  if (outOfOrder !== undefined) {
    const [first, second] = all.slice(at(outOfOrder), at(outOfOrder) + 2)
    if (first !== undefined && second !== undefined) all.splice(at(outOfOrder), 2, second, first)
  }
  return cutAfter === undefined ? all : cut(all, cutAfter, whole)
}

/** Whether the connection is destroyed after the frames instead of being closed. */
export function cutShort(frames: readonly Buffer[], faults: Faults): boolean {
  const { cutAfter, ...others } = faults
  return cutAfter !== undefined && lengthOf(spoilFrames(frames, others)) > cutAfter
}

function cut(frames: readonly Buffer[], bytes: number, whole: boolean): Buffer[] {
  const kept: Buffer[] = []
  let left = bytes
  for (const frame of frames) {
    if (frame.length > left) {
      if (!whole && left > 0) kept.push(frame.subarray(0, left))
      break
    }
    kept.push(frame)
    left -= frame.length
  }
  return kept
}

function lengthOf(frames: readonly Buffer[]): number {
  return frames.reduce((sum, { length }) => sum + length, 0)
}

/** Removes the second half of the JSON and leaves the frame around it intact. */
function cutInHalf(frame: Buffer): Buffer {
  const text = frame.toString('utf8')
  const field = text.startsWith('{') ? null : /^data: ?/m.exec(text)
  const from = field === null ? 0 : field.index + field[0].length
  const to = text.trimEnd().length
  return Buffer.from(text.slice(0, from + ((to - from) >> 1)) + text.slice(to))
}
