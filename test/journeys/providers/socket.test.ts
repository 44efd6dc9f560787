import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../../src/host/clock.ts'
import { ok } from '../../../src/model/errors.ts'
import type { Transport } from '../../../src/model/remote-providers.ts'
import type { Provider } from '../../../src/providers/provider.ts'
import { responsesProvider } from '../../../src/providers/responses/stream.ts'
import type { AdmitOptions } from '../../../src/session/admission/admit-options.ts'
import type { Session } from '../../../src/session/session.ts'
import { CANARY_KEY } from '../../support/host/canary.ts'
import { DIALECTS } from '../../support/providers/dialects.ts'
import { harnessPlace, type HarnessPlace } from '../../support/session/harness-place.ts'
import { sessionWithImages } from '../../support/resources/stand-in-images.ts'
import { value } from '../../support/log/story.ts'
import {
  socketServer,
  type SocketAnswer,
  type SocketServer,
  type SocketServerOptions,
} from '../../support/providers/socket-server.ts'

const RESPONSES = { provider: 'openai', model: 'a-model' } as const

interface Place extends HarnessPlace {
  readonly server: SocketServer
  readonly provider: Provider
  readonly root: string
}

async function openPlace(
  options: SocketServerOptions,
  { transport = 'auto', root }: { transport?: Transport; root?: string } = {},
): Promise<Place> {
  const server = await socketServer(options)
  onTestFinished(async () => {
    await server.close()
    expect(server.violations).toEqual([])
  })
  return { ...(await placeAt(server, transport, root)), server }
}

async function placeAt(server: SocketServer, transport: Transport, root?: string) {
  const { baseUrl } = server
  const provider = responsesProvider({
    key: CANARY_KEY,
    baseUrl,
    idleMs: 60_000,
    clock: systemClock,
    transport,
  })
  const place = await harnessPlace(
    {
      model: {
        providerOf: async () => ok(provider),
        dialectOf: async () => ok(DIALECTS.responses),
        dialectNameOf: () => 'responses',
        limits: { provider_calls: 100, retries: 0 },
      },
      log: { secrets: [CANARY_KEY] },
    },
    root,
  )
  return { ...place, provider }
}

async function say(session: Session, text: string, options: AdmitOptions = {}): Promise<string> {
  const ended = value(await value(await session.admit(text, options)).done)
  return ended.error === undefined ? ended.status : `${ended.error.kind}: ${ended.error.message}`
}

/** How each call of a Session was sent, from its Log. */
function transports(session: Session): string[] {
  const requests = session.events.flatMap((e) => (e.type === 'provider_request' ? [e.data] : []))
  return requests.map(
    ({ transport, previous_response_id_used = false }) =>
      `${transport}${previous_response_id_used ? ' continued' : ''}`,
  )
}

function resets(session: Session): (string | undefined)[] {
  return session.events.flatMap((e) =>
    e.type === 'provider_usage' ? [e.data.continuation?.reset_reason] : [],
  )
}

async function proven({ harness }: HarnessPlace, session: Session): Promise<void> {
  const { requests } = value(await harness.verify(session.id, { requests: true }))
  expect(requests?.mismatches).toEqual([])
}

const hello = (): SocketAnswer => ({ text: 'Good morning.' })

/** A model that reads a file `times` times, once per call, and then answers. */
function reading(times: number): SocketServerOptions['answer'] {
  return (_request, n) =>
    n < times
      ? { calls: [{ id: `call_${n}`, name: 'read', arguments: '{"path":"notes.txt"}' }] }
      : { text: 'It was read.' }
}

test('over a socket only new items are sent, and their size does not grow with history', async () => {
  const place = await openPlace({ answer: reading(30) })
  await writeFile(join(place.workspace, 'notes.txt'), 'rope and sail')
  const session = value(await place.harness.create(RESPONSES))
  expect(await say(session, 'Read the notes.')).toBe('completed')
  const [first, ...later] = place.server.requests
  expect([first?.over, first?.previous]).toEqual(['websocket', undefined])
  expect(later.length).toBe(30)
  expect(later.every(({ items }) => items.join() === 'function_call_output')).toBe(true)
  expect(later.map(({ previous }) => previous)).toEqual(later.map((_one, n) => `resp_${n + 1}`))
  const sizes = later.map(({ bytes }) => bytes)
  expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThan(20)
  expect(transports(session)).toEqual(['websocket', ...later.map(() => 'websocket continued')])
  expect(resets(session)).toEqual(['no_previous_response', ...later.map(() => undefined)])
  const recorded = session.events.flatMap((e) => (e.type === 'provider_request' ? [e.data] : []))
  expect(recorded.map(({ sent_bytes }) => sent_bytes)).toEqual(
    place.server.requests.map(({ bytes }) => bytes),
  )
  expect(recorded.at(-1)?.request_bytes).toBeGreaterThan(recorded[0]?.request_bytes ?? 0)
  await proven(place, session)
})

