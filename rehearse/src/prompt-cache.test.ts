import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { virtualClock } from '../../test/support/host/virtual-clock.ts'
import { PromptCache, type CacheOptions, type CacheRequest } from './prompt-cache.ts'

const MINUTE = 60_000

function cacheAt(options: CacheOptions = {}) {
  const clock = virtualClock()
  return { clock, cache: new PromptCache({ clock, ...options }) }
}

/** Blocks of a fixed number of tokens, distinguished by their letter. */
function blocks(letters: string, tokens = 512): Buffer[] {
  return Array.from(letters, (letter) => Buffer.alloc(tokens * 4, letter))
}

function requestOf(letters: string, more: Partial<CacheRequest> = {}): CacheRequest {
  return { key: 'key', model: 'model', blocks: blocks(letters), marks: 'every', ...more }
}

const COLD = { cached_read: 0, cache_write: 0, isOverflow: false }

test('a request reads the prefix that it shares with an earlier one [PC-007]', () => {
  const { cache } = cacheAt()
  expect(cache.use(requestOf('abc'))).toEqual({ ...COLD, input: 1536 })
  expect(cache.use(requestOf('abcde'))).toEqual({ ...COLD, input: 2560, cached_read: 1536 })
  expect(cache.use(requestOf('abcxyz'))).toEqual({ ...COLD, input: 3072, cached_read: 1536 })
  expect(cache.use(requestOf('abcdx'))).toEqual({ ...COLD, input: 2560, cached_read: 2048 })
})

test('another key, another model or a changed beginning is a miss [PC-007]', () => {
  const { cache } = cacheAt()
  cache.use(requestOf('abc'))
  expect(cache.use(requestOf('abc', { key: 'other' })).cached_read).toBe(0)
  expect(cache.use(requestOf('abc', { model: 'other' })).cached_read).toBe(0)
  expect(cache.use(requestOf('xbc')).cached_read).toBe(0)
  expect(cache.use(requestOf('abc', { key: '["key"', model: ',"model"]' })).cached_read).toBe(0)
})

test('the same bytes in other blocks are a different prefix', () => {
  const { cache } = cacheAt()
  cache.use(requestOf('', { blocks: [Buffer.alloc(4096, 'a'), Buffer.alloc(4096, 'a')] }))
  const moved = [Buffer.alloc(4000, 'a'), Buffer.alloc(4192, 'a')]
  expect(cache.use(requestOf('', { blocks: moved })).cached_read).toBe(0)
})

test('a prefix below the minimum is not cached, and one of exactly the minimum is', () => {
  const { cache } = cacheAt()
  cache.use(requestOf('a'))
  expect(cache.use(requestOf('a')).cached_read).toBe(0)
  const short = [Buffer.alloc(4092)]
  cache.use(requestOf('', { blocks: short }))
  expect(cache.use(requestOf('', { blocks: short }))).toEqual({ ...COLD, input: 1023 })
  cache.use(requestOf('ab'))
  expect(cache.use(requestOf('ab')).cached_read).toBe(1024)
  expect(cache.size).toBe(1)
})

test('without marks, a hit is reported in steps of 128 tokens', () => {
  const { cache } = cacheAt()
  const odd = [Buffer.alloc(4 * 1500 + 1)]
  cache.use(requestOf('', { blocks: odd }))
  expect(cache.use(requestOf('', { blocks: odd }))).toEqual({
    ...COLD,
    input: 1501,
    cached_read: 1408,
  })
})

test('a token is four bytes of the whole request, not of each block', () => {
  const { cache } = cacheAt()
  const tinyBlocks = Array.from({ length: 10 }, () => Buffer.from('a'))
  expect(cache.use(requestOf('', { blocks: tinyBlocks })).input).toBe(3)
  expect(cache.use(requestOf('')).input).toBe(0)
})

test('a prefix expires if it is not used within its time to live, and use renews it', () => {
  const { cache, clock } = cacheAt()
  cache.use(requestOf('abc'))
  for (let round = 0; round < 3; round++) {
    clock.advance(5 * MINUTE - 1)
    expect(cache.use(requestOf('abcd')).cached_read).toBeGreaterThan(0)
  }
  clock.advance(5 * MINUTE)
  expect(cache.use(requestOf('abcd')).cached_read).toBe(0)
  expect(cache.size).toBe(3)
})

