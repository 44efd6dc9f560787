import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ChatCompletionRequest, Fixture, FixtureResponse } from '@copilotkit/aimock'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { LATE_HEADING } from '../../../src/prompt/words/notes.ts'
import type { Session } from '../../../src/session/session.ts'
import { VENDOR_DIALECTS } from '../../support/providers/dialects.ts'
import type { HarnessPlace } from '../../support/session/harness-place.ts'
import { value } from '../../support/log/story.ts'
import { vendorPlace } from '../../support/providers/vendor-place.ts'
import { aimockServer, type VendorServer } from '../../support/providers/vendor-server.ts'
import { sharedBlocks, wireBlocks } from '../../support/providers/wire-blocks.ts'

const LOOP = 20

/** The number of results since the last user message. */
function resultsOf({ messages }: ChatCompletionRequest): number {
  const from = messages.findLastIndex(({ role, content }) => role === 'user' && isUserText(content))
  return messages.slice(from + 1).filter(({ role }) => role === 'tool').length
}

/** Facts of the harness are not user messages, whatever their role. */
function isUserText(content: unknown): boolean {
  return !JSON.stringify(content ?? '').includes('<harness-note>')
}

function lastWords({ messages }: ChatCompletionRequest): string {
  const texts = messages
    .filter(({ role }) => role === 'user')
    .map(({ content }) => JSON.stringify(content))
  return texts.join('\n')
}

function call(name: string, args: Readonly<Record<string, unknown>>, id: string) {
  return { id, name, arguments: JSON.stringify(args) }
}

/** A scripted model: its answer depends on the last request of the user. */
const SCRIPT: readonly {
  readonly prompt: string
  readonly answer: (request: ChatCompletionRequest) => FixtureResponse
}[] = [
  {
    prompt: 'Read all twenty.',
    answer: (request) => {
      const n = resultsOf(request)
      return n < LOOP
        ? { toolCalls: [call('read', { path: `f${n}.txt` }, `loop_${n}`)] }
        : { content: `I read ${n} files.` }
    },
  },
  {
    prompt: 'Read both.',
    answer: (request) =>
      resultsOf(request) === 0
        ? {
            toolCalls: [
              call('read', { path: 'f1.txt' }, 'both_1'),
              call('read', { path: 'f2.txt' }, 'both_2'),
            ],
          }
        : { content: 'Both are read.' },
  },
  {
    prompt: 'Sleep.',
    answer: () => ({ toolCalls: [call('bash', { command: 'sleep 30' }, 'sleep_1')] }),
  },
  { prompt: 'And then?', answer: () => ({ content: 'Then we sail.' }) },
  { prompt: 'Good morning.', answer: () => ({ content: 'Good morning to you, and a fair wind.' }) },
]

const FIXTURES: Fixture[] = SCRIPT.map(({ prompt, answer }) => ({
  match: { predicate: (request) => lastPrompt(request) === prompt },
  response: answer,
  chunkSize: 7,
}))

function lastPrompt(request: ChatCompletionRequest): string | undefined {
  const words = lastWords(request)
  const found = SCRIPT.map(({ prompt }) => ({ prompt, at: words.lastIndexOf(prompt) }))
  return found.toSorted((a, b) => b.at - a.at)[0]?.prompt
}

async function say(session: Session, text: string): Promise<string> {
  const ended = value(await value(await session.admit(text)).done)
  return ended.error === undefined
    ? ended.status
    : `${ended.status} ${ended.error.kind} ${ended.error.message}`
}

function answers(session: Session): string[] {
  return session.events.flatMap((e) => (e.type === 'assistant_message' ? [e.data.text] : []))
}

/** Checks that the Log records every request that the server received, in order, by its hash. */
async function proven({ harness }: HarnessPlace, session: Session, seen: number): Promise<void> {
  const { log, requests } = value(await harness.verify(session.id, { requests: true }))
  expect([log.damage, requests?.mismatches, requests?.requests]).toEqual([undefined, [], seen])
}

async function filesIn(workspace: string): Promise<void> {
  for (let n = 0; n < LOOP; n++) await writeFile(join(workspace, `f${n}.txt`), `file number ${n}`)
}

