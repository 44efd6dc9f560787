import { randomFillSync } from 'node:crypto'
import { EventId, InstanceId, ResourceId, SessionId, TurnId } from '../model/ids.ts'
import type { Clock } from './clock.ts'

/** New ids and unused file names. */
export interface Ids {
  session(): SessionId
  turn(): TurnId
  resource(): ResourceId
  event(): EventId
  instance(): InstanceId
  /** A permission question, as long as it is open. */
  request(): string
  /** One holding of a lease. */
  epoch(): string
  /** A unique name for a temporary file. */
  temporary(): string
}

/**
 * The time in an id never decreases within a process and is clamped to 48 bits: a clock that steps back, or shows a time
 * before 1970, still gives valid ids that sort after earlier ones of this process. Uniqueness rests on randomness alone.
 */
export function systemIds(clock: Pick<Clock, 'now'>): Ids {
  const chance = chanceSource()
  let last = { time: 0, letters: timeLetters(0) }
  const ulid = () => {
    const time = Math.min(Math.max(Math.floor(clock.now()), last.time), LAST_TIME)
    if (time !== last.time) last = { time, letters: timeLetters(time) }
    return last.letters + chanceLetters(chance())
  }
  return {
    session: () => SessionId.parse(`ses_${ulid()}`),
    turn: () => TurnId.parse(`trn_${ulid()}`),
    resource: () => ResourceId.parse(`res_${ulid()}`),
    event: () => EventId.parse(`evt_${ulid()}`),
    instance: () => InstanceId.parse(`ins_${ulid()}`),
    request: () => `req_${ulid()}`,
    epoch: () => ulid(),
    temporary: () => `.tmp-${chanceLetters(chance())}`,
  }
}

/** Crockford's base 32, in lower case. */
const LETTERS = '0123456789abcdefghjkmnpqrstvwxyz'

const LAST_TIME = 2 ** 48 - 1

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

/** Fetches random bytes for 256 ids at a time: every Event needs an id, and a system call for each is slow. */
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
