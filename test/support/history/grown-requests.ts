import { expect } from 'vitest'
import type { BlobStore } from '../../../src/blobs/store.ts'
import { sha256 } from '../../../src/encoding/hash.ts'
import type { Segment } from '../../../src/model/segment.ts'
import type { Dialect } from '../../../src/providers/provider.ts'
import { RequestComposer, type ComposedRequest } from '../../../src/request/compose-request.ts'
import { sharedWith, type SentRequest } from '../../../src/request/sent-request.ts'
import { CrashDisk } from '../host/crash-disk.ts'
import { DIALECTS, type DialectName } from '../providers/dialects.ts'
import { generatedRequests, type GeneratedRequest } from './generated-requests.ts'
import { generateLog } from './log-generator.ts'
import { immediateClock, testPlace } from '../log/log-place.ts'
import { value } from '../log/story.ts'

/** The cache key of composed requests. */
export const TEST_KEY = 'hw1:test'

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  png: 'image/png',
  md: 'text/markdown',
  txt: 'text/plain',
  json: 'application/json',
}

/** A store with the blobs of the generated Log of that seed. */
export async function storeOf(seed: number, dialect: DialectName): Promise<BlobStore> {
  const { store } = await testPlace(new CrashDisk(1).folder(), immediateClock)
  for (const [key, bytes] of generateLog(seed, dialect).blobs) {
    const mediaType = MEDIA_TYPES[key.slice(key.indexOf('.') + 1)]
    expect(value(await store.put([bytes], mediaType ?? ''))).toBe(key)
  }
  return store
}

/** Composes one request after another, with one composer per Turn, and returns bodies for reuse as a Turn does. */
function growing(provider: Dialect, store: BlobStore) {
  let composer: RequestComposer | undefined
  let last: { request: ComposedRequest; of: GeneratedRequest['inputs']; bytes: string } | undefined
  let spentRequest: ComposedRequest | undefined
  return async ({ inputs }: GeneratedRequest) => {
    if (composer === undefined || last?.of.turn !== inputs.turn) {
      composer = new RequestComposer(
        { provider, store, cacheKey: TEST_KEY, surface: inputs.surface },
        inputs.turn,
      )
    }
    const request = await composer.compose(inputs.events, { spentRequest, before: last?.request })
    // Only returned bodies may have changed.
    expect(last?.request.body.toString('latin1')).toBe(last?.bytes)
    const shared = sharedWith(last?.request, request)
    spentRequest = last?.request
    last = { request, of: inputs, bytes: request.body.toString('latin1') }
    return { request, shared }
  }
}

/** Bytes as text, because comparing texts is fast. */
export function comparable(segments: readonly Segment[]) {
  return segments.map(({ bytes, ...segment }) => ({ ...segment, text: bytes.toString('utf8') }))
}

/** A request with which the next Turn does not start. */
export function withoutReuse(request: SentRequest): SentRequest {
  const { length, run, inputs } = request
  return { sha256: request.sha256, length, run, inputs }
}

/** Composes the requests of generated Logs as Turns do, and expects the bytes of those composed from scratch. */
export async function expectGrownAsFromScratch(dialect: DialectName, seeds: number): Promise<void> {
  const provider = DIALECTS[dialect]
  let continued = 0
  for (let seed = 1; seed <= seeds; seed++) {
    const store = await storeOf(seed, dialect)
    const next = growing(provider, store)
    let before: SentRequest | undefined
    for (const generated of await generatedRequests(seed, { dialect })) {
      const { request, shared } = await next(generated)
      const { surface, turn, events } = generated.inputs
      const parts = { provider, surface, store, cacheKey: TEST_KEY }
      const fromScratch = await new RequestComposer(parts, turn).compose(events, { before })
      if (before?.inputs.turn === turn && shared.prefix_break === undefined) continued += 1
      expect(request.body.equals(fromScratch.body)).toBe(true)
      expect(request.sha256).toBe(sha256(fromScratch.body))
      expect(fromScratch.sha256).toBe(request.sha256)
      expect(comparable(request.segments)).toEqual(comparable(generated.segments))
      expect(shared).toEqual(sharedWith(before, fromScratch))
      before = withoutReuse(fromScratch)
    }
  }
  expect(continued).toBeGreaterThan(seeds)
}
