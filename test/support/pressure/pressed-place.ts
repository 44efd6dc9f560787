import { onTestFinished, expect } from 'vitest'
import { systemClock } from '../../../src/host/clock.ts'
import type { EphemeralData } from '../../../src/model/events/event.ts'
import { failed, ok } from '../../../src/model/errors.ts'
import { responsesProvider } from '../../../src/providers/responses/stream.ts'
import type { Session } from '../../../src/session/session.ts'
import { CANARY_KEY } from '../host/canary.ts'
import { DIALECTS } from '../providers/dialects.ts'
import { withChanges, type Changes } from '../session/harness-parts.ts'
import { harnessPlace, type HarnessPlace } from '../session/harness-place.ts'
import { LONG } from '../host/long.ts'
import { socketServer, type SocketAnswer } from '../providers/socket-server.ts'
import { value } from '../log/story.ts'
import { eventsOf, sseOf, type VendorAnswer } from '../providers/vendor-answer.ts'
import { vendorPlace } from '../providers/vendor-place.ts'
import type { VendorDialect } from '../providers/vendor-schemas.ts'
import { scriptedServer, type ScriptedAnswer } from '../providers/vendor-server.ts'

/** The three dialects over HTTP, and a WebSocket. */
export type PressedWay = VendorDialect | 'websocket'
/** The ways that this run covers: `npm test` covers two, and `npm run test:long` the others. */
export const PRESSED_WAYS: readonly PressedWay[] = LONG
  ? ['responses', 'chat']
  : ['messages', 'websocket']

/** A request that the model received. */
export interface PressedRequest {
  /** From 0. */
  readonly n: number
  /** What was sent: over a socket only new items, if it continues. */
  readonly text: string
}

export type PressedAnswer =
  | VendorAnswer
  /** The request is too long. */
  | 'overflow'
  /** The connection breaks after this share of the answer. */
  | { readonly answer: VendorAnswer; readonly brokenAt: number }

export interface PressedPlace extends HarnessPlace {
  readonly root: string
  readonly requests: readonly PressedRequest[]
  readonly begin: { readonly provider: string; readonly model: string }
}

/** Tokens of the window of the model. */
const WINDOW = 60_000

/** A workspace with a model of a known window that answers as the test says. */
export async function pressedPlace(
  way: PressedWay,
  answer: (request: PressedRequest) => PressedAnswer,
  { changes = {}, root }: { readonly changes?: Changes; readonly root?: string } = {},
): Promise<PressedPlace> {
  const requests: PressedRequest[] = []
  const take = (text: string): PressedAnswer => {
    const request = { n: requests.length, text }
    requests.push(request)
    return answer(request)
  }
  const facts = { window_tokens: WINDOW }
  if (way !== 'websocket') {
    const server = await scriptedServer(({ bytes }) =>
      httpAnswer(way, take(bytes.toString('utf8'))),
    )
    const place = await vendorPlace(server, {
      facts,
      changes,
      ...(root === undefined ? {} : { root }),
    })
    return { ...place, requests, begin: { provider: way, model: 'a-model' } }
  }
  const server = await socketServer({ answer: ({ text }) => socketAnswer(take(text)) })
  onTestFinished(async () => {
    await server.close()
    expect(server.violations).toEqual([])
  })
  const { baseUrl } = server
  const provider = responsesProvider({
    key: CANARY_KEY,
    baseUrl,
    idleMs: 60_000,
    clock: systemClock,
    transport: 'websocket',
  })
  const connected: Changes = {
    model: {
      providerOf: async (name) =>
        name === way ? ok(provider) : failed('not_configured', `There is no ${name}.`),
      dialectOf: async () => ok(DIALECTS.responses),
      dialectNameOf: () => 'responses',
      factsOf: () => facts,
    },
    log: { secrets: [CANARY_KEY] },
  }
  const place = await harnessPlace(withChanges(connected, changes), root)
  return { ...place, requests, begin: { provider: way, model: 'a-model' } }
}

function httpAnswer(dialect: VendorDialect, answer: PressedAnswer): ScriptedAnswer {
  if (answer === 'overflow') {
    const error = { type: 'invalid_request_error', message: TOO_LONG, code: CODE, param: null }
    const body = dialect === 'messages' ? { type: 'error', error } : { error }
    return { status: 400, body: JSON.stringify(body) }
  }
  if (!('brokenAt' in answer)) return { body: sseOf(dialect, answer) }
  const body = sseOf(dialect, answer.answer)
  return { body, cutAfter: Math.floor(body.length * answer.brokenAt) }
}

/** An answer over a socket. */
export function socketAnswer(answer: PressedAnswer): SocketAnswer {
  if (answer !== 'overflow') {
    if (!('brokenAt' in answer)) return answer
    const { length } = eventsOf('responses', answer.answer)
      .map((one) => JSON.stringify(one))
      .join('')
    return { answer: answer.answer, cutAfter: Math.floor(length * answer.brokenAt) }
  }
  const error = { type: 'invalid_request_error', message: TOO_LONG, code: CODE, param: null }
  return { error: { status: 400, error } }
}

const TOO_LONG = 'prompt is too long: 300000 tokens > 200000 maximum'
const CODE = 'context_length_exceeded'

/** An answer whose request counted as that share of the window. */
export function filling(share: number, answer: VendorAnswer = { text: 'Well.' }): VendorAnswer {
  return { ...answer, usage: { ...answer.usage, input: Math.round(WINDOW * share), output: 5 } }
}

/** The triggers of the compactions of a Session, and the Turn of each. */
export function compactions(session: Session): string[] {
  return session.events.flatMap((e) => (e.type === 'history_compaction' ? [e.data.trigger] : []))
}

/** The live notices of one type, from now on. */
export function noticesOf<T extends 'context_pressure' | 'stream_restarted'>(
  session: Session,
  type: T,
): EphemeralData<T>[] {
  const seen: EphemeralData<T>[] = []
  const watching = session.subscribe()
  onTestFinished(() => watching.close())
  void (async () => {
    for await (const update of watching)
      if (update.kind === 'ephemeral' && isOf(update.ephemeral, type))
        seen.push(update.ephemeral.data)
  })()
  return seen
}

function isOf<T extends string>(
  notice: { readonly type: string },
  type: T,
): notice is { type: T; data: never } {
  return notice.type === type
}

/** Composes every request of the Log again, and every checkpoint. */
export async function proven({ harness }: HarnessPlace, session: Session): Promise<void> {
  const { requests, checkpoints = [] } = value(await harness.verify(session.id, { requests: true }))
  expect([requests?.mismatches, checkpoints]).toEqual([[], []])
}
