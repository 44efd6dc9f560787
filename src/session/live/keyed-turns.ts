import { turnOfKey } from '../../history/message-keys.ts'
import { failed, ok, type Result } from '../../model/errors.ts'
import { LIMITS } from '../../model/limits.ts'
import { utf8Bytes } from '../../model/shape.ts'
import { closedBefore } from '../admission/admissions.ts'
import type { AdmittedTurn } from '../admission/admit-options.ts'
import { keyedTurn, type KeyedTurn } from '../reading/keyed-turn.ts'
import type { ReadParts } from '../reading/read-log.ts'
import { resultOfTurn } from '../reading/result-of-turn.ts'
import type { KnownSession } from '../reading/whole-session.ts'

/** The Session whose messages have keys. */
interface KeyedSession extends KnownSession {
  /** The text as a commit records it. */
  readonly recordedText: (text: string) => string
}

/** Messages with keys: the same key never runs twice in a Session. */
export class KeyedTurns {
  readonly #parts: ReadParts
  readonly #session: KeyedSession
  /** Turns of this process that have not ended, and messages that are being admitted. */
  readonly #running = new Map<string, Promise<Result<AdmittedTurn>>>()
  /** Aborted when messages whose keys are being looked up must not start. */
  #lookups = new AbortController()

  constructor(parts: ReadParts, session: KeyedSession) {
    this.#parts = parts
    this.#session = session
  }

  /** Admits the message, unless one with the same key runs or has run: then returns that Turn. */
  async once(
    key: string,
    admit: () => Promise<Result<AdmittedTurn>>,
  ): Promise<Result<AdmittedTurn>> {
    const unfit = this.#unfit(key)
    if (unfit !== undefined) return unfit
    const running = this.#running.get(key)
    if (running !== undefined) return asRepeat(await running)
    const admitted = this.#unlessEarlier(key, admit)
    this.#running.set(key, admitted)
    const forget = () => void this.#running.delete(key)
    try {
      const turn = await admitted
      if (turn.ok) void turn.value.done.then(forget, forget)
      else forget()
      return turn
    } catch (error) {
      forget()
      throw error
    }
  }

  /**
   * The Turn that an earlier message with this key has; `undefined` if there is none. Certain only under the lock, after
   * reading what others wrote.
   */
  async earlier(key: string): Promise<Result<KeyedTurn | undefined>> {
    const known = this.#inMemory(key)
    return known === 'maybe_earlier' ? keyedTurn(this.#parts, this.#session.id, key) : ok(known)
  }

  /** An earlier Turn in place of a new one. A message that was refused stays refused. */
  asAdmitted({ turn, ended }: KeyedTurn): Result<AdmittedTurn> {
    if (ended === undefined) return ok({ turn, done: Promise.resolve(endIsLost()), repeated: true })
    if (ended.status === 'refused' && ended.error !== undefined) {
      const { kind, message, details, next_actions } = ended.error
      return failed(kind, message, details, next_actions)
    }
    return ok({ turn, done: resultOfTurn(this.#parts, this.#session, turn), repeated: true })
  }

  /** Refuses messages whose keys are being looked up, unless they have run. */
  refuseLookups(): void {
    this.#lookups.abort()
    this.#lookups = new AbortController()
  }

  /** A message with a key is being admitted, or its Turn runs. */
  get any(): boolean {
    return this.#running.size > 0
  }

  /** Resolves when every message so far is admitted or refused. */
  async untilSettled(): Promise<void> {
    await Promise.allSettled(this.#running.values())
  }

  /**
   * Most repeats are recognized here, before their attachments are read. Unless the Log must be read, a message is admitted
   * at once, so that it has its place before any later one and before its client can leave.
   */
  async #unlessEarlier(
    key: string,
    admit: () => Promise<Result<AdmittedTurn>>,
  ): Promise<Result<AdmittedTurn>> {
    const known = this.#inMemory(key)
    if (known === 'maybe_earlier') return this.#unlessInLog(key, admit)
    return known?.ended === undefined ? admit() : this.asAdmitted(known)
  }

  /** If the Log cannot be read now, that is decided under the lock. */
  async #unlessInLog(
    key: string,
    admit: () => Promise<Result<AdmittedTurn>>,
  ): Promise<Result<AdmittedTurn>> {
    const { signal } = this.#lookups
    const found = await keyedTurn(this.#parts, this.#session.id, key)
    if (found.ok && found.value?.ended !== undefined) return this.asAdmitted(found.value)
    return signal.aborted ? closedBefore() : admit()
  }

  #inMemory(key: string): KeyedTurn | 'maybe_earlier' | undefined {
    const { events } = this.#session
    const turn = turnOfKey(events, key)
    if (turn === undefined) return undefined
    if (turn === 'maybe_earlier') return 'maybe_earlier'
    const end = events.findLast((e) => e.type === 'turn_ended' && e.turn_id === turn)
    return { turn, ended: end?.type === 'turn_ended' ? end.data : undefined }
  }

  /** A key is compared as it is recorded, so it must be recorded as it is. */
  #unfit(key: string): Result<never> | undefined {
    const longest = LIMITS.message_key_bytes
    if (key === '' || utf8Bytes(key) > longest)
      return failed('invalid_args', `A message key has 1 to ${longest} bytes.`, { longest })
    if (this.#session.recordedText(key) === key) return undefined
    return failed('invalid_args', 'A message key must not contain an API key or invalid Unicode.')
  }
}

/** Under the lock every Turn has its end, except in a salvaged Log. */
function endIsLost(): Result<never> {
  return failed('log_damaged', 'The end of the Turn with this message key is missing in the Log.')
}

function asRepeat(admitted: Result<AdmittedTurn>): Result<AdmittedTurn> {
  return admitted.ok ? ok({ ...admitted.value, repeated: true }) : admitted
}
