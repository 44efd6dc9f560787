import { randomFillSync } from 'node:crypto'

/** The connection that a WebSocket was opened on. */
export interface SocketConnection {
  /** `done` is told when the bytes have left, or why they will not. */
  write(bytes: Uint8Array, done: (error?: Error | null) => void): unknown
}

/** A message of text in the making. */
export interface LongMessage {
  readonly pieces: readonly Buffer[]
  /** Asked before each fragment: whether another may still be sent. */
  readonly mayGoOn: () => boolean
  /** Told when no piece is read any more because all were sent. Never told when that comes to nothing. */
  readonly onRead: () => void
}

/** Of the text that is in one fragment, at most. */
const FRAGMENT_BYTES = 256 * 1024

/**
 * Sends a message of text over an open WebSocket, as its client, in fragments (RFC 6455, sections 5.2 to 5.4). All are sealed in
 * the same memory, each when the one before has left: a library that takes new memory to seal has a large message in memory
 * once more. Until all is sent nothing may come between but what controls the connection, a ping for one. The fragments may
 * end inside a character: only together they are text.
 */
export function sendLongMessage(
  connection: SocketConnection,
  { pieces, mayGoOn, onRead }: LongMessage,
): void {
  const room = Buffer.allocUnsafeSlow(LONGEST_HEAD + FRAGMENT_BYTES)
  const left = [...pieces]
  let opcode = TEXT
  const sendNext = () => {
    if (left.length === 0 || !mayGoOn()) return
    const length = take(left, room.subarray(LONGEST_HEAD))
    const last = left.length === 0
    if (last) onRead()
    const frame = sealed(room, length, last ? opcode | FINAL : opcode)
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

/** Moves as much as there is room for out of `left`, and answers how much that was. */
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

/** Makes a frame of the text behind the longest head. What a client says is sealed with a key that is new every time. */
function sealed(room: Buffer, length: number, start: number): Buffer {
  // The shortest form that says the length is the only one that may.
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