test('with marks, only marked prefixes are cached, and new tokens up to the last mark are written', () => {
  const { cache } = cacheAt()
  const first = requestOf('abcdef', { marks: [2, 4] })
  expect(cache.use(first)).toEqual({ ...COLD, input: 3072, cache_write: 2048 })
  expect(cache.use(first)).toEqual({ ...COLD, input: 3072, cached_read: 2048 })
  expect(cache.use(requestOf('abcdeX', { marks: [6] }))).toEqual({
    ...COLD,
    input: 3072,
    cached_read: 2048,
    cache_write: 1024,
  })
  // Nothing was cached after three blocks or after five.
  expect(cache.use(requestOf('abcXXX', { marks: [6] }))).toMatchObject({ cached_read: 1024 })
  expect(cache.use(requestOf('abcdeYY', { marks: [7] }))).toMatchObject({ cached_read: 2048 })
})

test('without a mark, nothing is cached, read or written', () => {
  const { cache } = cacheAt()
  cache.use(requestOf('abcd', { marks: [4] }))
  expect(cache.use(requestOf('abcd', { marks: [] }))).toEqual({ ...COLD, input: 2048 })
})

test('a mark below the minimum or outside the request is ignored', () => {
  const { cache } = cacheAt()
  const request = requestOf('abc', { marks: [3, 1, 3, 0, -1, 9] })
  expect(cache.use(request)).toEqual({ ...COLD, input: 1536, cache_write: 1536 })
  expect(cache.size).toBe(1)
})

test('at most twenty blocks before a mark are searched', () => {
  const letters = 'abcdefghijklmnopqrstuvwxyz'
  for (const [grown, cached_read] of [
    [19, 1024],
    [20, 0],
  ] as const) {
    const { cache } = cacheAt()
    cache.use(requestOf(letters.slice(0, 2), { marks: [2] }))
    const later = requestOf(letters.slice(0, 2 + grown), { marks: [2 + grown] })
    expect(cache.use(later)).toMatchObject({ cached_read })
  }
  // A mark at the old position finds it at any distance.
  const { cache } = cacheAt()
  cache.use(requestOf(letters.slice(0, 2), { marks: [2] }))
  expect(cache.use(requestOf(letters, { marks: [2, 26] }))).toMatchObject({ cached_read: 1024 })
})

test('with a rate, a request over it within a minute reaches a cold machine and changes nothing [PC-007]', () => {
  const { cache, clock } = cacheAt({ perMinute: 3 })
  const overflows = ['ab', 'abc', 'abcd'].map((letters) => cache.use(requestOf(letters)).isOverflow)
  expect(overflows).toEqual([false, false, false])
  expect(cache.use(requestOf('abcdefgh'))).toEqual({ ...COLD, input: 4096, isOverflow: true })
  // Another key has its own rate, and so do requests that begin differently.
  expect(cache.use(requestOf('abcd', { key: 'other' })).isOverflow).toBe(false)
  expect(cache.use(requestOf('xbcd')).isOverflow).toBe(false)
  expect(cache.use(requestOf('axyz')).isOverflow).toBe(true)
  clock.advance(MINUTE)
  expect(cache.use(requestOf('abcdefgh'))).toEqual({ ...COLD, input: 4096, cached_read: 2048 })
})

test('at 15 a minute, the sixteenth request of a key overflows, and other keys do not [PC-007]', () => {
  const { cache } = cacheAt({ perMinute: 15 })
  const overflows = Array.from({ length: 16 }, () => cache.use(requestOf('abcd')).isOverflow)
  expect(overflows).toEqual([...Array.from({ length: 15 }, () => false), true])
  expect(cache.use(requestOf('abcd', { key: 'other' })).isOverflow).toBe(false)
})

test('a cold machine is written to, and the written tokens are counted', () => {
  const { cache } = cacheAt({ perMinute: 1 })
  const marked = requestOf('abcd', { marks: [4] })
  cache.use(marked)
  expect(cache.use(marked)).toEqual({ ...COLD, input: 2048, cache_write: 2048, isOverflow: true })
})

test('without a rate no request overflows', () => {
  const { cache } = cacheAt()
  const overflows = Array.from({ length: 200 }, () => cache.use(requestOf('abc')).isOverflow)
  expect(new Set(overflows)).toEqual(new Set([false]))
})

