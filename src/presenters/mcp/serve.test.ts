import { afterEach, describe, expect, test } from 'vitest'
import { CANARY_KEY } from '../../../test/support/host/canary.ts'
import { countedTether } from '../../../test/support/presenters/counted-tether.ts'
import { messageHost, type MessageHost } from '../../../test/support/presenters/message-host.ts'
import { TINY_IMAGES } from '../../../test/support/resources/tiny-images.ts'
import { until, virtualClock } from '../../../test/support/host/virtual-clock.ts'
import { sha256 } from '../../encoding/hash.ts'
import { Redactor } from '../../encoding/redaction.ts'
import { LIMITS } from '../../model/limits.ts'
import { hawserMcp, INSTRUCTIONS } from './hawser.ts'
import { serveMcp } from './serve.ts'

const started: MessageHost[] = []
afterEach(() => {
  for (const host of started.splice(0)) host.end()
})

function serve(written?: () => Promise<boolean>) {
  const tether = countedTether()
  const clock = virtualClock()
  const host = messageHost(written)
  started.push(host)
  const defects: unknown[] = []
  let count = 0
  const ids = { request: () => `req_${(count += 1)}` }
  const { streams } = host
  const stop = new Promise<void>(() => {})
  const onDefect = (error: unknown) => void defects.push(error)
  const served = hawserMcp({
    tether,
    clock,
    ids,
    version: '1',
    onDefect,
    redactor: new Redactor([CANARY_KEY]),
  })
  const done = serveMcp({ ...served, streams, clock, stop })
  let id = 0
  const call = async (name: string, args: object, meta: object = {}) => {
    id += 1
    host.send(request(id, 'tools/call', { name, arguments: args, ...meta }))
    const { result, error } = await host.answer(id)
    return { result, error } as { result: Result; error: unknown }
  }
  return { tether, clock, host, done, call, defects }
}

interface Result {
  readonly isError?: true
  readonly content: readonly Readonly<Record<string, unknown>>[]
  readonly structuredContent: Readonly<Record<string, unknown>>
}

interface ListedTool {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly outputSchema: object
  readonly annotations: Readonly<Record<string, boolean>>
}

/** Of the revision 2025-11-25 and before, which needs no handshake here. */
function request(id: number | string, method: string, params: object) {
  return { jsonrpc: '2.0', id, method, params }
}

const ENVELOPE = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
}

const DONE = {
  v: 1,
  type: 'assistant.done',
  ts: '2026-11-17T10:00:00.000Z',
  session: { channel: 'host', id: 'default' },
  msg_id: 'g1',
  in_reply_to: 'host-req_1',
  payload: { text: 'Hi', status: 'completed' },
} as const

const png = { media_type: 'image/png', data: TINY_IMAGES.png.toString('base64') }

