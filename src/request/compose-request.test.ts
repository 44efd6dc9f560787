import { expect, test } from 'vitest'
import { CrashDisk } from '../../test/support/crash-disk.ts'
import { DIALECT_NAMES, DIALECTS, type DialectName } from '../../test/support/dialects.ts'
import { generateLog } from '../../test/support/log-generator.ts'
import { immediateClock, testPlace } from '../../test/support/log-place.ts'
import { generatedRequests, type GeneratedRequest } from '../../test/support/generated-requests.ts'
import { value } from '../../test/support/story.ts'
import type { BlobStore } from '../blobs/store.ts'
import { bytesBefore } from '../contract/prefix.ts'
import { sha256 } from '../encoding/hash.ts'
import type { Segment } from '../model/segment.ts'
import type { Dialect } from '../providers/provider.ts'
import { RequestComposer, type ComposedRequest } from './compose-request.ts'
import { sharedWith, type SentRequest } from './sent-request.ts'

const SEEDS = 25
const cacheKey = 'hw1:test'
const MEDIA_TYPES: Readonly<Record<string, string>> = {
  png: 'image/png',
  md: 'text/markdown',
  json: 'application/json',
}

/** A store with the blobs of the generated Log of that seed. */
async function storeOf(seed: number, dialect: DialectName): Promise<BlobStore> {
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
  let spent: ComposedRequest | undefined
  return async ({ inputs }: GeneratedRequest) => {
    if (composer === undefined || last?.of.turn !== inputs.turn) {
      composer = new RequestComposer(
        { provider, store, cacheKey, surface: inputs.surface },
        inputs.turn,
      )
    }
    const request = await composer.compose(inputs.events, { spent, before: last?.request })
    // Only returned bodies may have changed.
    expect(last?.request.body.toString('latin1')).toBe(last?.bytes)
    const shared = sharedWith(last?.request, request)
    spent = last?.request
    last = { request, of: inputs, bytes: request.body.toString('latin1') }
    return { request, shared }
  }
}

/** Bytes as text, because comparing texts is fast. */
function comparable(segments: readonly Segment[]) {
  return segments.map(({ bytes, ...segment }) => ({ ...segment, text: bytes.toString('utf8') }))
}