test.each(VENDOR_DIALECTS)(
  '%s: an answer streams, is kept, and the next Turn begins with all of it',
  async (dialect) => {
    const server = await aimockServer(FIXTURES)
    const place = await vendorPlace(server)
    const session = value(await place.harness.create({ provider: dialect, model: 'a-model' }))
    const deltas: string[] = []
    const subscription = session.subscribe()
    const watching = (async () => {
      for await (const seen of subscription) {
        if (seen.kind === 'ephemeral' && seen.ephemeral.type === 'text_delta')
          deltas.push(seen.ephemeral.data.text)
      }
    })()
    expect(await say(session, 'Good morning.')).toBe('completed')
    expect(await say(session, 'And then?')).toBe('completed')
    await session.close()
    await watching
    expect(answers(session)).toEqual(['Good morning to you, and a fair wind.', 'Then we sail.'])
    expect(deltas.length).toBeGreaterThan(4)
    expect(deltas.join('')).toBe(answers(session).join(''))
    const requests = session.events.filter((e) => e.type === 'provider_request')
    expect(requests[1]?.data.prefix_break).toBeUndefined()
    expect(requests[1]?.data.shared_prefix_bytes).toBeGreaterThan(1_000)
    await proven(place, session, 2)
  },
)

test.each(VENDOR_DIALECTS)(
  '[AT-071] %s: a message without files is one string on the wire, a list of one block in messages, and stays so',
  async (dialect) => {
    const server = await aimockServer(FIXTURES)
    const place = await vendorPlace(server)
    const session = value(await place.harness.create({ provider: dialect, model: 'a-model' }))
    expect(await say(session, 'Good morning.')).toBe('completed')
    expect(await say(session, 'And then?')).toBe('completed')
    const sent = server.requests.map(({ bytes }) => personsContents(bytes))
    const wrapped = (text: string) => (dialect === 'messages' ? [[{ type: 'text', text }]] : [text])
    const first = wrapped('Good morning.')
    expect(sent).toEqual([first, [...first, ...wrapped('And then?')]])
    await proven(place, session, 2)
  },
)

/** What people wrote, as the server reads it: without notes of the harness and cache marks. */
function personsContents(body: Buffer): unknown[] {
  const read = z
    .object({ messages: z.array(Member).optional(), input: z.array(Member).optional() })
    .parse(JSON.parse(body.toString('utf8')))
  return (read.messages ?? read.input ?? []).flatMap<unknown>(({ role, content }) => {
    if (role !== 'user') return []
    if (typeof content === 'string') return isUserText(content) ? [content] : []
    const own = content.filter(isUserText).map(({ cache_control: _mark, ...block }) => block)
    return own.length === 0 ? [] : [own]
  })
}

const Member = z.looseObject({
  role: z.string().optional(),
  content: z.union([z.string(), z.array(z.record(z.string(), z.unknown()))]).default(''),
})

test.each(VENDOR_DIALECTS)(
  '%s: of twenty calls in a row, each result is sent before the next call',
  async (dialect) => {
    const server = await aimockServer(FIXTURES)
    const place = await vendorPlace(server)
    await filesIn(place.workspace)
    const session = value(await place.harness.create({ provider: dialect, model: 'a-model' }))
    expect(await say(session, 'Read all twenty.')).toBe('completed')
    expect(answers(session).at(-1)).toBe('I read 20 files.')
    const results = session.events.flatMap((e) =>
      e.type === 'tool_result' ? [e.data.outcome] : [],
    )
    expect(results).toEqual(Array.from({ length: LOOP }, () => 'ok'))
    const last = server.requests.at(-1)?.bytes.toString('utf8') ?? ''
    for (let n = 0; n < LOOP; n++) expect(last).toContain(`file number ${n}`)
    await proven(place, session, LOOP + 1)
  },
)

test.each(VENDOR_DIALECTS)(
  '%s: calls of one answer run in parallel and are answered in order',
  async (dialect) => {
    const server = await aimockServer(FIXTURES)
    const place = await vendorPlace(server)
    await filesIn(place.workspace)
    const session = value(await place.harness.create({ provider: dialect, model: 'a-model' }))
    expect(await say(session, 'Read both.')).toBe('completed')
    const body = server.requests[1]?.bytes.toString('utf8') ?? ''
    expect(body.indexOf('file number 1')).toBeGreaterThan(0)
    expect(body.indexOf('file number 2')).toBeGreaterThan(body.indexOf('file number 1'))
    await proven(place, session, 2)
  },
)