describe('the connection', () => {
  test('is answered in the revision that the host speaks, and touches no Instance', async () => {
    for (const version of ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05']) {
      const { host, tether } = serve()
      const clientInfo = { name: 'test', version: '1' }
      host.send(
        request(1, 'initialize', { protocolVersion: version, capabilities: {}, clientInfo }),
      )
      expect(await host.answer(1)).toMatchObject({
        result: {
          protocolVersion: version,
          serverInfo: { name: 'hawser' },
          instructions: INSTRUCTIONS,
        },
      })
      host.send(request(2, 'tools/list', {}))
      expect(await host.answer(2)).toMatchObject({ result: { tools: { length: 7 } } })
      expect(tether.calls).toEqual([])
    }
    const { host, tether } = serve()
    host.send(request(1, 'server/discover', { _meta: ENVELOPE }))
    expect(await host.answer(1)).toMatchObject({
      result: { supportedVersions: ['2026-07-28'], capabilities: { tools: {} } },
    })
    host.send(request(2, 'tools/list', { _meta: ENVELOPE }))
    expect(await host.answer(2)).toMatchObject({ result: { cacheScope: 'public' } })
    expect(tether.calls).toEqual([])
  })

  test('lists tools with what they do, what they return, and whether they change anything', async () => {
    const { host } = serve()
    host.send(request(1, 'tools/list', {}))
    const { result } = (await host.answer(1)) as { result: { tools: readonly ListedTool[] } }
    const hints = result.tools.map(({ name, annotations: a }) => [
      name,
      a['readOnlyHint'],
      a['destructiveHint'],
      a['idempotentHint'],
      a['openWorldHint'],
    ])
    expect(hints).toEqual([
      ['tether_send', false, true, false, true],
      ['tether_read', true, false, true, false],
      ['instance_create', false, false, false, false],
      ['instance_list', true, false, true, false],
      ['instance_info', true, false, true, false],
      ['instance_start', false, false, true, false],
      ['instance_stop', false, true, true, false],
    ])
    for (const { title, description, outputSchema } of result.tools) {
      expect(title.length * description.length).toBeGreaterThan(0)
      expect(outputSchema).toMatchObject({ type: 'object', properties: { error: {} } })
    }
  })

  test('continues after lines that are not messages', async () => {
    const { host, call } = serve()
    host.send('{"jsonrpc":"2.0"')
    host.send('')
    host.send('[]')
    host.send('{"id":"x"}')
    host.send(`${'['.repeat(200)}${']'.repeat(200)}`)
    host.sendBytes(Buffer.from([0xff, 0xfe, 10]))
    await until(() => host.messages.length === 5)
    expect(host.messages).toMatchObject([
      { id: null, error: { code: -32700 } },
      { id: null, error: { code: -32600 } },
      { id: 'x', error: { code: -32600 } },
      { id: null, error: { code: -32600 } },
      { id: null, error: { code: -32700 } },
    ])
    expect((await call('instance_list', {})).result.isError).toBeUndefined()
  })

  test('answers a line over the limit by its id, without holding it', async () => {
    const { host, call } = serve()
    const piece = Buffer.alloc(1024 * 1024, 'a')
    host.sendBytes(Buffer.from('{"method":"tools/call","params":{"x":"'))
    for (let sent = 0; sent <= LIMITS.mcp_message_bytes; sent += piece.length) host.sendBytes(piece)
    host.sendBytes(Buffer.from('"},"jsonrpc":"2.0","id":77}\n'))
    expect(await host.answer(77)).toMatchObject({ error: { code: -32600 } })
    expect((await call('instance_list', {})).result.isError).toBeUndefined()
  })

  test('at its end, ends reads that wait, answers them, and closes', async () => {
    const { host, tether, done } = serve()
    host.send(request(1, 'tools/call', { name: 'tether_read', arguments: { instance: 'a' } }))
    await until(() => tether.waiting === 1)
    host.end()
    await done
    expect(host.messages).toMatchObject([{ id: 1, result: { structuredContent: { frames: [] } } }])
    expect(tether.waiting).toBe(0)
  })

  test('closes when the reader of its output is gone', async () => {
    const { host, done } = serve(async () => false)
    host.send(request(1, 'tools/list', {}))
    await done
    expect(host.messages).toEqual([])
  })
})

