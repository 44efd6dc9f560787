import * as fc from 'fast-check'
import type { ResponseInputItem } from 'openai/resources/responses/responses'
import { expect, test } from 'vitest'
import { ResponseStore, SocketMemory } from './response-store.ts'

function message(text: string): ResponseInputItem {
  return { role: 'user', content: text }
}

function texts(items: readonly ResponseInputItem[] | undefined): unknown {
  const all = items?.map((item) => ('role' in item && 'content' in item ? item.content : ''))
  return all?.filter((content) => typeof content === 'string').join(' ')
}

test('a response is stored with everything before it, whatever continues from it', () => {
  const store = new ResponseStore()
  store.keep('a', { items: [message('one'), message('two')], store: true })
  store.keep('b', { items: [message('three')], previous: 'a', store: true })
  store.keep('c', { items: [message('four')], previous: 'a', store: true })
  expect(['a', 'b', 'c', 'd'].map((id) => texts(store.itemsOf(id)))).toEqual([
    'one two',
    'one two three',
    'one two four',
    undefined,
  ])
})

test('a response with `store: false` is not stored', () => {
  const store = new ResponseStore()
  store.keep('a', { items: [message('one')], store: false })
  expect(store.itemsOf('a')).toBeUndefined()
})

test('the responses used last are kept, and those that continue a dropped one are unknown', () => {
  const store = new ResponseStore({ entries: 3, bytes: 1_000_000 })
  store.keep('a', { items: [message('one')], store: true })
  store.keep('b', { items: [message('two')], previous: 'a', store: true })
  store.keep('c', { items: [message('three')], store: true })
  expect(texts(store.itemsOf('a'))).toBe('one')
  store.keep('d', { items: [message('four')], store: true })
  expect(['a', 'b', 'c', 'd'].map((id) => store.itemsOf(id) !== undefined)).toEqual([
    true,
    false,
    true,
    true,
  ])
  store.keep('e', { items: [message('five')], previous: 'a', store: true })
  store.keep('f', { items: [message('six')], store: true })
  store.keep('g', { items: [message('seven')], store: true })
  expect(store.itemsOf('e')).toBeUndefined()
})

test('the number and bytes of stored responses stay within their limits', () => {
  const bounds = { entries: 5, bytes: 400 }
  fc.assert(
    fc.property(
      fc.array(fc.record({ length: fc.nat(300), on: fc.nat(10) }), { maxLength: 40 }),
      (steps) => {
        const store = new ResponseStore(bounds)
        const items = new Map<string, readonly ResponseInputItem[]>()
        for (const [index, { length, on }] of steps.entries()) {
          const before = `r${index - on}`
          const previous = store.itemsOf(before) === undefined ? undefined : before
          items.set(`r${index}`, [message('a'.repeat(length))])
          store.keep(`r${index}`, { items: items.get(`r${index}`) ?? [], previous, store: true })
        }
        const known = [...items].filter(([id]) => store.itemsOf(id) !== undefined)
        const bytes = known.reduce((sum, [, one]) => sum + JSON.stringify(one).length, 0)
        expect(known.length).toBeLessThanOrEqual(bounds.entries)
        expect(bytes).toBeLessThanOrEqual(bounds.bytes)
      },
    ),
  )
})

test('a socket remembers its last response, stored or not, until a request fails', () => {
  const store = new ResponseStore()
  const socket = new SocketMemory(store)
  socket.keep('a', { items: [message('one')], store: false })
  socket.keep('b', { items: [message('two')], previous: 'a', store: false })
  expect([socket.itemsOf('a'), store.itemsOf('b')]).toEqual([undefined, undefined])
  expect(texts(socket.itemsOf('b'))).toBe('one two')
  socket.keep('c', { items: [message('three')], previous: 'b', store: true })
  expect(texts(store.itemsOf('c'))).toBe('one two three')
  socket.forget()
  expect([texts(socket.itemsOf('b')), texts(socket.itemsOf('c'))]).toEqual([
    undefined,
    'one two three',
  ])
})

test('a socket does not remember more bytes than its limit', () => {
  const socket = new SocketMemory(new ResponseStore(), 1_000)
  const half = message('a'.repeat(600))
  socket.keep('a', { items: [half], store: false })
  expect(socket.itemsOf('a')).toHaveLength(1)
  socket.keep('b', { items: [half], previous: 'a', store: false })
  expect(socket.itemsOf('b')).toBeUndefined()
})
