import { sha256 } from '../../../encoding/hash.ts'
import { canonicalJson } from '../../../encoding/json.ts'
import type { Clock } from '../../../host/clock.ts'
import { systemIds } from '../../../host/ids.ts'
import type { ModelFacts } from '../../../model/model-facts.ts'
import type { Describe } from '../../../model/sight.ts'
import type { Thought } from '../brain.ts'
import type { Brain } from '../rehearsal-brain.ts'
import { BYTES_A_TOKEN, tokensIn } from './cache-blocks.ts'
import type { ModelAnswer, AnswerCall, Asked, ServedAnswer } from './dialect.ts'
import type { Faults } from './faults.ts'
import { refusedMedia } from './media-check.ts'
import type { CacheUse, PromptCache } from './prompt-cache.ts'
import { wrong, type WireRefusal } from './rules/refusal.ts'

export interface ExchangeParts {
  readonly brain: Brain
  /** Without it nobody looks whether pictures and documents can be read. */
  readonly describe?: Describe | undefined
  readonly cache: PromptCache
  readonly clock: Clock
}

export type Exchanged =
  | { readonly ok: true; readonly told: ServedAnswer; readonly usage: CacheUse }
  | { readonly ok: false; readonly refusal: WireRefusal }

/** What is known of whoever asks, and of the model they ask. */
interface Asking {
  /** Requests of another key find nothing of this one's in the cache. */
  readonly key: string
  readonly facts: ModelFacts
  readonly faults: Faults
  /** Whether the model only reads, so that the cache is filled. */
  readonly silent?: boolean
}

/** Answers requests that were understood: the model thinks, the cache counts, and the vendor's words are put around it. */
export class Exchange {
  readonly #parts: ExchangeParts
  readonly #seed: string
  #ids = 0

  constructor(parts: ExchangeParts) {
    this.#parts = parts
    this.#seed = systemIds(parts.clock).event()
  }

  async answer(asked: Asked, { key, facts, faults, silent = false }: Asking): Promise<Exchanged> {
    const { brain, describe, cache, clock } = this.#parts
    const { model, media } = asked
    const tokens = tokensIn(asked.cache.blocks)
    const refusal =
      tooManyTokens(tokens, facts, faults) ??
      (faults.refuseImages ? notTaken(asked) : undefined) ??
      (describe && (await refusedMedia(media, facts, describe)))
    if (refusal !== undefined) return { ok: false, refusal }
    const said = within(silent ? NO_THOUGHT : await brain(asked.request), asked)
    const owner = `${sha256(key)} ${asked.cache.key}`
    const usage = cache.use({ ...asked.cache, model, key: owner })
    const { input, cached_read, cache_write } = usage
    const told = asked.told({
      ...said,
      model,
      usage: { input, cached_read, cache_write, output: tokensOf(said), reasoning: 0 },
      created: Math.floor(clock.now() / 1000),
      newId: this.newId,
    })
    return { ok: true, told, usage }
  }

  readonly newId = (prefix: string): string => {
    this.#ids += 1
    return `${prefix}_${sha256(`${this.#seed} ${this.#ids}`).slice(0, 24)}`
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

function notTaken({ media }: Asked): WireRefusal | undefined {
  const image = media.find(({ media_type }) => media_type.startsWith('image/'))
  return image && wrong(image.at, 'the image could not be processed', 'invalid_image')
}

const NO_THOUGHT: Thought = { text: '', calls: [] }

type Saying = Pick<ModelAnswer, 'text' | 'calls' | 'end'>

/** What a model says ends where it was told to end. */
function within({ text, calls }: Thought, { stops, limit, parallel }: Asked): Saying {
  const asked = (parallel ? calls : calls.slice(0, 1)).map((call) => ({
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
    ? { text, calls: asked, end: 'done' }
    : cutAt(limit * BYTES_A_TOKEN, text, asked)
}

function cutAt(bytes: number, text: string, calls: readonly AnswerCall[]): Saying {
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

/** Never half a character. */
function firstBytes(text: string, most: number): string {
  const bytes = Buffer.from(text)
  let end = Math.max(0, Math.min(most, bytes.length))
  // A byte of the form 10xxxxxx continues a character.
  while (end < bytes.length && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1
  return bytes.toString('utf8', 0, end)
}

function tokensOf({ text, calls }: Saying): number {
  const written = calls.map(({ name, arguments: json }) => name + json)
  return Math.ceil(Buffer.byteLength([text, ...written].join('')) / BYTES_A_TOKEN)
}
