import { expect, test } from 'vitest'
import { DIALECT_NAMES, DIALECTS } from '../../test/support/providers/dialects.ts'
import { generatedRequests } from '../../test/support/history/generated-requests.ts'
import {
  comparable,
  expectGrownAsFromScratch,
  TEST_KEY as cacheKey,
  storeOf,
  withoutReuse,
} from '../../test/support/history/grown-requests.ts'
import { value } from '../../test/support/log/story.ts'
import type { BlobStore } from '../blobs/store.ts'
import { bytesBefore } from '../prompt/prefix.ts'
import type { Dialect } from '../providers/provider.ts'
import { RequestComposer, type ComposedRequest } from './compose-request.ts'
import { sharedWith, type SentRequest } from './sent-request.ts'

// With more Logs in compose-request.long.test.ts.
test.each(DIALECT_NAMES)(
  'requests in %s that grow with their Log equal those composed from scratch, byte for byte',
  (dialect) => expectGrownAsFromScratch(dialect, 8),
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
          expect(request.projections).toEqual(fromScratch.projections)
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

/** A request as a process that did not send it knows it. */
function recomposed(
  { inputs, projections: projected, sha256: request_sha256, length }: ComposedRequest,
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
        before: last && withoutReuse(last),
      })
      if (composer === undefined || last?.inputs.turn !== inputs.turn) {
        composer = new RequestComposer(parts, inputs.turn)
      }
      last = await composer.compose(inputs.events, { before: last, spentRequest: last })
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