test('a Turn continues where the last one ended, on the same socket', async () => {
  const place = await openPlace({ answer: hello })
  const session = value(await place.harness.create(RESPONSES))
  for (const text of ['One.', 'Two.', 'Three.']) expect(await say(session, text)).toBe('completed')
  expect(transports(session)).toEqual(['websocket', 'websocket continued', 'websocket continued'])
  expect(place.server.requests[2]?.text).not.toContain('Two.')
  await proven(place, session)
})

test('long content arrives complete, in a first message and in a continuation', async () => {
  const place = await openPlace({ answer: hello })
  const session = value(await place.harness.create(RESPONSES))
  const texts = ['"rope" é€😀\n', '"sail" é€😀\n'].map((line) => line.repeat(150_000))
  await say(session, 'One.')
  for (const [index, text] of texts.entries()) {
    const path = join(place.workspace, `long${index}.txt`)
    await writeFile(path, text)
    const attachments = [{ from: 'path', path }] as const
    expect(await say(session, 'Look at this.', { attachments })).toBe('completed')
  }
  // The bytes of the second Turn are retired in the third, which therefore sends everything.
  expect(transports(session)).toEqual(['websocket', 'websocket continued', 'websocket'])
  const [, second, third] = place.server.requests
  expect(
    [second, third].map((request, n) =>
      request?.text.includes(JSON.stringify(texts[n]).slice(1, -1)),
    ),
  ).toEqual([true, true])
  const recorded = session.events.flatMap((e) => (e.type === 'provider_request' ? [e.data] : []))
  expect(recorded.map(({ sent_bytes }) => sent_bytes)).toEqual(
    place.server.requests.map(({ bytes }) => bytes),
  )
  expect(place.server.opened()).toBe(1)
  await proven(place, session)
})

test('model_changed: another model receives everything', async () => {
  const place = await openPlace({ answer: hello })
  const session = value(await place.harness.create(RESPONSES))
  await say(session, 'One.')
  value(await session.change({ model: { provider: 'openai', model: 'another-model' } }))
  await say(session, 'Two.')
  expect(resets(session)).toEqual(['no_previous_response', 'model_changed'])
  expect(place.server.requests[1]?.text).toContain('One.')
})

test('prefix_mismatch: after a Turn of another process, everything is sent again', async () => {
  const place = await openPlace({ answer: hello })
  const session = value(await place.harness.create(RESPONSES))
  await say(session, 'One.')
  const elsewhere = await placeAt(place.server, 'auto', place.root)
  const other = value(await elsewhere.harness.open(session.id))
  await say(other, 'Two.')
  await other.close()
  await say(session, 'Three.')
  expect(resets(session)).toEqual([
    'no_previous_response',
    'no_previous_response',
    'prefix_mismatch',
  ])
  expect(place.server.requests[2]?.text).toContain('Two.')
  await proven(place, session)
})

test('[PC-010] compaction: after a checkpoint, everything is sent again', async () => {
  const place = await openPlace({ answer: hello })
  const session = value(await place.harness.create(RESPONSES))
  await say(session, 'One.')
  const from_seq = session.events.findLast(({ type }) => type === 'turn_started')?.seq ?? 0
  const none = { files_touched: [], decisions: [], open_tasks: [], tool_outcomes: [] }
  value(
    await session.between(({ record }) =>
      record([
        {
          type: 'history_compaction',
          data: {
            trigger: 'manual',
            strategy: 'local',
            range: { from_seq: 0, to_seq: from_seq - 1 },
            tail: { from_seq, turns: 1, tokens: 1 },
            tokens_before: 2,
            tokens_after: 1,
            carried: { ...none, resources: [], skills: [], hydrations: [], pinned: [] },
            state: { handle_counter: 0, resources: [], notices: [] },
            summary: 'Little was said.',
          },
        },
      ]),
    ),
  )
  await say(session, 'Two.')
  expect(resets(session)).toEqual(['no_previous_response', 'compaction'])
})

test('transient_retired: when bytes are retired, everything that remains is sent again', async () => {
  const place = await openPlace({ answer: hello })
  const session = await sessionWithImages(place, 'openai', [Buffer.from('pixels')])
  await say(session, 'One.')
  await say(session, 'Two.')
  expect(resets(session)).toEqual(['no_previous_response', 'transient_retired'])
  expect(place.server.requests.map(({ text }) => text.includes('data:image/png'))).toEqual([
    true,
    false,
  ])
  await proven(place, session)
})

test('previous_response_not_found: a server that forgot receives everything at once, without a visible error', async () => {
  let forgot = 0
  const error = {
    status: 400,
    error: {
      type: 'invalid_request_error',
      code: 'previous_response_not_found',
      message: 'Not found.',
    },
  }
  const place = await openPlace({
    answer: ({ previous }) =>
      previous !== undefined && forgot++ === 0 ? { error } : { text: 'Good morning.' },
  })
  const session = value(await place.harness.create(RESPONSES))
  await say(session, 'One.')
  expect(await say(session, 'Two.')).toBe('completed')
  expect(transports(session)).toEqual(['websocket', 'websocket continued', 'websocket'])
  expect(resets(session)).toEqual(['no_previous_response', 'previous_response_not_found'])
  await proven(place, session)
})

