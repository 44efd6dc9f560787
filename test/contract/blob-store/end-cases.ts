import { expect } from 'vitest'
import type { BlobStore } from '../../../src/blobs/store.ts'
import { sha256 } from '../../../src/encoding/hash.ts'
import { blobSha256, type BlobKey } from '../../../src/model/ids.ts'
import { PowerCut } from '../../support/host/crash-disk.ts'
import { value } from '../../support/log/story.ts'
import type { BlobCase, BlobTraits, StoreEnds, StoreUnderTest } from './under-test.ts'

/** What is left when the power is cut or a disk fails. */
export function blobEndCases(
  make: () => Promise<StoreUnderTest>,
  { leaves }: BlobTraits,
): readonly BlobCase[] {
  const cases: BlobCase[] = []
  const test = (title: string, run: () => Promise<void>) => void cases.push({ title, run })
  const harbour = Buffer.from('harbour')
  const put = async (store: BlobStore, bytes: Buffer, type = 'text/plain') =>
    value(await store.put([bytes], type))

  test('tidying removes what interrupted puts left before a time, counts it, and keeps all blobs', async () => {
    let left = 0
    for (let powerCutAt = 1; powerCutAt < 30; powerCutAt++) {
      const under = await make()
      const { store } = under
      const end = endsOf(under)
      const kept = await put(store, harbour)
      end.disk.injectFaults({ powerCutAt, shortWrites: true })
      await storeAll(store, new Map()).catch((error: unknown) => {
        if (!(error instanceof PowerCut)) throw error
      })
      const later = end.after(powerCutAt)
      const blobs = value(await later.list())
      expect(blobs).toContain(kept)
      expect(value(await later.tidy(0))).toBe(0)
      left += value(await later.tidy(Date.now() + 60_000))
      expect(value(await later.tidy(Date.now() + 60_000))).toBe(0)
      expect(value(await later.list())).toEqual(blobs)
      await under.close()
    }
    if (leaves) expect(left).toBeGreaterThan(0)
  })

  test('a put that returned survives a power cut at any step, and others leave nothing wrong', async () => {
    for (let powerCutAt = 1; powerCutAt < 60; powerCutAt++) {
      const under = await make()
      const { store } = under
      const end = endsOf(under)
      const stored = new Map<BlobKey, Buffer>()
      end.disk.injectFaults({ powerCutAt, shortWrites: true })
      await storeAll(store, stored).catch((error: unknown) => {
        if (!(error instanceof PowerCut)) throw error
      })
      for (const seed of [powerCutAt, powerCutAt + 1]) {
        const later = end.after(seed)
        for (const key of value(await later.list())) {
          const read = await later.get(key)
          if (stored.has(key) || read.ok) expect(sha256(value(read))).toBe(blobSha256(key))
        }
        for (const [key, bytes] of stored) {
          expect(value(await later.get(key)).equals(bytes)).toBe(true)
          expect(await put(later, bytes, 'application/octet-stream')).toBe(key)
        }
      }
      await under.close()
    }
  })

  test('a put that cannot be made durable is not acknowledged, and the next one may succeed', async () => {
    const faults = [{ fullAtWrite: 1 }, { badSyncAt: 1 }]
    // What a failed sync loses is a matter of chance.
    for (const [round, fault] of [...faults, ...faults, ...faults, ...faults].entries()) {
      const under = await make()
      const { store } = under
      const end = endsOf(under)
      end.disk.injectFaults(fault)
      expect(await store.put([harbour], 'text/plain')).toMatchObject({
        error: { kind: 'storage_failed' },
      })
      end.disk.injectFaults({})
      const key = await put(store, harbour)
      expect(value(await end.after(round).get(key)).equals(harbour)).toBe(true)
      await under.close()
    }
  })

  return cases
}

function endsOf({ ends }: StoreUnderTest): StoreEnds {
  if (ends === undefined) throw new Error('the power of this store cannot be cut')
  return ends
}

/** Puts small, large and repeated content; notes what was acknowledged. */
async function storeAll(store: BlobStore, into: Map<BlobKey, Buffer>): Promise<void> {
  for (const text of ['rope', 'sail', 'rope', 'x'.repeat(300_000)]) {
    const bytes = Buffer.from(text)
    const key = value(await store.put([bytes], 'application/octet-stream'))
    into.set(key, bytes)
  }
}