test.each(VENDOR_DIALECTS)(
  '%s: an interrupted Turn is recorded as such, and the next one works',
  async (dialect) => {
    const server = await aimockServer(FIXTURES)
    const place = await vendorPlace(server)
    const session = value(
      await place.harness.create({ provider: dialect, model: 'a-model', permissionMode: 'auto' }),
    )
    const watching = session.subscribe()
    const admitted = value(await session.admit('Sleep.'))
    for await (const seen of watching) {
      if (seen.kind === 'line' && seen.line.content.event.type === 'tool_call') break
    }
    session.interrupt()
    expect(value(await admitted.done).status).toBe('interrupted')
    expect(await say(session, 'And then?')).toBe('completed')
    await proven(place, session, 2)
  },
)

test.each(VENDOR_DIALECTS)(
  '%s: an interrupt during an answer closes the connection, and keeps what was shown',
  async (dialect) => {
    const slow = FIXTURES.map((fixture) => ({ ...fixture, chunkSize: 2, latency: 50 }))
    const server = await aimockServer(slow)
    const place = await vendorPlace(server)
    const session = value(await place.harness.create({ provider: dialect, model: 'a-model' }))
    const watching = session.subscribe()
    const admitted = value(await session.admit('Good morning.'))
    for await (const seen of watching) {
      if (seen.kind === 'ephemeral' && seen.ephemeral.type === 'text_delta') break
    }
    session.interrupt()
    expect(value(await admitted.done).status).toBe('interrupted')
    await server.requests[0]?.hungUp
    const partial = session.events.find((e) => e.type === 'assistant_message')
    expect(partial?.data.partial).toBe(true)
    expect('Good morning to you, and a fair wind.'.startsWith(partial?.data.text ?? '?')).toBe(true)
    await proven(place, session, 1)
  },
)

test.each(VENDOR_DIALECTS)(
  '%s: steering reaches the model in its next request',
  async (dialect) => {
    const server = await aimockServer(FIXTURES)
    const place = await vendorPlace(server)
    await filesIn(place.workspace)
    const session = value(await place.harness.create({ provider: dialect, model: 'a-model' }))
    const admitted = value(await session.admit('Read both.'))
    expect(session.steer('And then?')).toBe(true)
    expect(value(await admitted.done).status).toBe('completed')
    expect(answers(session).at(-1)).toBe('Then we sail.')
    await proven(place, session, server.requests.length)
  },
)

test.each(VENDOR_DIALECTS)(
  '%s: a Session resumed in another process starts its request with everything sent before',
  async (dialect) => {
    const server = await aimockServer(FIXTURES)
    const place = await vendorPlace(server)
    await filesIn(place.workspace)
    const session = value(await place.harness.create({ provider: dialect, model: 'a-model' }))
    expect(await say(session, 'Read both.')).toBe('completed')
    const live = value(await session.preview('And then?'))
    await session.close()
    const again = await vendorPlace(server, {
      root: place.root,
      changes: { tools: { schemas: [] } },
    })
    const resumed = value(await again.harness.open(session.id))
    expect(value(await resumed.preview('And then?')).body.equals(live.body)).toBe(true)
    expect(await say(resumed, 'And then?')).toBe('completed')
    expect(server.requests.at(-1)?.bytes.equals(live.body)).toBe(true)
    await proven(again, resumed, 3)
  },
)

test('a Session uses every dialect, and each receives the whole Conversation', async () => {
  const server = await aimockServer(FIXTURES)
  const place = await vendorPlace(server)
  await filesIn(place.workspace)
  const session = value(await place.harness.create({ provider: 'messages', model: 'a-model' }))
  expect(await say(session, 'Read both.')).toBe('completed')
  for (const dialect of ['responses', 'chat', 'messages'] as const) {
    value(await session.change({ model: { provider: dialect, model: `model of ${dialect}` } }))
    expect(await say(session, 'And then?')).toBe('completed')
    const last = server.requests.at(-1)
    expect([last?.dialect, last?.bytes.includes('file number 2')]).toEqual([dialect, true])
  }
  const causes = session.events.flatMap((e) =>
    e.type === 'provider_request' ? [e.data.prefix_break?.cause] : [],
  )
  expect(causes).toEqual([undefined, undefined, 'dialect', 'dialect', 'dialect'])
  await proven(place, session, 5)
})

