import { onTestFinished } from 'vitest'
import type { ServedPlace } from './local-server.ts'

/** One server-sent event as a client reads it. */
export interface Received {
  readonly event: string
  readonly data: Readonly<Record<string, unknown>>
  /** Absent if the event has none of its own. */
  readonly id?: number
}

export interface StreamRequest {
  readonly method?: 'GET' | 'POST'
  readonly path: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** A client that reads server-sent events as fast as it can and keeps everything. */
export class StreamClient {
  readonly received: Received[] = []
  /** What arrived that is not an event: comments and `retry`. */
  readonly comments: string[] = []
  /** Resolves when the stream has ended, was cut, or its connection was lost. */
  readonly ended: Promise<void>
  readonly #stop: AbortController
  readonly #wake = new Set<() => void>()
  #isEnded = false

  constructor(body: ReadableStream<Uint8Array>, stop: AbortController) {
    this.#stop = stop
    this.ended = this.#read(body).finally(() => {
      this.#isEnded = true
      this.#tell()
    })
  }

  get names(): string[] {
    return this.received.map(({ event }) => event)
  }

  get ids(): number[] {
    return this.received.flatMap(({ id }) => id ?? [])
  }

  of(event: string): Received['data'][] {
    return this.received.flatMap((one) => (one.event === event ? [one.data] : []))
  }

  /** The text of all deltas. */
  get text(): string {
    return this.of('chat:delta')
      .map(({ text }) => String(text))
      .join('')
  }

  /** Resolves when the condition holds, which is tested after each piece. Rejects if the stream ends before. */
  async until(holds: () => boolean): Promise<void> {
    while (!holds()) {
      if (this.#isEnded) throw new Error(`the stream ended: ${this.names.join(', ')}`)
      await new Promise<void>((resolve) => {
        const wake = () => {
          this.#wake.delete(wake)
          resolve()
        }
        this.#wake.add(wake)
      })
    }
  }

  /** The first event with this name. */
  async first(event: string): Promise<Received['data']> {
    await this.until(() => this.names.includes(event))
    return this.of(event)[0] ?? {}
  }

  /** Disconnects. */
  async cut(): Promise<void> {
    this.#stop.abort()
    await this.ended
  }

  #tell(): void {
    for (const wake of this.#wake) wake()
  }

  async #read(body: ReadableStream<Uint8Array>): Promise<void> {
    let rest = ''
    const reader = body.pipeThrough(new TextDecoderStream()).getReader()
    try {
      for (;;) {
        const { done, value } = await reader.read()
        if (done) return
        const blocks = `${rest}${value}`.split('\n\n')
        rest = blocks.pop() ?? ''
        for (const block of blocks) this.#take(block)
        this.#tell()
      }
    } catch {
      // The connection is gone. What a test expects to have arrived tells whether it may be.
    }
  }

  #take(block: string): void {
    const fields = block.split('\n').map((line) => {
      const colon = line.indexOf(': ')
      return [line.slice(0, colon), line.slice(colon + 2)] as const
    })
    const field = (name: string) => fields.find(([known]) => known === name)?.[1]
    const [event, data, id] = [field('event'), field('data'), field('id')]
    if (event === undefined || data === undefined) return void this.comments.push(block)
    this.received.push({
      event,
      data: JSON.parse(data) as Received['data'],
      ...(id === undefined ? {} : { id: Number(id) }),
    })
  }
}

/** Opens a stream; fails if the server answers with anything else. It is cut at the end of the test. */
export async function openStream(
  { origin, token }: Pick<ServedPlace, 'origin' | 'token'>,
  { method = 'GET', path, body, headers = {} }: StreamRequest,
): Promise<StreamClient> {
  const stop = new AbortController()
  const answer = await fetch(origin + path, {
    method,
    signal: stop.signal,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const type = answer.headers.get('content-type')
  if (answer.status !== 200 || type !== 'text/event-stream; charset=utf-8' || answer.body === null)
    throw new Error(`no stream: ${answer.status} ${await answer.text()}`)
  const client = new StreamClient(answer.body, stop)
  onTestFinished(() => client.cut())
  return client
}

/** Creates a Session in the workspace of the server. */
export async function newSession({ api, workspace }: ServedPlace, more = {}): Promise<string> {
  const body = { projectRoot: workspace, ...more }
  const created = await api('POST', '/api/harness/session/create', body)
  return (created.body as { session: { sessionId: string } }).session.sessionId
}

/** Starts a Turn and returns its stream. */
export function turn(
  server: ServedPlace,
  sessionId: string,
  message: string,
  more: object = {},
): Promise<StreamClient> {
  const body = { sessionId, message, ...more }
  return openStream(server, { method: 'POST', path: '/api/harness/turn', body })
}

/** Watches a Session from the Event after this number. */
export function watch(
  server: ServedPlace,
  sessionId: string,
  after_seq = -1,
): Promise<StreamClient> {
  const path = `/api/harness/session/${sessionId}/events?after_seq=${after_seq}`
  return openStream(server, { path })
}

/** Answers a question. */
export function permit(server: ServedPlace, requestId: unknown, answer: object) {
  return server.api('POST', '/api/harness/permission', { requestId, ...answer })
}
