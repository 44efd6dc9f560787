import type { BlobStore } from '../../../src/blobs/store.ts'
import type { Replay } from '../../../src/model/modes.ts'
import type { WholeEvent } from '../../../src/model/events/event.ts'
import type { BlobKey, TurnId } from '../../../src/model/ids.ts'
import { readMessages } from '../../../rehearse/src/messages.ts'
import { STRICT } from '../../../rehearse/src/rules/leniency.ts'
import { PromptCache, type CacheRequest } from '../../../rehearse/src/prompt-cache.ts'
import { RequestComposer, type ComposedRequest } from '../../../src/request/compose-request.ts'
import { sharedWith } from '../../../src/request/sent-request.ts'
import { CrashDisk } from '../host/crash-disk.ts'
import { DIALECTS } from '../providers/dialects.ts'
import { immediateClock, testPlace } from '../log/log-place.ts'
import { replaySurface, type Measure } from './replay-lengths.ts'
import type { ReplayCall, ReplayProvider } from './replay-story.ts'
import type { Attached } from './replay-trace.ts'
import { value } from '../log/story.ts'

/** Composes real requests as a Turn does, and looks them up in the prompt cache of the rehearsal server. */
export async function composedProvider(replay: Replay, measure: Measure): Promise<ReplayProvider> {
  const { store } = await testPlace(new CrashDisk(1).folder(), immediateClock)
  const surface = replaySurface(replay)
  const parts = { provider: DIALECTS.messages, surface, store, cacheKey: 'hw1' }
  let time = 0
  let kept = 0
  let composing: { readonly turn: TurnId; readonly composer: RequestComposer } | undefined
  let last: ComposedRequest | undefined
  const cache = new PromptCache({ clock: { monotonicMs: () => time } })
  const ask = async (
    events: readonly WholeEvent[],
    turn: TurnId,
    now: number,
  ): Promise<ReplayCall> => {
    time = now
    if (composing?.turn !== turn) composing = { turn, composer: new RequestComposer(parts, turn) }
    const request = await composing.composer.compose(events, { before: last })
    const { shared_prefix_bytes } = sharedWith(last, request)
    last = request
    const { input, cached_read, cache_write } = cache.use(await cacheRequest(request, measure))
    return {
      usage: { input, cached_read, cache_write, output: 1, reasoning: 0 },
      request_bytes: request.body.length,
      shared_prefix_bytes,
      projected: request.projections,
    }
  }
  return { ask, keep: (attached) => keepBytes(store, attached, (kept += 1)) }
}

async function cacheRequest(
  { segments, bodyOptions, body }: ComposedRequest,
  measure: Measure,
): Promise<CacheRequest> {
  const model = 'rehearsal'
  if (measure === 'sent') {
    const blocks = segments.map(({ bytes }) => bytes)
    return { key: '', model, blocks, marks: bodyOptions.marks.map(({ after }) => after) }
  }
  const read = await readMessages(JSON.parse(body.toString('utf8')), {
    factsOf: () => ({}),
    leniency: STRICT,
  })
  if (!read.ok) throw new Error(JSON.stringify(read.refusal))
  return { model, ...read.request.cache }
}

/** Stores a unique blob of the size in the trace, with the magic bytes of its type. */
async function keepBytes(
  store: BlobStore,
  { kind, bytes }: Attached,
  number: number,
): Promise<BlobKey> {
  const { type, head } = BEGINNINGS[kind]
  const begun = Buffer.concat([head, Buffer.from(`${number} `)])
  const all = Buffer.concat([begun, Buffer.alloc(Math.max(0, bytes - begun.length), 'a')])
  return value(await store.put([all], type))
}

const BEGINNINGS = {
  image: { type: 'image/png', head: Buffer.from('89504e470d0a1a0a', 'hex') },
  pdf: { type: 'application/pdf', head: Buffer.from('%PDF-1.7\n') },
  text: { type: 'text/plain', head: Buffer.alloc(0) },
} as const
