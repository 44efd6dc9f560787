import type { Duplex } from 'node:stream'
import { elapsedMs } from '../../host/clock.ts'
import { Allowance } from '../../host/net/allowance.ts'
import { HttpFailure, httpFetch, type Fetch, type HttpAnswer } from '../../host/net/http.ts'
import { serveCalls } from '../../host/net/relay-server.ts'
import type { BodyFailure, RelayedCall } from '../../host/net/relayed-call.ts'
import { wait } from '../../host/wait.ts'
import { shownError, shownHeaders, UsageTap, withoutKey } from './answer.ts'
import { ceilingRefusal, headRefusal, judgedModel, priceRefusal } from './judge.ts'
import { refusal, refusalBody, type RefusedCall } from './refusal.ts'
import type { RelayRules, Spend } from './rules.ts'
import { SpendCount, type EndedCall } from './spend-count.ts'

/** The daemon's end of the socket through which a guest calls its model. */
export interface Relay {
  readonly spend: Spend
  /** Resolves when the connection is closed; with a reason if the guest broke a rule of the protocol. */
  readonly closed: Promise<string | undefined>
  /** Ends every call. Resolves when they are counted: whoever opens the next relay needs their sum. */
  close(): Promise<void>
}

/**
 * Serves the calls of one guest: judges each, sends it with the key, passes the answer on without the key, and counts what it
 * costs. The guest may send anything. Never rejects.
 */
export function openRelay(socket: Duplex, rules: RelayRules): Relay {
  const spend = new SpendCount(rules)
  const calls = new Calls(rules, spend)
  const { clock } = rules
  const served = serveCalls(socket, { clock, take: (call) => calls.take(call) })
  return {
    get spend() {
      return spend.total
    },
    closed: served.closed,
    close: async () => {
      served.close()
      await calls.ended()
    },
  }
}

/** A request on its way to the provider. */
interface SentCall extends Pick<EndedCall, 'model' | 'requestBytes'> {
  /** When it was sent, by the monotonic clock. */
  readonly since: number
}

const MiB = 1024 * 1024
const MOST_CALLS = 32
const LONGEST_BODY = 64 * MiB
/** Of all bodies together. */
const MOST_BODY_BYTES = 256 * MiB
const BODY_IDLE_MS = 30_000
const BODY_MS = 5 * 60_000
/** A guest that goes on after this many refusals has to wait for each answer. */
const REFUSALS_AT_ONCE = 50
const REFUSALS_PER_SECOND = 5
const REFUSAL_WAIT_MS = 250
/** How long the calls of a closed relay may take to end. */
const ENDING_MS = 5_000
const LONGEST_ERROR = MiB

class Calls {
  readonly #rules: RelayRules
  readonly #spend: SpendCount
  readonly #fetch: Fetch
  readonly #refusals: Allowance
  readonly #served = new Set<Promise<void>>()
  #running = 0
  #bodyBytes = 0

  constructor(rules: RelayRules, spend: SpendCount) {
    this.#rules = rules
    this.#spend = spend
    this.#fetch = rules.access.fetch ?? httpFetch({ clock: rules.clock })
    this.#refusals = new Allowance(REFUSALS_AT_ONCE, REFUSALS_PER_SECOND, rules.clock)
  }

  take(call: RelayedCall): void {
    const served = this.#serve(call).finally(() => this.#served.delete(served))
    this.#served.add(served)
  }

