import { expect, test } from 'vitest'
import { HttpHeaders } from './http-headers.ts'
import { HttpResponse } from './http-response.ts'

function answer(text: string, type = 'text/plain'): HttpResponse {
  const headers = new HttpHeaders({ 'content-type': type })
  return new HttpResponse(new Response(text).body, { status: 200, headers })
}

test('a body is read in each form that fetch has', async () => {
  expect(await answer('\uFEFFtext 🚢').text()).toBe('text 🚢')
  expect(await answer('{"a":1}').json()).toEqual({ a: 1 })
  expect(Buffer.from(await answer('bytes').arrayBuffer()).toString()).toBe('bytes')
  expect(Buffer.from(await answer('bytes').bytes()).toString()).toBe('bytes')
  const blob = await answer('blob').blob()
  expect([blob.type, await blob.text()]).toEqual(['text/plain', 'blob'])
  const form = await answer('a=1', 'application/x-www-form-urlencoded').formData()
  expect(form.get('a')).toBe('1')
})

test('a body is read once, and a copy has its own', async () => {
  const first = answer('text')
  const copy = first.clone()
  expect([await first.text(), first.bodyUsed, await copy.text()]).toEqual(['text', true, 'text'])
  await expect(first.text()).rejects.toBeInstanceOf(TypeError)
  expect(() => first.clone()).toThrow(TypeError)
})

test.each([0, 199, 600, Number.NaN])('status %d is refused', (status) => {
  expect(() => new HttpResponse(null, { status, headers: new HttpHeaders() })).toThrow(RangeError)
})