function requestsOf(session: Session) {
  return session.events.flatMap((e) => (e.type === 'provider_request' ? [e.data] : []))
}

test.each([true, false])(
  'after another model answered, a request extends the last one to its own model (resumed: %s)',
  async (resumed) => {
    const server = await aimockServer(FIXTURES)
    const place = await vendorPlace(server)
    const first = value(await place.harness.create({ provider: 'messages', model: 'a-model' }))
    let session = first
    for (const provider of ['messages', 'chat', 'messages', 'chat']) {
      value(await session.change({ model: { provider, model: 'a-model' } }))
      if (resumed) {
        await session.close()
        session = value(await place.harness.open(first.id))
      }
      expect(await say(session, 'And then?')).toBe('completed')
    }
    const requests = requestsOf(session)
    expect(requests.map(({ prefix_break }) => prefix_break)).toEqual([
      undefined,
      { at: 0, cause: 'dialect' },
      undefined,
      undefined,
    ])
    const sizes = requests.map(({ request_bytes }) => request_bytes)
    expect(requests.map((one) => one.shared_prefix_bytes)).toEqual([0, 0, sizes[0], sizes[1]])
    expect([seenBlocks(server, 0, 2), seenBlocks(server, 1, 3)]).toEqual(['extended', 'extended'])
    await proven(place, session, 4)
  },
)

/** Whether a received request begins with every block of another, each in its message and with its role. */
function seenBlocks({ requests }: VendorServer, earlier: number, later: number): string {
  const [before = [], after = []] = [requests[earlier], requests[later]].map((request) => {
    const { dialect, bytes } = request ?? expect.fail('no such request')
    return wireBlocks(dialect ?? expect.fail('no dialect'), bytes)
  })
  const shared = sharedBlocks(before, after)
  return shared === before.length ? 'extended' : `was ${before[shared]}, is ${after[shared]}`
}

test.each(VENDOR_DIALECTS)(
  '%s: after an interrupt before the first answer, every block that was sent keeps its role',
  async (dialect) => {
    const stalled = FIXTURES.map((fixture) => ({ ...fixture, latency: 60_000 }))
    const server = await aimockServer(stalled)
    const role = dialect === 'responses' ? 'developer' : 'system'
    const place = await vendorPlace(server, { facts: { late_role: role } })
    const session = value(await place.harness.create({ provider: dialect, model: 'a-model' }))
    const admitted = value(await session.admit('Good morning.'))
    await expect.poll(() => server.requests.length).toBe(1)
    session.interrupt()
    expect(value(await admitted.done).status).toBe('interrupted')
    value(await session.change({ mode: 'plan', permission_mode: 'read-only' }))
    const again = value(await session.admit('And then?'))
    await expect.poll(() => server.requests.length).toBe(2)
    session.interrupt()
    await again.done
    expect(seenBlocks(server, 0, 1)).toBe('extended')
    const [first, second] = requestsOf(session)
    expect(second).toMatchObject({ shared_prefix_bytes: first?.request_bytes })
    expect(second).not.toHaveProperty('prefix_break')
    const blocks = wireBlocks(dialect, server.requests[1]?.bytes ?? Buffer.alloc(0))
    const late = blocks.filter((block) => block.includes(LATE_HEADING))
    expect(late.map((block) => block.includes(` ${role}: `))).toEqual([true, true])
    await proven(place, session, 2)
  },
)

test('no key is in the Log, and every request carries it only where its vendor expects it', async () => {
  const server = await aimockServer(FIXTURES)
  const place = await vendorPlace(server)
  for (const dialect of VENDOR_DIALECTS) {
    const session = value(await place.harness.create({ provider: dialect, model: 'a-model' }))
    expect(await say(session, 'Good morning.')).toBe('completed')
    const log = join(place.workspace, '.hawser', 'sessions', `${session.id}.ndjson`)
    expect(await readFile(log, 'utf8')).not.toContain('canary')
    const headers = server.requests.at(-1)?.headers ?? {}
    const names = Object.entries(headers).flatMap(([name, header]) =>
      String(header).includes('canary') ? [name] : [],
    )
    expect(names).toEqual(['authorization'])
  }
})
