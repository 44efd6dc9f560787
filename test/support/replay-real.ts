import type { BlobStore } from '../../src/blobs/store.ts'
import type { Replay } from '../../src/history/transients.ts'
import type { WholeEvent } from '../../src/model/event.ts'
import type { TurnId } from '../../src/model/ids.ts'
import { readMessages } from '../../src/providers/rehearsal/wire/messages.ts'
import { PromptCache } from '../../src/providers/rehearsal/wire/prompt-cache.ts'
import {
  RequestComposer,
  sharedWith,
  type ComposedRequest,
} from '../../src/turn/compose-request.ts'
import { DIALECTS } from './dialects.ts'
import { replaySurface, type Measure } from './replay-model.ts'
import {
  describedAs,
  type Asked,
  type Asking,
  type Attached,
  type ReplayTrace,
} from './replay-trace.ts'
import { ok, failed } from '../../src/model/errors.ts'

export class RealAsking implements Asking {
  readonly #replay: Replay
  readonly #measure: Measure
  readonly #surface
  readonly #store: Pick<BlobStore, 'get'>
  readonly #cache: PromptCache
  #now = 0
  #turn: TurnId | undefined
  #composer: RequestComposer | undefined
  #last: ComposedRequest | undefined
  constructor(trace: ReplayTrace, replay: Replay, measure: Measure) {
    this.#replay = replay
    this.#measure = measure
    this.#surface = replaySurface(replay)
    this.#store = storeOf(trace)
    this.#cache = new PromptCache({ clock: { now: () => this.#now } })
  }
  async ask(events: readonly WholeEvent[], turn: TurnId, now: number): Promise<Asked> {
    this.#now = now
    if (turn !== this.#turn) {
      this.#turn = turn
      this.#composer = new RequestComposer(
        {
          provider: DIALECTS.messages,
          surface: this.#surface,
          store: this.#store as BlobStore,
          cacheKey: 'hw1',
        },
        turn,
      )
    }
    const request = await this.#composer!.compose(events, { before: this.#last })
    const { shared_prefix_bytes } = sharedWith(this.#last, request)
    this.#last = request
    const cache =
      this.#measure === 'sent'
        ? {
            key: '',
            blocks: request.segments.map(({ bytes }) => bytes),
            marks: request.framing.marks.map(({ after }) => after),
          }
        : await this.#read(request.body)
    const { input, cached_read, cache_write } = this.#cache.use({ model: 'rehearsal', ...cache })
    return {
      usage: { input, cached_read, cache_write, output: 1, reasoning: 0 },
      request_bytes: request.body.length,
      shared_prefix_bytes,
      projected: request.projected,
    }
  }
  async #read(body: Buffer) {
    const read = await readMessages(JSON.parse(body.toString('utf8')), () => ({}))
    if (!read.ok) throw new Error(JSON.stringify(read.refusal))
    return read.asked.cache
  }
}

function storeOf({ turns }: ReplayTrace) {
  const blobs = new Map<string, Buffer>()
  for (const [at, attached] of turns.flatMap((t) => t.attached).entries()) {
    const d = describedAs(at + 1, attached)
    if (d.kind !== 'link') blobs.set(d.blob, bytesOf(attached, at))
  }
  return {
    get: async (key: string) => {
      const b = blobs.get(key)
      return b === undefined ? failed('resource_missing', key) : ok(b)
    },
  }
}
function bytesOf({ kind, bytes }: Attached, at: number): Buffer {
  const b = Buffer.alloc(bytes, kind === 'text' ? 'a' : at % 250)
  const head =
    kind === 'image'
      ? Buffer.from('89504e470d0a1a0a', 'hex')
      : Buffer.from(kind === 'pdf' ? '%PDF-1.7\n' : `${at} `)
  head.copy(b)
  return b
}