  /** Resolves when every call has ended, or cannot be ended. */
  async ended(): Promise<void> {
    if (this.#served.size === 0) return
    const all = new AbortController()
    void Promise.all(this.#served).then(() => all.abort())
    await wait(this.#rules.clock, ENDING_MS, all.signal)
  }

  async #serve(call: RelayedCall): Promise<void> {
    try {
      const refused = await this.#forward(call)
      if (refused !== undefined) await this.#refuse(call, refused)
    } catch (error) {
      this.#rules.log(`relay: call failed: ${error instanceof Error ? error.name : 'defect'}`)
      await call.cut()
    }
  }

  /** Resolves with a refusal if nothing was answered. */
  async #forward(call: RelayedCall): Promise<RefusedCall | undefined> {
    const early = headRefusal(call, this.#rules.access.path) ?? this.#busy() ?? this.#overspent()
    if (early !== undefined) return early
    let held = 0
    const reserve = (bytes: number) => {
      held += bytes
      this.#bodyBytes += bytes
      return this.#bodyBytes <= MOST_BODY_BYTES
    }
    this.#running += 1
    try {
      const { clock } = this.#rules
      const limits = { bytes: LONGEST_BODY, idleMs: BODY_IDLE_MS, wholeMs: BODY_MS }
      const body = await call.body({ ...limits, clock, reserve })
      if (typeof body === 'string') return BODY_REFUSALS[body]
      const judged = judgedModel(body, this.#rules)
      if (!('model' in judged)) return judged
      const { model } = judged
      // Other calls may have ended while the body arrived.
      const late = priceRefusal(this.#rules, model) ?? this.#overspent()
      return late ?? (await this.#send(call, body, model))
    } finally {
      this.#running -= 1
      this.#bodyBytes -= held
    }
  }

  #busy(): RefusedCall | undefined {
    if (this.#running < MOST_CALLS) return undefined
    return refusal('busy', `The relay refused a call: ${MOST_CALLS} calls are running already.`)
  }

  #overspent(): RefusedCall | undefined {
    return ceilingRefusal(this.#rules, this.#spend.total)
  }

  async #send(call: RelayedCall, body: Buffer, model: string): Promise<RefusedCall | undefined> {
    const { baseUrl, path, headers } = this.#rules.access
    const sent = { model, requestBytes: body.length, since: this.#rules.clock.monotonicMs() }
    try {
      const init = { method: 'POST', headers, body, signal: call.gone }
      const answer = await this.#fetch(`${baseUrl}${path}`, init)
      const refused = answerRefusal(answer)
      if (refused === undefined) return await this.#passOn(call, sent, answer)
      await answer.body?.cancel()
      return refused
    } catch (error) {
      if (!call.gone.aborted) return unreachable(error, baseUrl)
      // The provider may have begun to answer.
      this.#count({ ...sent, answerBytes: 0, reported: undefined }, 'cancelled')
      return undefined
    }
  }

  async #passOn(
    call: RelayedCall,
    sent: SentCall,
    { status, headers, body }: HttpAnswer,
  ): Promise<undefined> {
    const { key, usageReader } = this.#rules.access
    if (status >= 400) {
      const error = shownError(await beginningOf(body, LONGEST_ERROR), key)
      await this.#rejected(call, `relay: ${sent.model}: status ${status}`)
      return this.#answer(call, status, shownHeaders(headers, key), error)
    }
    call.respond(status, shownHeaders(headers, key))
    const tap = new UsageTap(usageReader(), headers.get('content-type') ?? '')
    const whole = await pass(body, call, { tap, key })
    // Counted before the guest sees the end, so that its next call finds the new total.
    const { bytes: answerBytes, reported } = tap
    this.#count({ ...sent, answerBytes, reported }, whole ? `status ${status}` : 'cut off')
    if (whole) call.end()
    else await call.cut()
  }

  #count({ since, ...call }: SentCall & Omit<EndedCall, 'ms'>, outcome: string): void {
    const ms = elapsedMs(this.#rules.clock, since)
    const { usd, estimated } = this.#spend.add({ ...call, ms })
    const cost = usd === undefined ? 'cost unknown' : `$${usd}${estimated ? ' (estimated)' : ''}`
    const { model, requestBytes, answerBytes } = call
    const bytes = `${requestBytes} bytes sent, ${answerBytes} received`
    this.#rules.log(`relay: ${model}: ${outcome}, ${bytes}, ${cost}`)
  }

  async #refuse(call: RelayedCall, refused: RefusedCall): Promise<void> {
    await this.#rejected(call, `relay: ${refused.message}`)
    const headers = { 'content-type': 'application/json' }
    await this.#answer(call, refused.status, headers, refusalBody(refused))
  }

  /** By the relay or by the provider. */
  async #rejected(call: RelayedCall, line: string): Promise<void> {
    if (this.#refusals.take()) this.#rules.log(line)
    else await wait(this.#rules.clock, REFUSAL_WAIT_MS, call.gone)
  }

  async #answer(
    call: RelayedCall,
    status: number,
    headers: Readonly<Record<string, string>>,
    body: Buffer,
  ): Promise<undefined> {
    call.respond(status, headers)
    await call.write(body)
    call.end()
  }
}

/** `undefined` if there is nobody to answer. */
const BODY_REFUSALS: Readonly<Record<BodyFailure, RefusedCall | undefined>> = {
  too_large: refusal('too_large', `The relay refused a body of more than ${LONGEST_BODY} bytes.`),
  too_slow: refusal('slow', 'The relay gave up on a body that arrived too slowly.'),
  no_memory: refusal('busy', 'The relay refused a body: the calls that are running use too much.'),
  gone: undefined,
}

/** Passes the answer on as fast as the guest reads it. False if it is incomplete. */
async function pass(
  body: HttpAnswer['body'],
  call: RelayedCall,
  { tap, key }: { readonly tap: UsageTap; readonly key: string | undefined },
): Promise<boolean> {
  const clean = withoutKey(key)
  try {
    for await (const chunk of body ?? []) {
      const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
      tap.push(bytes)
      await call.write(clean.push(bytes))
      if (call.gone.aborted) return false
    }
    tap.end()
    await call.write(clean.end())
    return !call.gone.aborted
  } catch {
    // The connection to the provider broke, or was closed because the guest is gone.
    return false
  }
}

async function beginningOf(body: HttpAnswer['body'], most: number): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of body ?? []) {
    chunks.push(chunk)
    length += chunk.length
    if (length >= most) break
  }
  return Buffer.concat(chunks).subarray(0, most)
}

/** A redirect is not followed, and an encoded answer could hide a key. */
function answerRefusal({ status, headers }: Response): RefusedCall | undefined {
  if (status >= 300 && status < 400) {
    const why = `The provider returned a redirect (status ${status}), which the relay does not follow.`
    return refusal('denied', why)
  }
  const coding = headers.get('content-encoding') ?? 'identity'
  if (coding === 'identity') return undefined
  return refusal('bad_answer', 'The provider sent an encoded response, but none was requested.')
}

function unreachable(error: unknown, baseUrl: string): RefusedCall {
  const { origin } = new URL(baseUrl)
  const code = error instanceof HttpFailure ? error.code : 'unknown error'
  return refusal('unreachable', `The connection to the provider failed (${origin}, ${code}).`)
}
