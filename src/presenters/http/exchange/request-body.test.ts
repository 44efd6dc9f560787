import * as z from 'zod'
import { expect, test } from 'vitest'
import { checkValue, jsonBody } from './request-body.ts'

const Shape = z.strictObject({ a: z.string().optional() })

function request(
  body: string | Uint8Array | ReadableStream<Uint8Array>,
  type = 'application/json',
): Request {
  return new Request('http://127.0.0.1/', {
    method: 'POST',
    body,
    headers: { 'content-type': type },
    duplex: 'half',
  })
}

test.each([
  'application/json',
  'application/json; charset=utf-8',
  'Application/JSON;charset="UTF-8"',
])('a body of the type %s is read', async (type) => {
  expect(await jsonBody(request('{"a":"é"}', type), Shape)).toEqual({ ok: true, value: { a: 'é' } })
})

test('a body is read up to the limit and no further, whatever length it declares', async () => {
  expect(await jsonBody(request('{"a":"12345"}'), Shape, 13)).toMatchObject({ ok: true })
  expect(await jsonBody(request('{"a":"123456"}'), Shape, 13)).toMatchObject({
    ok: false,
    error: { kind: 'too_large' },
  })
  let taken = 0
  const endless = new ReadableStream({
    pull: (controller) => {
      taken += 1
      controller.enqueue(Buffer.alloc(10, ' '))
    },
  })
  expect(await jsonBody(request(endless), Shape, 25)).toMatchObject({
    error: { kind: 'too_large' },
  })
  expect(taken).toBeLessThan(6)
})

test('invalid UTF-8 is not JSON', async () => {
  const body = Buffer.from([...Buffer.from('{"a":"'), 0xff, ...Buffer.from('"}')])
  expect(await jsonBody(request(body), Shape)).toMatchObject({ error: { kind: 'invalid_args' } })
})

test('the depth of a body is limited', async () => {
  const Any = z.unknown()
  const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`
  expect(await jsonBody(request(nested(64)), Any)).toMatchObject({ ok: true })
  expect(await jsonBody(request(nested(65)), Any)).toMatchObject({ ok: false })
})

test('a refusal names the field, never its value, and escapes unknown names', () => {
  const secret = checkValue(Shape, { a: 42, 'b\u001B[2J\u202E': 'value of b' })
  expect(secret).toMatchObject({
    ok: false,
    error: {
      kind: 'invalid_args',
      message: String.raw`Invalid request: a: missing or of the wrong type; unknown field "b\u001b[2J\u202e".`,
    },
  })
})
