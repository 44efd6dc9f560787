import type { ModelFacts } from '../../../model/model-facts.ts'
import type { CallUsage } from '../../provider.ts'
import type { RehearsalRequest } from '../schema.ts'
import type { CacheRequest } from './prompt-cache.ts'
import type { Leniency } from './rules/leniency.ts'
import type { WireRefusal } from './rules/refusal.ts'
import type { Place } from './rules/schema-problems.ts'

/** What a request is read by. */
export interface RequestReading {
  readonly factsOf: (model: string) => ModelFacts
  readonly leniency: Leniency
}

/** A request of a vendor's dialect, understood. */
export interface Asked {
  readonly model: string
  /** Whether the answer is to come as events. */
  readonly streams: boolean
  /** What the model reads. */
  readonly request: RehearsalRequest
  /** The same in cache order. */
  readonly cache: Pick<CacheRequest, 'key' | 'blocks' | 'marks'>
  /** Pictures and documents that are in it, in order. */
  readonly media: readonly Media[]
  /** How long the answer may become, in tokens. */
  readonly limit?: number | undefined
  /** Texts at which the answer ends. */
  readonly stops: readonly string[]
  /** Whether calls may be made side by side. */
  readonly parallel: boolean
  /** The answer as the vendor sends it. To be asked for once. */
  readonly told: (answer: ModelAnswer) => ServedAnswer
}

export interface Media {
  readonly at: Place
  readonly media_type: string
  readonly bytes: Buffer
}

/** An answer of the model in no vendor's words. */
export interface ModelAnswer {
  readonly model: string
  readonly text: string
  readonly calls: readonly AnswerCall[]
  /** Why it ended. */
  readonly end: 'done' | 'limit' | { readonly stop: string }
  readonly usage: CallUsage
  /** Seconds since 1970. */
  readonly created: number
  /** An id that was never given before, as in `msg_1a2b…`. */
  readonly newId: (prefix: string) => string
}

export interface AnswerCall {
  readonly name: string
  /** JSON, whole unless the limit cut it off. */
  readonly arguments: string
}

export interface ServedAnswer {
  readonly events: readonly object[]
  /** The answer for whoever wants it at once. */
  readonly whole: object
}

export type Read =
  | { readonly ok: true; readonly asked: Asked }
  | { readonly ok: false; readonly refusal: WireRefusal }

export function refused(refusal: WireRefusal): Read {
  return { ok: false, refusal }
}

/** In how many pieces a text is sent, when it is long enough, and how long a piece is while they are not too many. */
const FEWEST_PIECES = 3
const MOST_PIECES = 200
const PIECE = 24

/** Never empty ones, and never half a character. */
export function piecesOf(text: string): readonly string[] {
  const { length } = text
  const size = Math.max(Math.min(PIECE, length / FEWEST_PIECES), length / MOST_PIECES)
  return text.match(new RegExp(`.{1,${Math.max(1, Math.ceil(size))}}`, 'gsu')) ?? []
}
