import { expect, test } from 'vitest'
import { guardRefusal, type Arrival } from './request-guard.ts'

const PORT: Arrival = { port: 4600 }

function verdict(headers: Record<string, string | string[]>, arrival = PORT, url = '/') {
  const headersDistinct = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, [value].flat()]),
  )
  return guardRefusal({ headersDistinct, url }, arrival) ?? 'allowed'
}

test.each(['127.0.0.1:4600', 'localhost:4600', 'LOCALHOST:4600', '[::1]:4600'])(
  'the host name %s is allowed on the port',
  (host) => {
    expect(verdict({ host })).toBe('allowed')
  },
)

test.each([
  'example.com',
  'example.com:4600',
  'localhost',
  'localhost:4601',
  'localhost:46000',
  'localhost.example.com:4600',
  '127.0.0.1.example.com:4600',
  '127.0.0.2:4600',
  '127.1:4600',
  '2130706433:4600',
  '0.0.0.0:4600',
  '[::ffff:127.0.0.1]:4600',
  'user@localhost:4600',
  'localhost:4600.',
  'localhost.:4600',
  '',
])('the host name "%s" is refused on the port', (host) => {
  expect(verdict({ host })).toBe('host')
})

test('a request without a host name, or with two, is refused everywhere', () => {
  expect([
    verdict({}),
    verdict({ host: ['localhost:4600', 'example.com'] }),
    verdict({ host: ['a', 'b'] }, 'socket'),
  ]).toEqual(['host', 'host', 'host'])
})

test('an origin must be absent or that of the request', () => {
  const host = 'localhost:4600'
  const origins = [
    'http://localhost:4600',
    'http://127.0.0.1:4600',
    'https://localhost:4600',
    'http://localhost:46000',
    'http://localhost:4600.example.com',
    'http://localhost',
    'http://evil.example',
    'null',
    '',
  ]
  expect(origins.map((origin) => verdict({ host, origin }))).toEqual([
    'allowed',
    ...origins.slice(1).map(() => 'origin'),
  ])
})

test('two origins are refused if one of them is foreign', () => {
  const origin = ['http://localhost:4600', 'http://evil.example']
  expect(verdict({ host: 'localhost:4600', origin })).toBe('origin')
})

test('on a socket any host name is allowed, but no foreign origin', () => {
  expect([
    verdict({ host: 'hawser' }, 'socket'),
    verdict({ host: 'hawser', origin: 'http://evil.example' }, 'socket'),
  ]).toEqual(['allowed', 'origin'])
})

test('a request target must be a path', () => {
  const targets = ['/a?b', '*', 'http://evil.example/', '']
  expect(targets.map((url) => verdict({ host: 'localhost:4600' }, PORT, url))).toEqual([
    'allowed',
    'target',
    'target',
    'target',
  ])
})

test.each([
  [{ 'content-encoding': 'gzip' }, 'coding'],
  [{ 'content-encoding': 'Identity' }, 'allowed'],
  [{ 'transfer-encoding': 'chunked' }, 'allowed'],
  [{ 'transfer-encoding': 'gzip, chunked' }, 'coding'],
])('a body with %j is %s', (headers, expected) => {
  expect(verdict({ host: 'localhost:4600', ...headers }, PORT, '/')).toBe(expected)
})
