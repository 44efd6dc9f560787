import { expect, test } from 'vitest'
import { CrashDisk } from '../../../test/support/host/crash-disk.ts'
import { immediateClock, testPlace } from '../../../test/support/log/log-place.ts'
import { value } from '../../../test/support/log/story.ts'
import { FreshBlobs } from './fresh-blobs.ts'

test('a stored blob is returned from memory once, and from the store afterwards', async () => {
  const { store } = await testPlace(new CrashDisk(1).folder(), immediateClock)
  const key = value(await store.put([Buffer.from('one')], 'text/plain'))
  const other = value(await store.put([Buffer.from('two')], 'text/plain'))
  const fresh = new FreshBlobs()
  const held = Buffer.from('one')
  fresh.hold(key, held)
  const over = fresh.over(store)
  expect(value(await over.get(key))).toBe(held)
  expect(value(await over.get(key))).not.toBe(held)
  expect(value(await over.get(key))).toEqual(held)
  expect(value(await over.get(other))).toEqual(Buffer.from('two'))
})
