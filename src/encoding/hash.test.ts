import { expect, test } from 'vitest'
import { random } from '../../test/support/host/random.ts'
import { growingSha256, runningSha256, sha256 } from './hash.ts'

test('the SHA-256 of text is that of its UTF-8, whether hashed at once or in chunks', () => {
  const known = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'
  expect(sha256('abc')).toBe(known)
  expect(sha256(Buffer.from('abc'))).toBe(known)
  const running = runningSha256()
  running.update(Buffer.from('a'))
  running.update(Buffer.from('bc'))
  expect(running.hex()).toBe(known)
})

test('the SHA-256 of bytes in reused memory is that of the current bytes', () => {
  const hash = growingSha256()
  const room = Buffer.allocUnsafeSlow(100)
  for (const byte of [1, 2]) {
    const bytes = room.fill(byte).subarray(0, 90 + byte)
    expect(hash(bytes, 10)).toBe(sha256(bytes))
  }
})

test('the SHA-256 of bytes that grow, shrink or change does not depend on earlier bytes', () => {
  const chance = random(7)
  const hash = growingSha256()
  let bytes = chance.bytes(20_000)
  for (let round = 0; round < 300; round++) {
    const kept = bytes.subarray(0, chance.pick([0, 1, 4095, 4096, 4097, bytes.length - 2]))
    bytes = Buffer.concat([kept, chance.bytes(chance.below(9000))])
    // In the middle, which a shortcut would miss.
    if (chance.below(4) === 0 && bytes.length > 0) bytes[chance.below(bytes.length)] = 0
    expect(hash(bytes, chance.pick([0, 100, 4096, 1e9]))).toBe(sha256(bytes))
  }
})
