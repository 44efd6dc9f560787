import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { base64Length, isBase64, writeBase64 } from './base64.ts'

const PIECE = 48 * 1024

/** Written between two other bytes, which must not change. */
function written(bytes: Buffer): string {
  const room = Buffer.alloc(base64Length(bytes.length) + 2, '.')
  expect(writeBase64(bytes, room, 1)).toBe(room.length - 1)
  return room.toString('latin1')
}

test('any bytes are encoded as Node encodes them, and nothing else is written', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 400 }), (array) => {
      const bytes = Buffer.from(array)
      expect(written(bytes)).toBe(`.${bytes.toString('base64')}.`)
    }),
  )
})

test.each([
  ['few bytes', 0, 100],
  ['one piece', PIECE - 4, PIECE + 4],
  ['several pieces', 3 * PIECE - 4, 3 * PIECE + 4],
])('no length is special: %s', (_, shortest, longest) => {
  const bytes = randomBytes(longest)
  for (let length = shortest; length <= longest; length += 1) {
    // At another offset in memory each time, as with bytes of a file.
    const some = bytes.subarray(longest - length)
    expect(written(some) === `.${some.toString('base64')}.`).toBe(true)
  }
})

test('the output of Buffer is base64, and no other text of its alphabet is', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
      expect(isBase64(Buffer.from(bytes).toString('base64'))).toBe(true)
    }),
  )
  for (const text of [
    'A',
    'AA',
    'AAA',
    'A===',
    '=',
    '====',
    'AA=A',
    'AAA=AAAA',
    'AAA-',
    'AA\n=',
    'AAAé',
  ]) {
    expect(isBase64(text), text).toBe(false)
  }
})

test('32 MiB of base64 are checked where V8 no longer optimises patterns', () => {
  const script = `
    import { isBase64 } from ${JSON.stringify(new URL('base64.ts', import.meta.url).href)}
    const text = 'A'.repeat(32 * 1024 * 1024)
    const naive = () => { try { return /^[A-Za-z0-9+/]+={0,2}$/.test(text) } catch (error) { return error.name } }
    console.log(JSON.stringify([isBase64(text), isBase64(text + 'A=!='), naive()]))`
  const flags = ['--no-regexp-optimization', '--import', 'tsx', '--input-type=module', '-e', script]
  const run = spawnSync(process.execPath, flags, { encoding: 'utf8' })
  expect(run.stdout.trim()).toBe('[true,false,"RangeError"]')
})
