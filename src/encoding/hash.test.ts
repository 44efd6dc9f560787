import { expect, test } from 'vitest'
import { runningSha256, sha256 } from './hash.ts'

test('SHA-256 of text is that of its UTF-8, at once or in pieces', () => {
  const known = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'
  expect(sha256('abc')).toBe(known)
  expect(sha256(Buffer.from('abc'))).toBe(known)
  const running = runningSha256()
  running.update(Buffer.from('a'))
  running.update(Buffer.from('bc'))
  expect(running.hex()).toBe(known)
})
