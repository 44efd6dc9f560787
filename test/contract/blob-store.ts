import { describe, expect, test as vitestTest } from 'vitest'
import type { BlobStore } from '../../src/blobs/store.ts'
import { sha256 } from '../../src/encoding/hash.ts'
import { CAUSE } from '../../src/model/error-cause.ts'
import { BLOB_EXTENSIONS } from '../../src/model/ids.ts'
import { LIMITS } from '../../src/model/limits.ts'
import { value } from '../support/log/story.ts'
import { blobEndCases } from './blob-store/end-cases.ts'
import type { BlobCase, BlobTraits, StoreUnderTest } from './blob-store/under-test.ts'

/** The same facts for people and for code. */
function absence(state: 'missing' | 'damaged') {
  return { kind: 'resource_missing', details: { state }, [CAUSE]: { type: 'payload', state } }
}

/** What every blob store must do, whatever its storage. */
export function blobStoreContract(
  name: string,
  make: () => Promise<StoreUnderTest>,
  has: BlobTraits = {},
): void {
  describe(name, () => {
    for (const { title, run } of blobStoreCases(make, has))
      vitestTest(title, () => expect(run()).resolves.toBeUndefined())
  })
}

/** Every promise of a blob store, with what shows that it is kept. A case throws if it is not. */
export function blobStoreCases(
  make: () => Promise<StoreUnderTest>,
  { ends, leaves, large }: BlobTraits = {},
): readonly BlobCase[] {
  const cases: BlobCase[] = []
  const test = (title: string, run: () => Promise<void>) => void cases.push({ title, run })
  const withStore = (work: (under: StoreUnderTest) => Promise<void>) => async () => {
    const under = await make()
    await work(under)
    await under.close()
  }
  const harbour = Buffer.from('harbour')
  const put = async (store: BlobStore, bytes: Buffer, type = 'text/plain') =>
    value(await store.put([bytes], type))

  test(
    'returns exactly the bytes that were put [SR-027] [TI-010] [TI-080]',
    withStore(async ({ store }) => {
      for (const bytes of [Buffer.alloc(0), harbour, Buffer.alloc(700_000, 'x\0\xff')]) {
        const key = await put(store, bytes, 'application/octet-stream')
        expect(value(await store.get(key)).equals(bytes)).toBe(true)
        expect(value(await store.stat(key)).size).toBe(bytes.length)
      }
    }),
  )

  test(
    'identifies bytes by their hash and media type [TI-012] [TI-014] [TI-021]',
    withStore(async ({ store }) => {
      for (const [type, extension] of Object.entries(BLOB_EXTENSIONS)) {
        const key = await put(store, harbour, type)
        expect(key).toBe(`${sha256(harbour)}.${extension}`)
        expect((await store.get(key)).ok).toBe(true)
      }
      expect(value(await store.list()).length).toBe(Object.keys(BLOB_EXTENSIONS).length)
    }),
  )

  test(
    'hashes a whole stream, however it is chunked',
    withStore(async ({ store }) => {
      async function* slowly() {
        for (const byte of harbour) yield Buffer.from([byte])
      }
      expect(value(await store.put(slowly(), 'text/plain'))).toBe(`${sha256(harbour)}.txt`)
    }),
  )

  test(
    'stores the same bytes once [TI-013]',
    withStore(async ({ store }) => {
      const keys = await Promise.all([1, 2, 3].map(() => put(store, harbour)))
      await put(store, harbour)
      expect(new Set(keys).size).toBe(1)
      expect(value(await store.list())).toEqual([keys[0]])
    }),
  )

  test(
    'refuses an unknown media type',
    withStore(async ({ store }) => {
      for (const type of ['image/svg+xml', '', 'constructor', 'text/plain; charset=utf-8']) {
        expect(await store.put([harbour], type)).toMatchObject({
          error: { kind: 'unsupported_type' },
        })
      }
      expect(value(await store.list())).toEqual([])
    }),
  )

  test(
    'refuses an invalid key before it accesses anything [TI-019] [TI-020]',
    withStore(async ({ store }) => {
      const hash = sha256(harbour)
      const bad = [
        '../../etc/passwd',
        `../${hash}.txt`,
        hash,
        `${hash}.exe`,
        `${hash.toUpperCase()}.txt`,
        `${hash.slice(1)}.txt`,
        `${hash}0.txt`,
        `${hash}.txt\n`,
        `ok\n${hash}.txt`,
        `${hash}.txt\0`,
        '',
      ]
      for (const key of bad) {
        for (const ask of ['get', 'open', 'stat', 'renew', 'delete'] as const) {
          const answer = await store[ask](key)
          expect(answer).toMatchObject({ ok: false, error: { kind: 'invalid_args' } })
          expect(key.length > 3 && JSON.stringify(answer).includes(key)).toBe(false)
        }
      }
    }),
  )

  test(
    'reports a missing blob, and never returns empty bytes for it [SR-032]',
    withStore(async ({ store }) => {
      const key = `${sha256('absent')}.png`
      for (const ask of ['get', 'open', 'stat'] as const) {
        expect(await store[ask](key)).toMatchObject({
          error: absence('missing'),
        })
      }
    }),
  )

  test(
    'refuses to return damaged bytes, and repairs them when they are put again',
    withStore(async ({ store, corrupt }) => {
      const key = await put(store, harbour)
      const flips = Array.from({ length: harbour.length * 8 }, (_, bit) => {
        const copy = Buffer.from(harbour)
        copy[bit >> 3] = (copy[bit >> 3] ?? 0) ^ (1 << (bit & 7))
        return copy
      })
      for (const bytes of [Buffer.alloc(0), harbour.subarray(1), ...flips]) {
        await corrupt(key, bytes)
        for (const ask of ['get', 'open'] as const) {
          expect(await store[ask](key)).toMatchObject({
            error: absence('damaged'),
          })
        }
        expect(await put(store, harbour)).toBe(key)
        expect(value(await store.get(key)).equals(harbour)).toBe(true)
      }
    }),
  )

  test(
    'reads any part of an open blob, more than once',
    withStore(async ({ store }) => {
      const bytes = Buffer.from(Array.from({ length: 600_000 }, (_, i) => i % 251))
      const blob = value(await store.open(await put(store, bytes, 'image/png')))
      for (const [start, end] of [
        [0, 600_000],
        [599_999, 700_000],
        [262_143, 262_146],
        [5, 5],
      ] as const) {
        const parts: Buffer[] = []
        for await (const part of blob.read(start, end)) parts.push(part)
        expect(Buffer.concat(parts).equals(bytes.subarray(start, end))).toBe(true)
      }
      expect(blob.size).toBe(600_000)
      await blob.close()
    }),
  )

  test(
    'passes on an error of its source, and stores nothing of it [TI-025]',
    withStore(async ({ store }) => {
      async function* failing() {
        yield harbour
        throw new Error('the source broke')
      }
      await expect(store.put(failing(), 'text/plain')).rejects.toThrow('the source broke')
      expect(value(await store.list())).toEqual([])
      expect(value(await store.tidy(Infinity))).toBe(0)
    }),
  )

  test(
    'deletes a blob, unless it was put or put again since',
    withStore(async ({ store, age }) => {
      const key = await put(store, harbour)
      await age(key, 10_000)
      const { putAt } = value(await store.stat(key))
      await put(store, harbour)
      expect(value(await store.delete(key, putAt))).toBe(false)
      // After a clock stepped back, a blob that was put again looks older, not the same.
      await age(key, 20_000)
      expect(value(await store.delete(key, putAt))).toBe(false)
      expect((await store.get(key)).ok).toBe(true)
      expect(value(await store.delete(key))).toBe(true)
      expect((await store.get(key)).ok).toBe(false)
      expect(value(await store.delete(key))).toBe(true)
    }),
  )

  test(
    'renews an existing blob as if it were put now, and reports a missing one',
    withStore(async ({ store, age }) => {
      const key = await put(store, harbour)
      await age(key, 10_000)
      const { putAt } = value(await store.stat(key))
      expect(value(await store.renew(key))).toBe(true)
      expect(value(await store.delete(key, putAt))).toBe(false)
      expect(value(await store.stat(key)).putAt).toBeGreaterThan(putAt)
      value(await store.delete(key))
      expect(value(await store.renew(key))).toBe(false)
    }),
  )

  test(
    'may be used by several processes at once, which see the same blobs',
    withStore(async ({ store, again }) => {
      const texts = ['rope', 'sail', 'mast', 'keel', 'harbour']
      const keys = await Promise.all(
        texts.flatMap((text) => [store, again].map((one) => put(one, Buffer.from(text)))),
      )
      expect(new Set(keys).size).toBe(texts.length)
      for (const one of [store, again])
        expect(value(await one.list()).toSorted()).toEqual([...new Set(keys)].toSorted())
      const [first] = keys
      if (first === undefined) throw new Error('nothing was put')
      const deleted = await Promise.all([store, again].map((one) => one.delete(first)))
      expect(deleted.map(value)).toEqual([true, true])
      expect(await again.get(first)).toMatchObject({ error: absence('missing') })
      const [renewed, gone] = await Promise.all([
        put(store, Buffer.from('rope')),
        again.delete(first),
      ])
      expect([renewed, gone.ok]).toEqual([first, true])
    }),
  )

  if (large === true)
    test(
      'refuses content above the limit of a blob, and stores nothing of it',
      withStore(async ({ store }) => {
        const piece = Buffer.alloc(8 * 1024 * 1024)
        let pieces = 0
        function* endless() {
          for (;;) {
            pieces += 1
            yield piece
          }
        }
        expect(await store.put(endless(), 'application/octet-stream')).toMatchObject({
          error: { kind: 'too_large' },
        })
        expect(pieces).toBe(LIMITS.blob_bytes / piece.length + 1)
        expect(value(await store.list())).toEqual([])
        expect(value(await store.tidy(Infinity))).toBe(0)
      }),
    )

  test(
    'an open blob is read to its end, also after it was deleted',
    withStore(async ({ store }) => {
      const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, i) => i % 251))
      const key = await put(store, bytes, 'image/png')
      const blob = value(await store.open(key))
      value(await store.delete(key))
      const parts: Buffer[] = []
      for await (const part of blob.read()) parts.push(part)
      expect(Buffer.concat(parts).equals(bytes)).toBe(true)
      await blob.close()
      expect(await store.get(key)).toMatchObject({ error: absence('missing') })
    }),
  )

  test(
    'facts and renewal do not verify a blob, and its time is that of the last put',
    withStore(async ({ store, corrupt, age }) => {
      const key = await put(store, harbour)
      await age(key, 60_000)
      const before = value(await store.stat(key)).putAt
      await corrupt(key, Buffer.from('x'))
      expect(value(await store.stat(key)).size).toBe(1)
      expect(value(await store.renew(key))).toBe(true)
      expect(await put(store, harbour)).toBe(key)
      const { size, putAt } = value(await store.stat(key))
      expect([size, putAt > before]).toEqual([harbour.length, true])
    }),
  )

  test(
    'shares nothing with another store [TI-027]',
    withStore(async ({ store, other }) => {
      const key = await put(store, harbour)
      expect(await other.get(key)).toMatchObject({ error: { kind: 'resource_missing' } })
    }),
  )

  if (ends === true) cases.push(...blobEndCases(make, leaves === true ? { leaves } : {}))
  return cases
}
