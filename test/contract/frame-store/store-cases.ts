import { expect } from 'vitest'
import { z } from 'zod'
import type { InstanceId } from '../../../src/model/ids.ts'
import type { FrameStore } from '../../../src/tether/frames/frame-store.ts'
import { value } from '../../support/log/story.ts'
import { add, entry, hold, ONE, SCARCE, tryHold, TWO, type FrameCase } from './under-test.ts'

/** Ids that lead elsewhere, or nowhere. */
const HOSTILE = [
  '',
  '.',
  '..',
  '../ins_' + '1'.repeat(26),
  'ins_' + '1'.repeat(25),
  'ins_' + '1'.repeat(27),
  'INS_' + '1'.repeat(26),
  'ins_' + '1'.repeat(25) + '/',
  'ins_' + '1'.repeat(26) + '\0',
  'ins_' + '1'.repeat(26) + '\n',
  'ins_' + '1'.repeat(26) + '/../../heads',
  'ins_*',
  'ins_>',
  'register.json',
  'unended',
  '__proto__',
]

/** An id as it arrives where the type was not checked. */
function unchecked(text: string): InstanceId {
  const parsed: InstanceId = z.custom<InstanceId>().parse(text)
  return parsed
}

async function bytesOf(store: FrameStore, instance: InstanceId): Promise<string | undefined> {
  const source = value(await store.raw(instance))
  if (source === undefined) return undefined
  let text = ''
  const unread = await source.each(async (_name, bytes) => {
    for await (const piece of bytes) text += piece.toString('utf8')
  })
  expect(unread).toBeUndefined()
  await source.close()
  return text
}

export const STORE_CASES: readonly FrameCase[] = [
  {
    title: 'an id that is not one of an Instance is refused before anything is accessed',
    run: async ({ store }) => {
      for (const text of HOSTILE) {
        const bad = unchecked(text)
        const refused = { ok: false, error: { kind: 'invalid_args' } }
        expect(await tryHold(store, { instance: bad })).toMatchObject(refused)
        for (const answer of [await store.raw(bad), await store.delete(bad)]) {
          expect(answer).toMatchObject(refused)
          expect(bad.length > 3 && JSON.stringify(answer).includes(JSON.stringify(bad))).toBe(false)
        }
      }
      expect(value(await store.list())).toEqual([])
    },
  },
  {
    title: 'lists the Instances that have frames, and no others',
    run: async ({ store, other }) => {
      expect(value(await store.list())).toEqual([])
      for (const instance of [ONE, TWO]) {
        const { frames } = await hold(store, { instance })
        await add(frames, 1)
        await frames.close()
      }
      expect(value(await other.list()).toSorted()).toEqual([ONE, TWO])
      value(await store.delete(ONE))
      expect(value(await other.list())).toEqual([TWO])
    },
  },
  {
    title: 'what is deleted while it is listed may be in the list or not, and is no error',
    run: async ({ store, other }) => {
      for (const instance of [ONE, TWO]) {
        const { frames } = await hold(store, { instance })
        await add(frames, 1)
        await frames.close()
      }
      const [deleted, ...lists] = await Promise.all([
        store.delete(ONE),
        ...Array.from({ length: 5 }, () => other.list()),
      ])
      value(deleted)
      for (const list of lists) expect([[TWO], [ONE, TWO]]).toContainEqual(value(list).toSorted())
      expect(value(await other.list())).toEqual([TWO])
    },
  },
  {
    title: 'frames that are open are not deleted, and none is not an error',
    run: async ({ store, other }) => {
      value(await store.delete(ONE))
      const { frames } = await hold(store)
      await add(frames, 1)
      expect(await other.delete(ONE)).toMatchObject({ error: { kind: 'storage_failed' } })
      await add(frames, 2)
      await frames.close()
      value(await other.delete(ONE))
      value(await other.delete(ONE))
      expect(await bytesOf(store, ONE)).toBeUndefined()
    },
  },
  {
    title: 'raw bytes have everything that was acknowledged, while it is open, and what is carried',
    run: async ({ store, other }) => {
      expect(await bytesOf(store, ONE)).toBeUndefined()
      const hash = 'ab'.repeat(32)
      const waiting = [entry(1, hash)]
      const messages = () => ({ waiting, ended: [] })
      const { frames } = await hold(store, { retention: SCARCE, messages })
      value(await frames.append({ first: 1, entries: waiting }))
      for (let seq = 2; seq < 60; seq++) {
        await add(frames, seq)
        const text = await bytesOf(other, ONE)
        expect(text).toContain(entry(seq).text)
        expect(text).toContain(hash)
      }
      expect(frames.firstAvailable).toBeGreaterThan(1)
    },
  },
  {
    title: 'raw bytes are read whatever is wrong with them',
    run: async (under) => {
      const { frames } = await hold(under.store)
      await add(frames, 1, 2, 3)
      await frames.close()
      await under.damage(ONE, 2)
      expect(await bytesOf(under.store, ONE)).toContain(entry(3).text)
    },
  },
]
