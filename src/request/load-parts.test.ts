import { expect, test } from 'vitest'
import { CrashDisk } from '../../test/support/host/crash-disk.ts'
import { immediateClock, testPlace } from '../../test/support/log/log-place.ts'
import { value } from '../../test/support/log/story.ts'
import type { BlobPart, ConversationItem } from '../model/conversation.ts'
import { BlobKey, ResourceId, type BlobMediaType } from '../model/ids.ts'
import { loadParts } from './load-parts.ts'

const resource = ResourceId.parse('res_01kg8m2q3r4s5t6v7w8x9y0z11')

async function place() {
  const { store } = await testPlace(new CrashDisk(1).folder(), immediateClock)
  const kept = async (bytes: Buffer, media_type: BlobMediaType, more: Partial<BlobPart> = {}) => {
    const blob = value(await store.put([bytes], media_type))
    return { ...part(blob, media_type), ...more }
  }
  return { store, kept }
}

function part(blob: BlobKey, media_type: string): BlobPart {
  return { type: 'blob', blob, media_type, resource, handle: '@txt1', lifetime: 'turn' }
}

function user(...parts: BlobPart[]): ConversationItem {
  return {
    kind: 'user',
    seq: 3,
    parts: [{ type: 'text', text: 'Look', lifetime: 'stable' }, ...parts],
  }
}

test('[TI-083] the blobs that items need are read, and become bytes of their parts', async () => {
  const { store, kept } = await place()
  const image = await kept(Buffer.from([1, 2, 3]), 'image/png')
  const { items, losses } = await loadParts([user(image)], store)
  expect(items).toEqual([user({ ...image, bytes: Buffer.from([1, 2, 3]) })])
  expect(losses).toEqual([])
})

test('[SR-026] text in another encoding is sent converted, and stays stored unchanged', async () => {
  const { store, kept } = await place()
  const original = Buffer.from([0x93, 0x6e, 0xe9, 0x65, 0x94])
  const text = await kept(original, 'text/plain', { charset: 'windows-1252' })
  const { items } = await loadParts([user(text)], store)
  const [item] = items
  const shown = item !== undefined && 'parts' in item ? item.parts[1] : undefined
  expect(shown?.type === 'blob' ? shown.bytes?.toString('utf8') : undefined).toBe('“née”')
  expect(value(await store.get(text.blob))).toEqual(original)
})

test('a payload that the store lacks is replaced by a sentence with its handle and the reason', async () => {
  const { store, kept } = await place()
  const there = await kept(Buffer.from('here'), 'text/plain')
  const missing = part(BlobKey.parse(`${'0'.repeat(64)}.txt`), 'text/plain')
  const { items, losses } = await loadParts([user(missing, there)], store)
  const [item] = items
  expect(item !== undefined && 'parts' in item ? item.parts.slice(1) : []).toEqual([
    { type: 'text', text: '[The payload of @txt1 is missing.]', resource, lifetime: 'turn' },
    { ...there, bytes: Buffer.from('here') },
  ])
  expect(losses).toEqual([{ resource, handle: '@txt1', why: 'payload_missing' }])
})
