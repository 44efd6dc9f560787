import { randomFillSync } from 'node:crypto'

/** The connection that a WebSocket was opened on. */
export interface SocketConnection {
  /** Calls `done` when the bytes are sent, or with the error if they are not. */
  write(bytes: Uint8Array, done: (error?: Error | null) => void): unknown
}

/** A text message to send. */
export interface LongMessage {
  readonly pieces: readonly Buffer[]
  /** Called before each fragment: may another be sent? */
  readonly mayContinue: () => boolean
  /** Called when all pieces have been sent and are no longer needed. Not called if sending fails. */
  readonly onRead: () => void
}

/** The maximum amount of text in one fragment. */
const FRAGMENT_BYTES = 256 * 1024

/**
 * Sends a text message as the client of an open WebSocket, in fragments (RFC 6455, sections 5.2 to 5.4). All fragments are
 * masked in the same memory, each when the previous one has left: a library that allocates for masking would need memory for
 * a second copy of a large message. Until everything is sent, only control frames such as a ping may come between. A fragment
 * may end inside a character; only the whole message is valid text.
 */
export function sendLongMessage(
  connection: SocketConnection,
  { pieces, mayContinue, onRead }: LongMessage,
): void {
  const room = Buffer.allocUnsafeSlow(LONGEST_HEAD + FRAGMENT_BYTES)
  const left = [...pieces]
  let opcode = TEXT
  const sendNext = () => {
    if (left.length === 0 || !mayContinue()) return
    const length = take(left, room.subarray(LONGEST_HEAD))
    const last = left.length === 0
    if (last) onRead()
    const frame = sealFrame(room, length, last ? opcode | FINAL : opcode)
    opcode = CONTINUATION
    connection.write(frame, (error) => {
      if (!(error instanceof Error)) sendNext()
    })
  }
  sendNext()
}

const TEXT = 0x1
const CONTINUATION = 0x0
const FINAL = 0x80
const SEALED = 0x80
const KEY_BYTES = 4
const LONGEST_HEAD = 14

/** Moves as much as fits out of `left` and returns the number of bytes. */
function take(left: Buffer[], room: Buffer): number {
  let length = 0
  for (let piece = left.shift(); piece !== undefined; piece = left.shift()) {
    const copied = piece.copy(room, length)
    length += copied
    if (copied === piece.length) continue
    left.unshift(piece.subarray(copied))
    break
  }
  return length
}

/** Turns the text after the longest possible header into a frame. A client masks each frame with a new random key. */
function sealFrame(room: Buffer, length: number, start: number): Buffer {
  // Only the shortest encoding of the length is valid.
  const extra = length < 126 ? 0 : length < 65_536 ? 2 : 8
  const frame = room.subarray(LONGEST_HEAD - KEY_BYTES - extra - 2, LONGEST_HEAD + length)
  frame[0] = start
  frame[1] = SEALED | (extra === 0 ? length : extra === 2 ? 126 : 127)
  if (extra === 2) frame.writeUInt16BE(length, 2)
  if (extra === 8) frame.writeBigUInt64BE(BigInt(length), 2)
  const key = randomFillSync(room.subarray(LONGEST_HEAD - KEY_BYTES, LONGEST_HEAD))
  for (let at = 0; at < length; at += 1) {
    const place = LONGEST_HEAD + at
    room[place] = (room[place] ?? 0) ^ (key[at & 3] ?? 0)
  }
  return frame
}
