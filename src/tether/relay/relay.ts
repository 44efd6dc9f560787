import type { Duplex, Readable } from 'node:stream'
import type { RedactedStream, Redactor } from '../../encoding/redaction.ts'
import { elapsedMs } from '../../host/clock.ts'
import { Allowance } from '../../host/net/allowance.ts'
import { httpPost, type Post, type PostAnswer } from '../../host/net/http-post.ts'
import { HttpFailure } from '../../host/net/http.ts'
import { serveCalls } from '../../host/net/relay-server.ts'
import type { BodyFailure, RelayedCall } from '../../host/net/relayed-call.ts'
import { wait } from '../../host/wait.ts'
import { redactorOf, shownError, shownHeaders, UsageTap } from './answer.ts'
import { ceilingRefusal, headRefusal, priceRefusal } from './judge.ts'
import { JudgedBody, type CompleteRequest } from './judged-body.ts'
import { refusal, refusalBody, type RefusedCall } from './refusal.ts'
import type { RelayRules, Spend } from './rules.ts'
import { SpendCount, type EndedCall } from './spend-count.ts'

/** The server's end of the socket through which a guest calls its model. */
export interface Relay {
  readonly spend: Spend
  /** Resolves when the connection is closed; with a reason if the guest broke a rule of the protocol. */
  readonly closed: Promise<string | undefined>
  /** Ends every call. Resolves when they are counted: the next relay needs their sum. */
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

/** A request that the provider has. */
interface SentCall extends CompleteRequest {
  /** When it was complete, by the monotonic clock. */
  readonly since: number
  /** Ends it in the count of calls that run. */
  readonly endCount: () => void
}

type UncountedCall = Pick<SentCall, 'since' | 'endCount'> & Omit<EndedCall, 'ms'>

const MiB = 1024 * 1024
const MOST_CALLS = 32
const LONGEST_BODY = 64 * MiB
/** Of all bodies together. */
const MOST_BODY_BYTES = 256 * MiB
const BODY_IDLE_MS = 30_000
const BODY_MS = 5 * 60_000
/** A guest that continues after this many refusals has to wait for each answer. */
const REFUSALS_AT_ONCE = 50
const REFUSALS_PER_SECOND = 5
const REFUSAL_WAIT_MS = 250
/** How long the calls of a closed relay may take to end. */
const ENDING_MS = 5_000
const LONGEST_ERROR = MiB

class Calls {
  readonly #rules: RelayRules
  readonly #spend: SpendCount
  readonly #post: Post
  readonly #redactor: Redactor
  readonly #refusals: Allowance
  readonly #settling = new Set<Promise<void>>()
  #running = 0
  #bodyBytes = 0

  constructor(rules: RelayRules, spend: SpendCount) {
    this.#rules = rules
    this.#spend = spend
    this.#post = rules.access.post ?? httpPost(rules.clock)
    this.#redactor = redactorOf(rules.access.secrets)
    this.#refusals = new Allowance(REFUSALS_AT_ONCE, REFUSALS_PER_SECOND, rules.clock)
  }

  take(call: RelayedCall): void {
    const served = this.#serve(call).finally(() => this.#settling.delete(served))
    this.#settling.add(served)
  }