test('the number of cached prefixes is limited, and those used last are kept', () => {
  const { cache } = cacheAt({ entries: 4 })
  cache.use(requestOf('abcdef'))
  expect(cache.size).toBe(4)
  expect(cache.use(requestOf('abcdef')).cached_read).toBe(3072)
  cache.use(requestOf('ABCDE'))
  expect(cache.size).toBe(4)
  expect(cache.use(requestOf('abcdef')).cached_read).toBe(0)
})

interface Step extends CacheRequest {
  readonly letters: string
  readonly waitMs: number
}

const letters = fc
  .array(fc.constantFrom('a', 'b'), { maxLength: 24 })
  .map((signs) => signs.join(''))
const step: fc.Arbitrary<Step> = fc
  .record({
    letters,
    key: fc.constantFrom('one', 'two'),
    model: fc.constantFrom('large', 'small'),
    waitMs: fc.constantFrom(0, 0, 1000, MINUTE, 5 * MINUTE - 1, 5 * MINUTE),
    marks: fc.oneof(
      fc.constant('every' as const),
      fc.array(fc.integer({ min: -1, max: 25 }), { maxLength: 4 }),
    ),
  })
  .map((one) => ({ ...one, blocks: blocks(one.letters, 300) }))

/** The results that a cache may return, from all earlier requests instead of hashes. */
class Reference {
  readonly #kept: { readonly of: string; readonly letters: string; at: number }[] = []

  /** Tokens of the longest cached prefix that has not expired. */
  longest({ key, model, letters: now }: Step, time: number): number {
    const alive = this.#kept.filter(
      (kept) =>
        kept.of === `${key} ${model}` &&
        now.startsWith(kept.letters) &&
        time - kept.at < 5 * MINUTE &&
        kept.letters.length * 300 >= 1024,
    )
    return Math.max(0, ...alive.map((kept) => kept.letters.length * 300))
  }

  keep({ key, model, letters: now, marks }: Step, time: number): void {
    const places = marks === 'every' ? Array.from(now, (_, index) => index + 1) : marks
    for (const place of places) {
      if (place >= 1 && place <= now.length) {
        this.#kept.push({ of: `${key} ${model}`, letters: now.slice(0, place), at: time })
      }
    }
  }

  /** A hit renews its prefix, whether this request marks it or not. */
  renew({ key, model, letters: now }: Step, tokens: number, time: number): void {
    this.#kept.push({ of: `${key} ${model}`, letters: now.slice(0, tokens / 300), at: time })
  }
}

test('a request never reads more than earlier ones of its key and model cached, and never less if every block is cached', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const { cache, clock } = cacheAt()
      const reference = new Reference()
      for (const one of steps) {
        clock.advance(one.waitMs)
        const { input, cached_read, cache_write, isOverflow } = cache.use(one)
        const longest = reference.longest(one, clock.now())
        expect(input).toBe(one.letters.length * 300)
        expect(isOverflow).toBe(false)
        expect(cached_read).toBeLessThanOrEqual(longest)
        expect(cached_read + cache_write).toBeLessThanOrEqual(input)
        expect(cached_read === 0 || cached_read >= 1024).toBe(true)
        if (one.marks === 'every') expect(cached_read).toBe(longest - (longest % 128))
        if (cached_read > 0 && one.marks !== 'every') {
          reference.renew(one, cached_read, clock.now())
        }
        reference.keep(one, clock.now())
      }
    }),
  )
})

test('within any minute, a key reaches its machine exactly as often as its rate allows [PC-007]', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 20_000 }), { maxLength: 60 }),
      fc.integer({ min: 1, max: 6 }),
      (waits, perMinute) => {
        const { cache, clock } = cacheAt({ perMinute })
        const served: number[] = []
        for (const ms of waits) {
          clock.advance(ms)
          const recent = served.filter((at) => clock.now() - at < MINUTE)
          const { isOverflow } = cache.use(requestOf('abc'))
          expect(isOverflow).toBe(recent.length >= perMinute)
          if (!isOverflow) served.push(clock.now())
        }
      },
    ),
  )
})

test('the cache stays within its limit for any number of requests', () => {
  fc.assert(
    fc.property(
      fc.array(step, { maxLength: 30 }),
      fc.integer({ min: 1, max: 40 }),
      (steps, most) => {
        const { cache, clock } = cacheAt({ entries: most, perMinute: 2 })
        for (const [index, one] of steps.entries()) {
          clock.advance(one.waitMs)
          cache.use({ ...one, key: `${one.key}${index}` })
          expect(cache.size).toBeLessThanOrEqual(most)
        }
      },
    ),
  )
})
