import { elapsedMs, type Clock } from '../../host/clock.ts'

/** A chat that asked to be paired. */
export interface UnpairedChat {
  readonly chat: number
  readonly kind: 'private' | 'group'
  readonly name: string
}

interface PendingCode extends UnpairedChat {
  readonly code: string
  readonly since: number
}

const VALID_MS = 60 * 60 * 1000
const MOST_PENDING = 1_000
/** Codes that are sent in a minute, to all chats together. */
const MOST_A_MINUTE = 30
const MINUTE_MS = 60_000
const LETTERS = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789'
const CODE_LETTERS = 8

/**
 * One-time codes for chats that are not paired, kept in memory only: whatever strangers send, nothing of it is stored. A chat gets
 * one code an hour.
 */
export class PairingCodes {
  readonly #clock: Clock
  readonly #secret: () => string
  /** The oldest first. */
  readonly #pending = new Map<number, PendingCode>()
  #issueTimes: number[] = []

  /** `secret`: 43 random characters. */
  constructor(clock: Clock, secret: () => string) {
    this.#clock = clock
    this.#secret = secret
  }

  /** A code to send to the chat; `undefined` if it has one, or too many were sent. */
  issue(chat: UnpairedChat): string | undefined {
    const now = this.#clock.monotonicMs()
    this.#issueTimes = this.#issueTimes.filter((at) => now - at < MINUTE_MS)
    if (this.#valid(chat.chat) !== undefined || this.#issueTimes.length >= MOST_A_MINUTE)
      return undefined
    this.#issueTimes.push(now)
    const code = codeOf(this.#secret())
    this.#pending.delete(chat.chat)
    this.#pending.set(chat.chat, { ...chat, code, since: now })
    for (const oldest of this.#pending.keys()) {
      if (this.#pending.size <= MOST_PENDING) break
      this.#pending.delete(oldest)
    }
    return code
  }

  /** The chat that shows this code. */
  find(code: string): UnpairedChat | undefined {
    const plain = code.toUpperCase().replaceAll(/[^A-Z0-9]/g, '')
    for (const { chat, kind, name, code: own } of this.#pending.values())
      if (own.replace('-', '') === plain && this.#valid(chat) !== undefined)
        return { chat, kind, name }
    return undefined
  }

  /** A code works once. */
  remove(chat: number): void {
    this.#pending.delete(chat)
  }

  #valid(chat: number): PendingCode | undefined {
    const found = this.#pending.get(chat)
    if (found === undefined || elapsedMs(this.#clock, found.since) >= VALID_MS) return undefined
    return found
  }
}

/** Forty random bits: each character of the secret has six, of which five are used. */
function codeOf(secret: string): string {
  const letters = Array.from(secret.slice(0, CODE_LETTERS), (character) =>
    LETTERS.charAt(BASE64URL.indexOf(character) % LETTERS.length),
  )
  return `${letters.slice(0, 4).join('')}-${letters.slice(4).join('')}`
}

const BASE64URL = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