  /** Resolves when every call has ended, or cannot be ended. */
  async ended(): Promise<void> {
    if (this.#settling.size === 0) return
    const all = new AbortController()
    void Promise.all(this.#settling).then(() => all.abort())
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
    const early =
      headRefusal(call, this.#rules.access.path) ?? this.#busy() ?? this.#overspendRefusal()
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
      const body = this.#bodyOf(call)
      const failure = await call.body({ ...limits, clock, reserve }, (chunk) => body.take(chunk))
      const sent = failure === undefined ? body.end() : body.refusal
      if (sent !== undefined && 'post' in sent) return await this.#passOn(call, sent)
      body.abort()
      return sent ?? (failure && BODY_REFUSALS[failure])
    } finally {
      this.#running -= 1
      this.#bodyBytes -= held
    }
  }

  #bodyOf(call: RelayedCall): JudgedBody {
    const { baseUrl, path, headers } = this.#rules.access
    return new JudgedBody({
      rules: this.#rules,
      contentLength: call.header('content-length'),
      refusalOf: (model) => priceRefusal(this.#rules, model) ?? this.#overspendRefusal(),
      open: (length) =>
        this.#post(`${baseUrl}${path}`, { headers, length, signal: call.goneSignal }),
    })
  }

  #busy(): RefusedCall | undefined {
    if (this.#running < MOST_CALLS) return undefined
    return refusal('busy', `The relay refused a call: ${MOST_CALLS} calls are running already.`)
  }

  #overspendRefusal(): RefusedCall | undefined {
    return ceilingRefusal(this.#rules, this.#spend.total)
  }

  async #passOn(call: RelayedCall, request: CompleteRequest): Promise<RefusedCall | undefined> {
    const endCount = this.#spend.begin(request)
    const sent = { ...request, endCount, since: this.#rules.clock.monotonicMs() }
    try {
      const answer = await request.post.answer
      const refused = answerRefusal(answer)
      if (refused === undefined) return await this.#passAnswer(call, sent, answer)
      request.post.destroy()
      return refused
    } catch (error) {
      if (!call.goneSignal.aborted) return unreachable(error, this.#rules.access.baseUrl)
      // The provider may have begun to answer.
      this.#count({ ...sent, answerBytes: 0, lastReport: undefined }, 'cancelled')
      return undefined
    } finally {
      endCount()
    }
  }

  async #passAnswer(
    call: RelayedCall,
    sent: SentCall,
    { status, headers, body }: PostAnswer,
  ): Promise<undefined> {
    const { secrets, usageReader } = this.#rules.access
    if (status >= 400) {
      const error = shownError(await beginningOf(body, LONGEST_ERROR), secrets)
      await this.#reject(call, `relay: ${sent.model}: status ${status}`)
      return this.#answer(call, status, shownHeaders(headers, secrets), error)
    }
    call.respond(status, shownHeaders(headers, secrets))
    const tap = new UsageTap(usageReader(), headers.get('content-type') ?? '')
    const count = (outcome: string) => {
      const { bytes: answerBytes, lastReport } = tap
      this.#count({ ...sent, answerBytes, lastReport }, outcome)
    }
    const isWhole = await pass(body, call, {
      tap,
      clean: this.#redactor.byteStream(),
      // Counted before the guest sees the end, so that its next call finds the new total.
      beforeEnd: () => count(`status ${status}`),
    })
    if (isWhole) return
    count('cut off')
    await call.cut()
  }

  #count({ since, endCount, ...call }: UncountedCall, outcome: string): void {
    const ms = elapsedMs(this.#rules.clock, since)
    const { usd, isEstimate } = this.#spend.add({ ...call, ms }, endCount)
    const cost = usd === undefined ? 'cost unknown' : `$${usd}${isEstimate ? ' (estimated)' : ''}`
    const { model, requestBytes, answerBytes } = call
    const bytes = `${requestBytes} bytes sent, ${answerBytes} received`
    this.#rules.log(`relay: ${model}: ${outcome}, ${bytes}, ${cost}`)
  }

  async #refuse(call: RelayedCall, refused: RefusedCall): Promise<void> {
    await this.#reject(call, `relay: ${refused.message}`)
    const headers = { 'content-type': 'application/json' }
    await this.#answer(call, refused.status, headers, refusalBody(refused))
  }

  /** By the relay or by the provider. */
  async #reject(call: RelayedCall, line: string): Promise<void> {
    if (this.#refusals.take()) this.#rules.log(line)
    else await wait(this.#rules.clock, REFUSAL_WAIT_MS, call.goneSignal)
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

/** `undefined` if there is no client to answer, or another refusal. */
const BODY_REFUSALS: Readonly<Record<BodyFailure, RefusedCall | undefined>> = {
  too_large: refusal('too_large', `The relay refused a body of more than ${LONGEST_BODY} bytes.`),
  too_slow: refusal('slow', 'The relay gave up on a body that arrived too slowly.'),
  no_memory: refusal('busy', 'The relay refused a body: the calls that are running use too much.'),
  not_taken: undefined,
  gone: undefined,
}

interface PassOptions {
  readonly tap: UsageTap
  readonly clean: RedactedStream<Buffer>
  readonly beforeEnd: () => void
}

/** Passes the answer on as fast as the guest reads it, and ends it. Resolves to false if it is incomplete, without an end. */
function pass(
  body: Readable,
  call: RelayedCall,
  { tap, clean, beforeEnd }: PassOptions,
): Promise<boolean> {
  return new Promise((resolve) => {
    let written: Promise<void> | undefined
    const cutOff = () => resolve(false)
    const write = (bytes: Buffer) => {
      written = call.write(bytes)
      if (written === undefined) return
      body.pause()
      void written.then(() => {
        written = undefined
        body.resume()
      })
    }
    const end = () => {
      if (call.goneSignal.aborted) return cutOff()
      beforeEnd()
      call.end()
      resolve(true)
    }
    body.on('data', (chunk: Buffer) => {
      tap.push(chunk)
      write(clean.push(chunk))
    })
    body.once('end', () => {
      tap.end()
      // What is held back may be the beginning of a key. The last chunk may still be on its way.
      const rest = clean.end()
      if (written === undefined) write(rest)
      else written = written.then(() => call.write(rest))
      if (written === undefined) end()
      else void written.then(end)
    })
    // The connection to the provider broke, or was closed because the guest is gone.
    body.once('error', cutOff)
    body.once('close', () => {
      if (!body.readableEnded) cutOff()
    })
    if (body.destroyed) cutOff()
  })
}

async function beginningOf(body: AsyncIterable<Uint8Array>, most: number): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of body) {
    chunks.push(chunk)
    length += chunk.length
    if (length >= most) break
  }
  return Buffer.concat(chunks).subarray(0, most)
}

/** A redirect is not followed, and an encoded answer could hide a key. */
function answerRefusal({ status, headers }: PostAnswer): RefusedCall | undefined {
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
