import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { sendLongMessage } from './long-message.ts'

/** A connection that sends bytes when the test releases them. */
function connectionByHand() {
  const frames: Buffer[] = []
  let leave: (error?: Error) => void = () => {}
  const write = (bytes: Uint8Array, done: (error?: Error) => void) => {
    // A copy, because the memory is reused.
    frames.push(Buffer.from(bytes))
    leave = done
  }
  return { connection: { write }, frames, leave: (error?: Error) => leave(error) }
}

/** Everything written to a connection that never blocks. */
function written(pieces: readonly Buffer[]) {
  const frames: Buffer[] = []
  const write = (bytes: Uint8Array, done: () => void) => {
    frames.push(Buffer.from(bytes))
    done()
  }
  sendLongMessage({ write }, { pieces, mayContinue: () => true, onRead: () => {} })
  return frames.map(opened)
}

/** Reads a frame as RFC 6455 defines it. */
function opened(frame: Buffer) {
  const lengthCode = (frame[1] ?? 0) & 0x7f
  const keyAt = 2 + (lengthCode === 127 ? 8 : lengthCode === 126 ? 2 : 0)
  const length =
    lengthCode === 127
      ? Number(frame.readBigUInt64BE(2))
      : lengthCode === 126
        ? frame.readUInt16BE(2)
        : lengthCode
  const key = frame.subarray(keyAt, keyAt + 4)
  const text = frame.subarray(keyAt + 4).map((byte, at) => byte ^ (key[at % 4] ?? 0))
  const isSealed = ((frame[1] ?? 0) & 0x80) !== 0
  return { first: frame[0] ?? 0, isSealed, lengthCode, length, key: key.toString('hex'), text }
}

const FRAGMENT = 256 * 1024

test.each([
  [1, 1],
  [125, 125],
  [126, 126],
  [65_535, 126],
  [65_536, 127],
  [FRAGMENT, 127],
])('%i bytes are one masked frame with the shortest length encoding', (size, lengthCode) => {
  const message = randomBytes(size)
  const [{ text, key: _, ...header } = expect.unreachable(), ...more] = written([message])
  expect([header, more]).toEqual([{ first: 0x81, isSealed: true, lengthCode, length: size }, []])
  expect(message.equals(text)).toBe(true)
})

test('pieces form one message, whatever their lengths, and all fragments but the last are full', () => {
  const pieces = [26, 0, FRAGMENT - 27, 2, 3 * FRAGMENT, 5, 0].map((size) => randomBytes(size))
  const frames = written(pieces)
  expect(frames.map(({ first, length }) => [first, length])).toEqual([
    [0x01, FRAGMENT],
    [0x00, FRAGMENT],
    [0x00, FRAGMENT],
    [0x00, FRAGMENT],
    [0x80, 6],
  ])
  expect(Buffer.concat(frames.map(({ text }) => text)).equals(Buffer.concat(pieces))).toBe(true)
  expect(new Set(frames.map(({ key }) => key)).size).toBe(frames.length)
})

test('a fragment is sent when the previous one has left, and the pieces are released with the last', () => {
  const { connection, frames, leave } = connectionByHand()
  const readAfter: number[] = []
  sendLongMessage(connection, {
    pieces: [randomBytes(2 * FRAGMENT + 1)],
    mayContinue: () => true,
    onRead: () => readAfter.push(frames.length),
  })
  expect([frames.length, readAfter]).toEqual([1, []])
  leave()
  expect([frames.length, readAfter]).toEqual([2, []])
  leave()
  expect([frames.length, readAfter]).toEqual([3, [2]])
  leave()
  expect([frames.length, readAfter]).toEqual([3, [2]])
})

test('nothing is sent after a failed fragment or after mayContinue returns false', () => {
  for (const [error, mayContinue] of [
    [new Error('gone'), true],
    [undefined, false],
  ] as const) {
    const { connection, frames, leave } = connectionByHand()
    sendLongMessage(connection, {
      pieces: [randomBytes(2 * FRAGMENT)],
      mayContinue: () => frames.length === 0 || mayContinue,
      onRead: () => expect.unreachable(),
    })
    leave(error)
    expect(frames.length).toBe(1)
  }
})
