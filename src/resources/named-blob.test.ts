import { expect, test } from 'vitest'
import { memoryStore } from '../../test/support/resources/memory-store.ts'
import { picture } from '../../test/support/resources/sample-files.ts'
import { value } from '../../test/support/log/story.ts'
import { systemClock } from '../host/clock.ts'
import { namedBlob } from './named-blob.ts'

const bytes = picture(3)

async function scene() {
  const { store } = memoryStore(systemClock)
  const blob = value(await store.put([bytes], 'image/png'))
  return { store, named: { blob, media_type: 'image/png', size: bytes.length } }
}

test('a blob whose key, type, size, hash and magic bytes agree is read [TI-050]', async () => {
  const { store, named } = await scene()
  expect(await namedBlob(named, store)).toEqual(bytes)
})

test.each([
  ['another size', { size: bytes.length + 1 }, 'corrupt'],
  ['a size over the limit', { size: 11 * 1024 * 1024 }, 'too_large'],
  ['another media type', { media_type: 'image/gif' }, 'type_mismatch'],
  ['a key that is a path', { blob: `../${'a'.repeat(64)}.png` }, 'invalid_name'],
  ['a key that no blob has', { blob: `${'a'.repeat(64)}.png` }, 'not_found'],
])('a reference with %s is refused', async (_, change, code) => {
  const { store, named } = await scene()
  expect(await namedBlob({ ...named, ...change }, store)).toMatchObject({ code })
})

test('bytes of another type than the key claims are refused', async () => {
  const { store } = await scene()
  const text = Buffer.from('plain text')
  const blob = value(await store.put([text], 'image/png'))
  const named = { blob, media_type: 'image/png', size: text.length }
  expect(await namedBlob(named, store)).toMatchObject({ code: 'type_mismatch' })
})

test('without a store, every reference is refused', async () => {
  const { named } = await scene()
  expect(await namedBlob(named, undefined)).toMatchObject({ code: 'invalid_name' })
})
