import { randomFillSync } from 'node:crypto'
import { EventId, ResourceId, SessionId, TurnId } from '../model/ids.ts'
import type { Clock } from './clock.ts'

/** New ids, and names that nobody else uses. */
export interface Ids {
  session(): SessionId
  turn(): TurnId
  resource(): ResourceId
  event(): EventId
  /** A name for a temporary file that nobody else has. */
  temporary(): string
}

export function systemIds(clock: Clock): Ids {
  const chance = chanceSource()
  let last = { time: -1, letters: '' }
  const ulid = () => {
    const time = clock.now()
    if (time !== last.time) last = { time, letters: timeLetters(time) }
    return last.letters + chanceLetters(chance())
  }
  return {
    session: () => SessionId.parse(`ses_${ulid()}`),
    turn: () => TurnId.parse(`trn_${ulid()}`),
    resource: () => ResourceId.parse(`res_${ulid()}`),
    event: () => EventId.parse(`evt_${ulid()}`),
    temporary: () => `.tmp-${chanceLetters(chance())}`,
  }
}

/** Crockford's base 32, in lower case. */
const LETTERS = '0123456789abcdefghjkmnpqrstvwxyz'

/** 48 bits of time as ten letters. */
function timeLetters(time: number): string {
  let text = ''
  for (let rest = time, i = 0; i < 10; i++) {
    text = LETTERS.charAt(rest % 32) + text
    rest = Math.floor(rest / 32)
  }
  return text
}

/** 16 letters, five bits of each byte. */
function chanceLetters(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += LETTERS.charAt(byte & 31)
  return text
}

/** Random bytes are fetched for 256 ids at a time: an Event needs one, and asking the system each time is slow. */
function chanceSource(): () => Uint8Array {
  const pool = Buffer.alloc(16 * 256)
  let next = pool.length
  return () => {
    if (next === pool.length) {
      randomFillSync(pool)
      next = 0
    }
    return pool.subarray(next, (next += 16))
  }
}