describe('a message', () => {
  test('is sent, and its answer and notices are read with the returned cursor [AR-008]', async () => {
    const { call, tether } = serve()
    const sent = await call('tether_send', { instance: 'a', text: 'Hello' })
    const accepted = { msg_id: 'host-req_1', session_id: 'default', ingress_seq: 1 }
    expect(sent.result).toEqual({
      content: [{ type: 'text', text: JSON.stringify(accepted) }],
      structuredContent: accepted,
    })
    tether.add({ ...DONE, type: 'status.presence', payload: { state: 'thinking' } })
    const notices = [{ code: 'upload_denied', text: 'Not sent to the model: @img1.' }]
    const done = tether.add({ ...DONE, payload: { ...DONE.payload, notices } })
    const { result } = await call('tether_read', {
      instance: 'a',
      after_seq: 1,
      reply_to_msg_id: 'host-req_1',
    })
    const page = { frames: [done], next_seq: 3, timed_out: false, first_available_seq: 1 }
    expect(result).toEqual({
      content: [{ type: 'text', text: JSON.stringify(page) }],
      structuredContent: page,
    })
  })

  test('has its images decoded and stored before it is sent', async () => {
    const { call, tether } = serve()
    const { result } = await call('tether_send', { instance: 'a', text: '', images: [png, png] })
    expect(result.isError).toBeUndefined()
    expect(tether.calls).toEqual(['info', 'putImage', 'putImage', 'send'])
    expect([...tether.images.keys()]).toEqual([`${sha256(TINY_IMAGES.png)}.png`])
  })

  test.each([
    ['no base64', { images: [{ ...png, data: 'aGk' }] }, 'invalid_args'],
    [
      'a data URL',
      { images: [{ ...png, data: `data:image/png;base64,${png.data}` }] },
      'invalid_args',
    ],
    [
      'base64 with line breaks',
      { images: [{ ...png, data: `${png.data.slice(0, 76)}\n${png.data.slice(76)}` }] },
      'invalid_args',
    ],
    ['another media type', { images: [{ ...png, media_type: 'image/jpeg' }] }, 'type_mismatch'],
    [
      'a media type that is no image',
      { images: [{ ...png, media_type: 'image/svg+xml' }] },
      'unsupported_type',
    ],
    ['a field too many', { images: [{ ...png, url: 'x' }] }, 'invalid_args'],
    ['five images', { images: [png, png, png, png, png] }, 'too_large'],
    ['an empty image', { images: [{ ...png, data: '' }] }, 'type_mismatch'],
    [
      'images for an Instance without a workspace',
      { instance: 'bare', images: [png] },
      'images_require_workspace',
    ],
    ['images for a disabled Instance', { instance: 'off', images: [png] }, 'instance_disabled'],
    ['images for an unknown Instance', { instance: 'nobody', images: [png] }, 'not_found'],
    ['an unknown Instance', { instance: 'nobody' }, 'not_found'],
    ['no text', { text: '' }, 'invalid_args'],
    ['text over 200 KiB', { text: 'é'.repeat(102_401), images: [png] }, 'too_large'],
    [
      'text that is too long when escaped',
      { text: '\u0001'.repeat(60_000), images: [png] },
      'too_large',
    ],
    ['a session_id of 129 bytes', { session_id: 'a'.repeat(129), images: [png] }, 'invalid_args'],
    ['an unknown argument', { isolation: 'process' }, 'invalid_args'],
    ['a text that is no text', { text: 5 }, 'invalid_args'],
  ])('is refused with %s, and nothing is stored', async (_, args, kind) => {
    const { call, tether } = serve()
    const { result } = await call('tether_send', { instance: 'a', text: 'Hi', ...args })
    expect(result).toMatchObject({ isError: true, structuredContent: { error: { kind } } })
    expect(JSON.parse(String(result.content[0]?.['text']))).toEqual(result.structuredContent)
    expect(tether.calls.filter((name) => name !== 'info')).toEqual([])
    expect(tether.images.size).toBe(0)
  })
})

