import { spawnSync } from 'node:child_process'
import process from 'node:process'
import { expect, test } from 'vitest'
import { retryAfterMs, failureOfResponse, failureInBody } from './vendor-failure.ts'

function headers(named: Record<string, string>) {
  return { get: (name: string) => named[name] ?? null }
}

const NOW = Date.parse('2026-03-04T05:06:07Z')

test.each([
  [{ 'retry-after': '3' }, 3_000],
  [{ 'retry-after': ' 0.25 ' }, 250],
  [{ 'retry-after': '0' }, 0],
  [{ 'retry-after': '86400' }, 3_600_000],
  [{ 'retry-after': 'Wed, 04 Mar 2026 05:06:27 GMT' }, 20_000],
  [{ 'retry-after': 'Wed, 04 Mar 2026 05:00:00 GMT' }, 0],
  [{ 'retry-after': 'Thu, 04 Mar 2027 05:00:00 GMT' }, 3_600_000],
  [{ 'retry-after-ms': '120.5', 'retry-after': '7' }, 121],
  [{ 'retry-after-ms': 'soon', 'retry-after': '7' }, 7_000],
  [{ 'retry-after': '-1' }, 0],
  [{ 'retry-after': 'later' }, undefined],
  [{ 'retry-after': '' }, undefined],
  [{}, undefined],
])('%j asks to wait for %s ms', (named, ms) => {
  expect(retryAfterMs(headers(named), NOW)).toBe(ms)
})

test('an error is read in every shape that vendors and compatible servers use', () => {
  expect(
    failureInBody({ type: 'error', error: { type: 't', message: 'm' }, request_id: 'req_1' }),
  ).toEqual({ message: 'm', type: 't', requestId: 'req_1' })
  expect(
    failureInBody({ type: 'error', error: { message: 'm', details: { error_code: 'c' } } }),
  ).toEqual({
    message: 'm',
    code: 'c',
  })
  expect(failureInBody({ error: { message: 'm', type: 't', param: 'p', code: 'c' } })).toEqual({
    message: 'm',
    type: 't',
    param: 'p',
    code: 'c',
  })
  expect(failureInBody({ error: { message: 'm', type: 't', param: null, code: null } })).toEqual({
    message: 'm',
    type: 't',
  })
  expect(failureInBody({ error: { message: 'm', code: 402 } })).toEqual({
    message: 'm',
    status: 402,
  })
  expect(failureInBody({ object: 'error', message: 'm', type: 't', code: 400 })).toEqual({
    message: 'm',
    type: 't',
    status: 400,
  })
  expect(failureInBody({ error: 'm' })).toEqual({ message: 'm' })
  expect(failureInBody({ detail: 'm' })).toEqual({ message: 'm' })
  expect(failureInBody({ error: { type: 't' } })).toEqual({ message: '', type: 't' })
})

test('a body without an error is not read as one', () => {
  const others = [undefined, null, 'm', 7, [], {}, { error: null, id: 'x' }, { type: 'message' }]
  expect(others.map(failureInBody)).toEqual(others.map(() => undefined))
})

test('headers add the status, the name of the request and the wait', () => {
  const named = { 'x-request-id': 'req_2', 'retry-after': '2' }
  const text = '{"error":{"message":"m","code":500}}'
  expect(failureOfResponse({ status: 429, headers: headers(named) }, text, NOW)).toEqual({
    message: 'm',
    status: 429,
    requestId: 'req_2',
    retryAfterMs: 2_000,
  })
  expect(
    failureOfResponse(
      { status: 500, headers: headers({ 'request-id': 'a', 'x-request-id': 'b' }) },
      '',
      NOW,
    ),
  ).toEqual({ message: '', status: 500, requestId: 'a' })
})

test('a plain text body is the message, and an HTML page is not', () => {
  const page = { status: 502, headers: headers({ 'content-type': 'text/html' }) }
  const plain = { status: 502, headers: headers({ 'content-type': 'text/plain' }) }
  expect(failureOfResponse(page, 'Bad gateway', NOW).message).toBe('')
  expect(failureOfResponse(plain, '<!doctype html>', NOW).message).toBe('')
  expect(failureOfResponse(plain, 'upstream is gone', NOW).message).toBe('upstream is gone')
})

test('an HTML page after 32 MiB of spaces is not a message, even if V8 no longer optimises patterns', () => {
  const script = `
    import { failureOfResponse } from ${JSON.stringify(new URL('vendor-failure.ts', import.meta.url).href)}
    const text = ' '.repeat(32 * 1024 * 1024) + '<html>'
    console.log(failureOfResponse({ status: 500, headers: new Headers() }, text, 0).message === '')`
  const flags = ['--no-regexp-optimization', '--import', 'tsx', '--input-type=module', '-e', script]
  const run = spawnSync(process.execPath, flags, { encoding: 'utf8' })
  expect(run.stdout.trim()).toBe('true')
})
