import { eventsOf, type VendorAnswer, type VendorEvent } from '../providers/vendor-answer.ts'
import {
  scriptedServer,
  type RawAnswer,
  type RecordedRequest,
  type VendorServer,
} from '../providers/vendor-server.ts'

/** One answer of the model. */
export interface ScriptedStep extends Pick<VendorAnswer, 'reasoning' | 'text' | 'usage'> {
  readonly calls?: readonly { readonly name: string; readonly input: object }[]
  /** Refused with this status so many times before it is answered. */
  readonly refused?: {
    readonly status: number
    readonly retryAfter: number
    readonly times: number
  }
  /** The stream stops in the middle of its text, or so many times at equal distances, until `release` is called. */
  readonly held?: boolean | number
  /** The characters of each piece of the text and the thinking. */
  readonly piece?: number
  /** Milliseconds between pieces; for a person who looks on, never for a test. */
  readonly paceMs?: number
}

/** What the model answers to a message that contains a text: one step for each call to it in the Turn. */
export type ScriptedTurns = Readonly<Record<string, readonly ScriptedStep[]>>

export interface ScriptedModel extends Pick<VendorServer, 'requests' | 'violations' | 'close'> {
  readonly baseUrl: string
  /** Lets an answer that is held continue; may be called before it is. */
  release(): void
  /** Resolves with what was sent of an answer when it is held. */
  sentUntilHeld(): Promise<string>
}

/**
 * A vendor on this machine that speaks Anthropic's Messages and plays these Turns. A message that it does not know continues the
 * last one that it knows; without one, it is repeated.
 */
export async function scriptedModel(turns: ScriptedTurns): Promise<ScriptedModel> {
  const refusals = new Map<ScriptedStep, number>()
  const gate = new Gate()
  let calls = 0
  const server = await scriptedServer((request) => {
    const step = stepFor(turns, messagesOf(request))
    const refused = refusals.get(step) ?? 0
    if (step.refused !== undefined && refused < step.refused.times) {
      refusals.set(step, refused + 1)
      return refusal(step.refused)
    }
    const answer = {
      ...step,
      calls: (step.calls ?? []).map(({ name, input }) => {
        calls += 1
        return { id: `toolu_${calls}`, name, arguments: JSON.stringify(input) }
      }),
    }
    return { body: streamed(eventsOf('messages', answer), step, gate) }
  })
  return {
    ...server,
    baseUrl: server.baseUrl('messages'),
    release: () => gate.open(),
    sentUntilHeld: () => gate.arrival(),
  }
}

/** Lets one waiter pass for each opening, whether it waits already or later. */
class Gate {
  #openings = 0
  #waiting: (() => void)[] = []
  #sent: string | undefined
  #arrivals: ((sent: string) => void)[] = []

  /** Resolves with what the next waiter sent, or the one that waits. */
  arrival(): Promise<string> {
    if (this.#sent !== undefined) return Promise.resolve(this.#sent)
    return new Promise((resolve) => {
      this.#arrivals.push(resolve)
    })
  }

  open(): void {
    this.#sent = undefined
    const next = this.#waiting.shift()
    if (next === undefined) this.#openings += 1
    else next()
  }

  pass(sent: string): Promise<void> {
    if (this.#openings > 0) {
      this.#openings -= 1
      return Promise.resolve()
    }
    this.#sent = sent
    for (const tell of this.#arrivals.splice(0)) tell(sent)
    return new Promise((resolve) => {
      this.#waiting.push(resolve)
    })
  }
}

interface Message {
  readonly role: string
  readonly content: string | readonly { readonly type: string; readonly text?: string }[]
}

function messagesOf({ body }: RecordedRequest): readonly Message[] {
  return (body as { messages: readonly Message[] }).messages
}

/** The step of the latest message that the script knows, by the number of results since. */
function stepFor(turns: ScriptedTurns, messages: readonly Message[]): ScriptedStep {
  let results = 0
  let last = ''
  for (const { role, content } of messages.toReversed()) {
    if (role !== 'user') continue
    const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content
    for (const { type, text = '' } of blocks.toReversed()) {
      if (type !== 'text') continue
      if (last === '') last = text
      const known = Object.entries(turns).find(([said]) => text.includes(said))?.[1]
      if (known !== undefined) return known[results] ?? { text: 'Done.' }
    }
    if (blocks.some(({ type }) => type === 'tool_result')) results += 1
  }
  return { text: `You said: ${last.slice(0, 200)}` }
}

function refusal({ status, retryAfter }: NonNullable<ScriptedStep['refused']>): RawAnswer {
  const error = { type: 'rate_limit_error', message: 'Too many requests.' }
  return {
    status,
    headers: { 'retry-after': String(retryAfter) },
    body: JSON.stringify({ type: 'error', error, request_id: 'req_1' }),
  }
}

async function* streamed(events: readonly VendorEvent[], step: ScriptedStep, gate: Gate) {
  const pieces = events.flatMap((event) => split(event, step.piece ?? 24))
  const texts = pieces.filter(isText).length
  let sent = 0
  let text = ''
  for (const event of pieces) {
    yield `event: ${String(event['type'])}\ndata: ${JSON.stringify(event)}\n\n`
    if (!isText(event)) continue
    sent += 1
    text += String((event['delta'] as { text?: string }).text)
    if (holdsAfter(step, texts).includes(sent)) await gate.pass(text)
    if (step.paceMs !== undefined) await after(step.paceMs)
  }
}

/** After how many of the pieces of its text a step stops. */
function holdsAfter({ held = false }: ScriptedStep, texts: number): number[] {
  const times = Number(held)
  return Array.from({ length: times }, (_, at) => Math.ceil((texts * (at + 1)) / (times + 1)))
}

function after(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms)
  })
}

function isText(event: VendorEvent): boolean {
  return (event['delta'] as { type?: string } | undefined)?.type === 'text_delta'
}

/** The same event in pieces that are short. */
function split(event: VendorEvent, length: number): VendorEvent[] {
  const delta = event['delta'] as Readonly<Record<string, unknown>> | undefined
  const field = { text_delta: 'text', thinking_delta: 'thinking' }[String(delta?.['type'])]
  if (delta === undefined || field === undefined) return [event]
  const characters = Array.from(String(delta[field]))
  return Array.from({ length: Math.ceil(characters.length / length) }, (_, at) => {
    const piece = characters.slice(at * length, (at + 1) * length).join('')
    return { ...event, delta: { ...delta, [field]: piece } }
  })
}
