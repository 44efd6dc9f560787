import { sha256 } from '../../src/encoding/hash.ts'
import { canonicalJson } from '../../src/encoding/json.ts'
import type { Clock } from '../../src/host/clock.ts'
import type { ModelFacts } from '../../src/model/model-facts.ts'
import type { Describe } from '../../src/model/description.ts'
import type { Thought } from '../../src/providers/rehearsal/brain.ts'
import type { Brain } from '../../src/providers/rehearsal/rehearsal-brain.ts'
import { BYTES_A_TOKEN, tokensIn } from './cache-blocks.ts'
import type { ModelAnswer, AnswerCall, ParsedRequest, ServedAnswer } from './dialect.ts'
import type { Faults } from './faults.ts'
import { refusedMedia } from './media-check.ts'
import type { CacheUse, PromptCache } from './prompt-cache.ts'
import { wrong, type WireRefusal } from './rules/refusal.ts'

export interface ExchangeParts {
  readonly brain: Brain
  /** Without it, pictures and documents are not checked. */
  readonly describe?: Describe | undefined
  readonly cache: PromptCache
  readonly clock: Clock
  /** Makes the ids of this server differ from those of any other. */
  readonly seed: string
}

export type ExchangeResult =
  | { readonly ok: true; readonly answer: ServedAnswer; readonly usage: CacheUse }
  | { readonly ok: false; readonly refusal: WireRefusal }

/** The client, the model and the faults of one request. */
interface RequestContext {
  /** The API key. Requests with different keys share no cache entries. */
  readonly key: string
  readonly facts: ModelFacts
  readonly faults: Faults
  /** Whether the request only fills the cache, without an answer of the model. */
  readonly silent?: boolean
}

/** Answers parsed requests: runs the model, counts cached tokens, and writes the answer in the vendor's format. */
export class Exchange {
  readonly #parts: ExchangeParts
  #ids = 0

  constructor(parts: ExchangeParts) {
    this.#parts = parts
  }

  async answer(
    parsed: ParsedRequest,
    { key, facts, faults, silent = false }: RequestContext,
  ): Promise<ExchangeResult> {
    const { brain, describe, cache, clock } = this.#parts
    const { model, media } = parsed
    const tokens = tokensIn(parsed.cache.blocks)
    const refusal =
      tooManyTokens(tokens, facts, faults) ??
      (faults.refuseImages ? refusedImage(parsed) : undefined) ??
      (describe && (await refusedMedia(media, facts, describe)))
    if (refusal !== undefined) return { ok: false, refusal }
    const content = within(silent ? NO_THOUGHT : await brain(parsed.request), parsed)
    const owner = `${sha256(key)} ${parsed.cache.key}`
    const usage = cache.use({ ...parsed.cache, model, key: owner })
    const { input, cached_read, cache_write } = usage
    const answer = parsed.render({
      ...content,
      model,
      usage: { input, cached_read, cache_write, output: tokensOf(content), reasoning: 0 },
      createdAt: Math.floor(clock.now() / 1000),
      newId: this.newId,
    })
    return { ok: true, answer, usage }
  }

  readonly newId = (prefix: string): string => {
    this.#ids += 1
    return `${prefix}_${sha256(`${this.#parts.seed} ${this.#ids}`).slice(0, 24)}`
  }
}

function tooManyTokens(
  tokens: number,
  { window_tokens }: ModelFacts,
  { overflowAt }: Faults,
): WireRefusal | undefined {
  const most = Math.min(overflowAt ?? Infinity, window_tokens ?? Infinity)
  if (tokens <= most) return undefined
  const message = `The prompt is too long: ${tokens} tokens, and ${most} is the maximum.`
  return { status: 400, message, code: 'context_length_exceeded' }
}

function refusedImage({ media }: ParsedRequest): WireRefusal | undefined {
  const image = media.find(({ media_type }) => media_type.startsWith('image/'))
  return image && wrong(image.at, 'the image could not be processed', 'invalid_image')
}

const NO_THOUGHT: Thought = { text: '', calls: [] }

type AnswerContent = Pick<ModelAnswer, 'text' | 'calls' | 'end'>

/** Ends the answer at a stop sequence or at the limit. */
function within(
  { text, calls }: Thought,
  { stops, limit, parallel }: ParsedRequest,
): AnswerContent {
  const requested = (parallel ? calls : calls.slice(0, 1)).map((call) => ({
    name: call.name,
    arguments: canonicalJson(call.arguments),
  }))
  const [first] = stops
    .filter((stop) => text.includes(stop))
    .toSorted((a, b) => text.indexOf(a) - text.indexOf(b))
  if (first !== undefined) {
    return { text: text.slice(0, text.indexOf(first)), calls: [], end: { stop: first } }
  }
  return limit === undefined
    ? { text, calls: requested, end: 'done' }
    : cutAt(limit * BYTES_A_TOKEN, text, requested)
}

function cutAt(bytes: number, text: string, calls: readonly AnswerCall[]): AnswerContent {
  const shown = firstBytes(text, bytes)
  if (shown !== text) return { text: shown, calls: [], end: 'limit' }
  let left = bytes - Buffer.byteLength(text)
  const kept: AnswerCall[] = []
  for (const call of calls) {
    const written = firstBytes(call.arguments, left - Buffer.byteLength(call.name))
    if (written !== call.arguments) {
      return { text, calls: [...kept, { ...call, arguments: written }], end: 'limit' }
    }
    kept.push(call)
    left -= Buffer.byteLength(call.name) + Buffer.byteLength(written)
  }
  return { text, calls: kept, end: 'done' }
}

/** Never cuts a character in half. */
function firstBytes(text: string, most: number): string {
  const bytes = Buffer.from(text)
  let end = Math.max(0, Math.min(most, bytes.length))
  // A byte of the form 10xxxxxx continues a character.
  while (end < bytes.length && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1
  return bytes.toString('utf8', 0, end)
}

function tokensOf({ text, calls }: AnswerContent): number {
  const written = calls.map(({ name, arguments: json }) => name + json)
  return Math.ceil(Buffer.byteLength([text, ...written].join('')) / BYTES_A_TOKEN)
}