test('reconnected: a socket that was closed is opened again, and receives everything', async () => {
  const place = await openPlace({ answer: hello })
  const session = value(await place.harness.create(RESPONSES))
  await say(session, 'One.')
  await place.server.hangUp()
  // The provider may not have noticed yet; a call before that uses a closed socket.
  const status = await say(session, 'Two.')
  expect(status).toBe('completed')
  expect(resets(session).at(-1)).toBe('reconnected')
  await proven(place, session)
})

test('fallback: if no socket is accepted HTTP is used, and the Log says so', async () => {
  const place = await openPlace({ answer: hello, refuse: () => 404 })
  const session = value(await place.harness.create(RESPONSES))
  expect(await say(session, 'One.')).toBe('completed')
  expect(await say(session, 'Two.')).toBe('completed')
  expect(transports(session)).toEqual(['websocket', 'http-sse', 'http-sse'])
  expect(resets(session)).toEqual(['fallback', 'fallback'])
  await proven(place, session)
})

test('a key that is refused on a socket is not sent over HTTP', async () => {
  const place = await openPlace({ answer: hello, refuse: () => 401 })
  const session = value(await place.harness.create(RESPONSES))
  expect(await say(session, 'One.')).toMatch(/^auth: /)
  expect(place.server.requests).toEqual([])
})

test('transport websocket fails without a socket', async () => {
  const place = await openPlace({ answer: hello, refuse: () => 404 }, { transport: 'websocket' })
  const session = value(await place.harness.create(RESPONSES))
  expect(await say(session, 'One.')).toMatch(/^network: /)
  expect([transports(session), place.server.requests]).toEqual([['websocket'], []])
})

test('transport http-sse never opens a socket', async () => {
  const place = await openPlace({ answer: hello, refuse: () => 500 }, { transport: 'http-sse' })
  const session = value(await place.harness.create(RESPONSES))
  expect(await say(session, 'One.')).toBe('completed')
  expect([transports(session), resets(session)]).toEqual([['http-sse'], [undefined]])
})

test('an interrupt closes the socket, and the next Turn sends everything on another', async () => {
  const long = Array.from({ length: 40 }, (_one, n) => `word ${n}`).join(' ')
  let n = 0
  const place = await openPlace({
    answer: () => (n++ === 0 ? { answer: { text: long }, cutAfter: Infinity } : { text: 'Well.' }),
  })
  const session = value(await place.harness.create(RESPONSES))
  const watching = session.subscribe()
  const admitted = value(await session.admit('Tell me more.'))
  for await (const seen of watching) {
    if (seen.kind === 'ephemeral' && seen.ephemeral.type === 'text_delta') break
  }
  session.interrupt()
  const ended = value(await admitted.done)
  expect(['interrupted', 'completed']).toContain(ended.status)
  expect(await say(session, 'And now?')).toBe('completed')
  await proven(place, session)
})

test('the rest of an unreadable answer is not mistaken for the next one', async () => {
  const noise = ['{"type":"response.output_text.delta"}']
  const place = await openPlace({
    answer: (_request, n) =>
      n === 0 ? { noise, answer: { text: 'An old answer.' } } : { text: 'Good morning.' },
  })
  const session = value(await place.harness.create(RESPONSES))
  expect(await say(session, 'One.')).toMatch(/^invalid_response: /)
  expect(await say(session, 'Two.')).toBe('completed')
  const texts = session.events.flatMap((e) => (e.type === 'assistant_message' ? [e.data.text] : []))
  expect([texts, place.server.opened()]).toEqual([['Good morning.'], 2])
  await proven(place, session)
})

test('a socket killed at fifty points of a stream ends the Turn truthfully, and repeats nothing', async () => {
  const text =
    'It was a long and quiet morning, and nobody spoke before the tide had turned. '.repeat(3)
  let cutAfter: number | undefined
  const place = await openPlace({
    answer: () => (cutAfter === undefined ? { text } : { answer: { text }, cutAfter }),
  })
  const ends: string[] = []
  for (let point = 0; point < 50; point++) {
    const session = value(await place.harness.create(RESPONSES))
    const deltas: string[] = []
    const subscription = session.subscribe()
    const watching = (async () => {
      for await (const seen of subscription) {
        if (seen.kind === 'ephemeral' && seen.ephemeral.type === 'text_delta')
          deltas.push(seen.ephemeral.data.text)
      }
    })()
    cutAfter = Math.floor((4_000 / 50) * point)
    const ended = value(await value(await session.admit('Tell me.')).done)
    cutAfter = undefined
    const kept = session.events.flatMap((e) => (e.type === 'assistant_message' ? [e.data] : []))
    ends.push(ended.status)
    expect(kept.length).toBeLessThanOrEqual(1)
    expect(session.events.filter(({ type }) => type === 'turn_ended').length).toBe(1)
    await session.close()
    await watching
    expect(kept[0]?.text ?? '').toBe(deltas.join(''))
    expect(text.startsWith(deltas.join(''))).toBe(true)
    expect(kept[0]?.partial === true).toBe(ended.status !== 'completed' && deltas.length > 0)
  }
  expect(new Set(ends)).toEqual(new Set(['failed', 'completed']))
})