test.each(DIALECT_NAMES)(
  'requests in %s that grow with their Log equal those composed from scratch, byte for byte',
  async (dialect) => {
    const provider = DIALECTS[dialect]
    let continued = 0
    for (let seed = 1; seed <= SEEDS; seed++) {
      const store = await storeOf(seed, dialect)
      const next = growing(provider, store)
      let before: SentRequest | undefined
      for (const generated of await generatedRequests(seed, { dialect })) {
        const { request, shared } = await next(generated)
        const { surface, turn, events } = generated.inputs
        const parts = { provider, surface, store, cacheKey }
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
    expect(continued).toBeGreaterThan(SEEDS)
  },
)

test.each(DIALECT_NAMES)(
  'the first request in %s of a Turn equals one composed from scratch and encodes less, also after a resume',
  async (dialect) => {
    const encoded = { live: 0, resumed: 0, fromScratch: 0 }
    const right = DIALECTS[dialect]
    const counting = (of: keyof typeof encoded): Dialect => ({
      ...right,
      encode: (items, ...more) => {
        encoded[of] += items.length
        return right.encode(items, ...more)
      },
    })
    for (let seed = 1; seed <= 10; seed++) {
      const store = await storeOf(seed, dialect)
      let last: ComposedRequest | undefined
      for (const { inputs } of await generatedRequests(seed, { dialect })) {
        const { turn, events, surface } = inputs
        const compose = (of: keyof typeof encoded, before: SentRequest | undefined) =>
          new RequestComposer({ provider: counting(of), store, cacheKey, surface }, turn).compose(
            events,
            { before },
          )
        const fromScratch = await compose('fromScratch', last && withoutReuse(last))
        const known = { live: last, resumed: last && value(await recomposed(last, right, store)) }
        for (const of of ['live', 'resumed'] as const) {
          const request = await compose(of, known[of])
          expect(request.body.equals(fromScratch.body)).toBe(true)
          expect(comparable(request.segments)).toEqual(comparable(fromScratch.segments))
          expect(request.projected).toEqual(fromScratch.projected)
          expect(request.stays).toEqual(fromScratch.stays)
          expect(sharedWith(known[of], request)).toEqual(sharedWith(last, fromScratch))
        }
        last = fromScratch
      }
    }
    // A request with an attached file encodes everything again.
    expect(encoded.live).toBeLessThan(encoded.fromScratch)
    expect(encoded.resumed).toBe(encoded.live)
  },
)

/** A request with which the next Turn does not start. */
function withoutReuse({ sha256, length, run, inputs }: SentRequest): SentRequest {
  return { sha256, length, run, inputs }
}

/** A request as a process that did not send it knows it. */
function recomposed(
  { inputs, projected, sha256: request_sha256, length }: ComposedRequest,
  provider: Dialect,
  store: BlobStore,
) {
  const parts = { provider, store, cacheKey, surface: inputs.surface }
  const recorded = { projected, request_sha256, request_bytes: length }
  return new RequestComposer(parts, inputs.turn).composeAgain(inputs.events, recorded)
}

test.each(DIALECT_NAMES)(
  'a body in %s may be returned for reuse by the next one',
  async (dialect) => {
    const provider = DIALECTS[dialect]
    const store = await storeOf(3, dialect)
    let composer: RequestComposer | undefined
    let last: ComposedRequest | undefined
    for (const { inputs } of await generatedRequests(3, { dialect })) {
      const parts = { provider, store, cacheKey, surface: inputs.surface }
      const fromScratch = await new RequestComposer(parts, inputs.turn).compose(inputs.events, {
        before: last,
      })
      if (composer === undefined || last?.inputs.turn !== inputs.turn) {
        composer = new RequestComposer(parts, inputs.turn)
      }
      last = await composer.compose(inputs.events, { before: last, spent: last })
      expect([last.sha256, last.body.equals(fromScratch.body)]).toEqual([fromScratch.sha256, true])
    }
  },
)

test.each(DIALECT_NAMES)('a body in %s that was not returned stays unchanged', async (dialect) => {
  const provider = DIALECTS[dialect]
  const store = await storeOf(3, dialect)
  const requests = await generatedRequests(3, { dialect })
  const composed: { body: Buffer; bytes: Buffer }[] = []
  for (const { inputs } of requests) {
    const parts = { provider, store, cacheKey, surface: inputs.surface }
    const composer = new RequestComposer(parts, inputs.turn)
    for (const length of [inputs.events.length - 1, inputs.events.length]) {
      const { body } = await composer.compose(inputs.events.slice(0, length))
      composed.push({ body, bytes: Buffer.from(body) })
    }
  }
  expect(composed.filter(({ body, bytes }) => !body.equals(bytes))).toEqual([])
})

test.each(DIALECT_NAMES)(
  'a block in %s that moves to another message without an Event as the reason is an unknown break',
  async (dialect) => {
    const right = DIALECTS[dialect]
    const wrong: Dialect = {
      ...right,
      encode: (items, surface, behind) =>
        right.encode(items, surface, behind).map((one) => {
          const { bytes } = one
          return one.seq === -1 ? one : { ...one, bytes, bracket: Buffer.from(' ,') }
        }),
    }
    const store = await storeOf(3, dialect)
    const [generated = expect.fail('no request was generated')] = await generatedRequests(3, {
      dialect,
    })
    const { surface, surfaceSegments, turn, events } = generated.inputs
    const compose = (provider: Dialect) =>
      new RequestComposer({ provider, store, cacheKey, surface }, turn).compose(events)
    const [before, same, moved] = [await compose(right), await compose(right), await compose(wrong)]
    expect(sharedWith(before, same)).toEqual({ shared_prefix_bytes: before.body.length })
    const at = bytesBefore(before.segments, surfaceSegments.length)
    const prefix_break = { at, cause: 'unknown' }
    expect(sharedWith(before, moved)).toEqual({ shared_prefix_bytes: at, prefix_break })
  },
)