describe('a read', () => {
  test('reports progress while it waits, to a host that asked for it', async () => {
    const { call, clock, host, tether } = serve()
    const read = call(
      'tether_read',
      { instance: 'a', wait_ms: 30_000 },
      { _meta: { progressToken: 'p' } },
    )
    await until(() => tether.waiting === 1)
    clock.advance(5_000)
    await host.received(({ method }) => method === 'notifications/progress')
    clock.advance(5_000)
    await until(() => host.messages.length === 2)
    tether.add(DONE)
    await read
    expect(host.messages.slice(0, 2).map(({ params }) => params)).toEqual([
      { progressToken: 'p', progress: 5, total: 30, message: 'waiting for frames, 5 s' },
      { progressToken: 'p', progress: 10, total: 30, message: 'waiting for frames, 10 s' },
    ])
    expect(clock.pending()).toEqual([])
  })

  test('that is cancelled stops waiting at once, and is not answered', async () => {
    const { host, tether, call } = serve()
    host.send(
      request(9, 'tools/call', {
        name: 'tether_read',
        arguments: { instance: 'a', wait_ms: 30_000 },
      }),
    )
    await until(() => tether.waiting === 1)
    host.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 9 } })
    await until(() => tether.waiting === 0)
    await call('instance_list', {})
    expect(host.messages.map(({ id }) => id)).toEqual([1])
  })

  test('returns images after the page, in order, and says which one is missing', async () => {
    const { call, tether } = serve()
    const store = async (bytes: Buffer, media_type: 'image/png' | 'image/gif') => {
      const stored = await tether.putImage('a', { media_type, bytes })
      if (!stored.ok) throw new Error('not stored')
      return stored.value
    }
    const first = await store(TINY_IMAGES.png, 'image/png')
    const last = await store(TINY_IMAGES.gif, 'image/gif')
    const lost = { ...first, blob: `${'0'.repeat(64)}.png` }
    tether.add({ ...DONE, payload: { ...DONE.payload, images: [first, lost] } })
    tether.add({ ...DONE, payload: { ...DONE.payload, images: [last] } })
    const { result } = await call('tether_read', { instance: 'a' })
    expect(result.content.slice(1)).toEqual([
      { type: 'image', data: TINY_IMAGES.png.toString('base64'), mimeType: 'image/png' },
      { type: 'text', text: `[The image ${lost.blob} is missing.]` },
      { type: 'image', data: TINY_IMAGES.gif.toString('base64'), mimeType: 'image/gif' },
    ])
  })

  test.each([
    ['a negative cursor', { after_seq: -1 }],
    ['a cursor that is no number', { after_seq: '1' }],
    ['a limit of 0', { limit: 0 }],
    ['a limit of 201', { limit: 201 }],
    ['a wait over 30 s', { wait_ms: 30_001 }],
    ['an unknown type of frame', { types: ['assistant.thought'] }],
    ['no types', { types: [] }],
  ])('is refused with %s', async (_, args) => {
    const { call, tether } = serve()
    const { result } = await call('tether_read', { instance: 'a', ...args })
    expect(result).toMatchObject({
      isError: true,
      structuredContent: { error: { kind: 'invalid_args' } },
    })
    expect(tether.calls).toEqual([])
  })
})

describe('Instances', () => {
  test('are created as by a program, which cannot choose their isolation', async () => {
    const { call, tether } = serve()
    await call('instance_create', { handle: 'a' })
    await call('instance_create', { handle: 'a', workspace: '/w' })
    const { result } = await call('instance_create', { handle: 'a', isolation: 'process' })
    expect(result).toMatchObject({
      isError: true,
      structuredContent: { error: { kind: 'invalid_args' } },
    })
    expect(tether.calls).toEqual(['create undefined mcp', 'create /w mcp'])
  })

  test('are listed, shown, started and stopped', async () => {
    const { call } = serve()
    const { result } = await call('instance_list', {})
    expect(result.structuredContent).toMatchObject({
      instances: [{ handle: 'a' }, { handle: 'bare' }],
    })
    for (const [name, state] of [
      ['info', 'stopped'],
      ['start', 'running'],
      ['stop', 'stopped'],
    ]) {
      const shown = await call(`instance_${name}`, { instance: 'a' })
      expect(shown.result.structuredContent).toMatchObject({ handle: 'a', state })
    }
  })

  test('that do not exist are an error with the next step', async () => {
    const { call } = serve()
    const { result } = await call('instance_info', { instance: 'nobody' })
    expect(result).toMatchObject({
      isError: true,
      structuredContent: {
        error: { kind: 'not_found', next_actions: [{ command: 'hawser instance list' }] },
      },
    })
  })
})

test('an unknown tool is an error of the protocol', async () => {
  const { call } = serve()
  expect(await call('tether_sing', {})).toMatchObject({ error: { code: -32602 } })
})

test('a defect is reported, and the call fails', async () => {
  const { call, tether, defects } = serve()
  tether.list = () => Promise.reject(new Error('broken'))
  const { result } = await call('instance_list', {})
  expect(result).toMatchObject({
    isError: true,
    structuredContent: { error: { kind: 'internal' } },
  })
  expect(defects).toHaveLength(1)
})
