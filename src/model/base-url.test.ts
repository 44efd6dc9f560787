import { expect, test } from 'vitest'
import { baseUrl, isHttpsOrLocal } from './base-url.ts'

test.each([
  ['https://api.example.com'],
  ['https://api.example.com/v1/'],
  ['http://127.0.0.1:8080/v1'],
  ['HTTP://[::1]:1'],
])('%s is a base URL', (text) => {
  expect(baseUrl(text)?.href).toBe(new URL(text).href)
})

test.each([
  [''],
  ['api.example.com'],
  ['/v1'],
  ['ftp://example.com'],
  ['file:///etc/passwd'],
  ['javascript:alert(1)'],
  ['https://user@example.com'],
  ['https://:password@example.com'],
  ['https://example.com?'],
  ['https://example.com/?key=1'],
  ['https://example.com/#'],
  ['https://example.com\n'],
  [' https://example.com'],
  ['https://exa mple.com'],
  ['https://'],
  ['http://999.1.1.1'],
])('"%s" is not a base URL', (text) => {
  expect(baseUrl(text)).toBeUndefined()
})

test.each([
  ['https://example.com', true],
  ['http://localhost:1', true],
  ['http://LOCALHOST', true],
  ['http://127.0.0.1', true],
  ['http://127.9.9.9', true],
  ['http://2130706433', true],
  ['http://[::1]', true],
  ['http://example.com', false],
  ['http://localhost.example.com', false],
  ['http://127.0.0.1.example.com', false],
  ['http://192.168.0.1', false],
  ['http://0.0.0.0', false],
  ['http://[::]', false],
])('data sent to %s is encrypted or stays on this machine: %s', (text, safe) => {
  expect(isHttpsOrLocal(new URL(text))).toBe(safe)
})
