import { expect, test } from 'vitest'
import type { Part } from '../../model/conversation.ts'
import { BlobKey } from '../../model/ids.ts'
import type { Surface } from '../../model/surface.ts'
import type { ProviderEvent } from '../provider.ts'
import { encode, frame } from './encode.ts'
import { rehearsalProvider } from './stream.ts'

const surface: Surface = {
  contract_version: 'hw1',
  model: 'rehearsal',
  system: [],
  tools: ['bash', 'read'].map((name) => ({ name, description: '', parameters: {} })),
  params: { replay: 'attach-turn', late_role: 'developer', tool_choice: 'auto', limits: {} },
}

const PICTURE: Part = {
  type: 'blob',
  blob: BlobKey.parse(`${'a'.repeat(64)}.png`),
  media_type: 'image/png',
  handle: '@img1',
  lifetime: 'turn',
  bytes: Buffer.from('pixels'),
}

function bodyOf(text: string, ...shown: readonly Part[]): Buffer {
  const parts: Part[] = [{ type: 'text', text, lifetime: 'stable' }, ...shown]
  return frame(encode([{ kind: 'user', seq: 1, parts }], surface), {})
}

const prompt = rehearsalProvider({ chunk: 7, delayMs: 0 })

async function all(events: AsyncIterable<ProviderEvent>): Promise<ProviderEvent[]> {
  const seen: ProviderEvent[] = []
  for await (const event of events) seen.push(event)
  return seen
}

test('text arrives in small pieces, then as an item, then the calls, then the end', async () => {
  const body = bodyOf('read a.txt and run `ls`')
  const events = await all(prompt.stream(body, new AbortController().signal))
  const text = 'I will read a.txt and run “ls”.'
  const deltas = events.flatMap((event) => (event.type === 'text_delta' ? [event.text] : []))
  expect(deltas.join('')).toBe(text)
  expect(deltas.every((delta) => delta.length <= 7)).toBe(true)
  expect(events.slice(deltas.length)).toEqual([
    { type: 'item', item: { kind: 'text', text } },
    {
      type: 'item',
      item: {
        kind: 'tool_call',
        call_id: expect.stringMatching(/^call_[0-9a-f]{12}$/),
        name: 'read',
        arguments: '{"path":"a.txt"}',
      },
    },
    {
      type: 'item',
      item: {
        kind: 'tool_call',
        call_id: expect.stringMatching(/^call_[0-9a-f]{12}$/),
        name: 'bash',
        arguments: '{"command":"ls"}',
      },
    },
    {
      type: 'done',
      stop_reason: 'tool_use',
      usage: {
        input: Math.ceil(body.length / 4),
        cached_read: 0,
        cache_write: 0,
        output: expect.any(Number),
        reasoning: 0,
      },
    },
  ])
})

test('an answer without calls ends the Turn', async () => {
  const events = await all(prompt.stream(bodyOf('what did it say?'), new AbortController().signal))
  expect(events.at(-1)).toMatchObject({ type: 'done', stop_reason: 'end_turn' })
})

test('the same body gets the same events, and another body other call ids', async () => {
  const { signal } = new AbortController()
  const ids = (events: ProviderEvent[]) =>
    events.flatMap((event) =>
      event.type === 'item' && event.item.kind === 'tool_call' ? [event.item.call_id] : [],
    )
  const once = await all(prompt.stream(bodyOf('read a.txt, b.txt and c.txt'), signal))
  expect(await all(prompt.stream(bodyOf('read a.txt, b.txt and c.txt'), signal))).toEqual(once)
  const other = await all(prompt.stream(bodyOf('please read a.txt, b.txt and c.txt'), signal))
  expect(new Set([...ids(once), ...ids(other)]).size).toBe(6)
})

test('no character is split between pieces', async () => {
  const provider = rehearsalProvider({ chunk: 1, delayMs: 0 })
  const events = await all(provider.stream(bodyOf('run `🚢🚢🚢`'), new AbortController().signal))
  const deltas = events.flatMap((event) => (event.type === 'text_delta' ? [event.text] : []))
  expect(deltas.join('')).toContain('🚢🚢🚢')
  expect(deltas.every((delta) => delta.isWellFormed())).toBe(true)
})

test('the delay precedes every piece', async () => {
  const waits: number[] = []
  const sleep = (ms: number) => {
    waits.push(ms)
    return Promise.resolve()
  }
  const provider = rehearsalProvider({ chunk: 10, delayMs: 25, sleep })
  const events = await all(provider.stream(bodyOf('hello'), new AbortController().signal))
  const deltas = events.filter(({ type }) => type === 'text_delta')
  expect(waits).toEqual(deltas.map(() => 25))
})

test('an abort ends the answer at once with an interrupted error, even during a delay', async () => {
  const abort = new AbortController()
  const provider = rehearsalProvider({ chunk: 5, delayMs: 3_600_000 })
  const events = all(provider.stream(bodyOf('read a.txt'), abort.signal))
  abort.abort()
  expect(await events).toMatchObject([{ type: 'error', error: { kind: 'interrupted' } }])
})

test('an abort between pieces leaves no item behind', async () => {
  const abort = new AbortController()
  const seen: ProviderEvent[] = []
  for await (const event of prompt.stream(bodyOf('read a.txt'), abort.signal)) {
    seen.push(event)
    if (seen.length === 2) abort.abort()
  }
  expect(seen.map(({ type }) => type)).toEqual(['text_delta', 'text_delta', 'error'])
})

test('a body that was aborted before it was sent is not answered', async () => {
  const events = await all(prompt.stream(bodyOf('read a.txt'), AbortSignal.abort()))
  expect(events).toMatchObject([{ type: 'error', error: { kind: 'interrupted' } }])
})

test('a malformed body gets one error', async () => {
  const events = await all(prompt.stream(Buffer.from('{'), new AbortController().signal))
  expect(events).toMatchObject([{ type: 'error', error: { kind: 'invalid_args' } }])
})

test('an abort does not wait for images to be decoded', async () => {
  const abort = new AbortController()
  const describe = () => {
    abort.abort()
    return new Promise<never>(() => {})
  }
  const seeing = rehearsalProvider({ chunk: 7, delayMs: 0, describe })
  const events = await all(seeing.stream(bodyOf('What do you see?', PICTURE), abort.signal))
  expect(events).toMatchObject([{ type: 'error', error: { kind: 'interrupted' } }])
})

test('a request without images, or about other things, decodes nothing', async () => {
  const describe = () => Promise.reject(new Error('nothing should be decoded'))
  const seeing = rehearsalProvider({ chunk: 7, delayMs: 0, describe })
  const { signal } = new AbortController()
  for (const body of [bodyOf('What do you see?'), bodyOf('Read a.txt', PICTURE)]) {
    expect((await all(seeing.stream(body, signal))).at(-1)).toMatchObject({ type: 'done' })
  }
})
