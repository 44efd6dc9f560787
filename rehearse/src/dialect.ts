import type { ModelFacts } from '../../src/model/model-facts.ts'
import type { RehearsalRequest } from '../../src/providers/rehearsal/schema.ts'
import type { CacheRequest, CacheUse } from './prompt-cache.ts'
import type { Leniency } from './rules/leniency.ts'
import type { WireRefusal } from './rules/refusal.ts'
import type { ValuePath } from './rules/schema-problems.ts'

/** What decides how a request is read. */
export interface RequestReading {
  readonly factsOf: (model: string) => ModelFacts
  readonly leniency: Leniency
}

/** A request in a vendor's dialect, parsed. */
export interface ParsedRequest {
  readonly model: string
  /** Whether the client wants the answer as events. */
  readonly streams: boolean
  /** What the model reads. */
  readonly request: RehearsalRequest
  /** The same in cache order. */
  readonly cache: Pick<CacheRequest, 'key' | 'blocks' | 'marks'>
  /** The pictures and documents in it, in order. */
  readonly media: readonly Media[]
  /** The maximum length of the answer, in tokens. */
  readonly limit?: number | undefined
  /** The stop sequences: texts that end the answer. */
  readonly stops: readonly string[]
  /** Whether the answer may contain more than one call. */
  readonly parallel: boolean
  /** Writes the answer as the vendor does. Call it once per request. */
  readonly render: (answer: ModelAnswer) => ServedAnswer
}

export interface Media {
  readonly at: ValuePath
  readonly media_type: string
  readonly bytes: Buffer
}

/** An answer of the model, in no vendor's format. */
export interface ModelAnswer {
  readonly model: string
  readonly text: string
  readonly calls: readonly AnswerCall[]
  /** Why the answer ended. */
  readonly end: 'done' | 'limit' | { readonly stop: string }
  readonly usage: AnswerUsage
  /** Seconds since 1970. */
  readonly createdAt: number
  /** Returns an id that was never used before, such as `msg_1a2b…`. */
  readonly newId: (prefix: string) => string
}

/** The tokens of a request and of its answer. */
export interface AnswerUsage extends Omit<CacheUse, 'isOverflow'> {
  readonly output: number
  readonly reasoning: number
}

export interface AnswerCall {
  readonly name: string
  /** JSON, complete unless the limit cut it off. */
  readonly arguments: string
}

export interface ServedAnswer {
  readonly events: readonly object[]
  /** The answer as one object, for a client that does not stream. */
  readonly whole: object
}

export type Read =
  | { readonly ok: true; readonly request: ParsedRequest }
  | { readonly ok: false; readonly refusal: WireRefusal }

export function refusedRead(refusal: WireRefusal): Read {
  return { ok: false, refusal }
}

/** The bounds on the number of pieces that a text is sent in, and the usual length of a piece. */
const FEWEST_PIECES = 3
const MOST_PIECES = 200
const PIECE = 24

/** Splits a text into pieces. No piece is empty or ends inside a character. */
export function piecesOf(text: string): readonly string[] {
  const { length } = text
  const size = Math.max(Math.min(PIECE, length / FEWEST_PIECES), length / MOST_PIECES)
  return text.match(new RegExp(`.{1,${Math.max(1, Math.ceil(size))}}`, 'gsu')) ?? []
}
