import { expect, test } from 'vitest'
import { virtualClock } from '../../../../test/support/host/virtual-clock.ts'
import type { InputSource } from '../../../host/streams.ts'
import { pipedText } from './piped-text.ts'

/** A pipe with these bytes; without them, nothing is ever written to it. */
function input(source: InputSource, bytes?: Buffer | string) {
  return {
    source,
    ready: (signal: AbortSignal) =>
      bytes !== undefined
        ? Promise.resolve(true)
        : new Promise<boolean>((resolve) => {
            signal.addEventListener('abort', () => resolve(false))
          }),
    upTo: async (limit: number) => Buffer.from(bytes ?? '').subarray(0, limit),
  }
}

test.each(['terminal', 'other'] as const)('nothing is read from a %s', async (source) => {
  expect(await pipedText(input(source, 'text'), virtualClock())).toEqual({ ok: true, value: {} })
})

/** A pipe that sends these bytes when `arrive` is called. */
function slowPipe(bytes: string) {
  let arrive = () => {}
  const stdin = {
    source: 'pipe' as const,
    ready: (signal: AbortSignal) =>
      new Promise<boolean>((resolve) => {
        arrive = () => resolve(true)
        signal.addEventListener('abort', () => resolve(false))
      }),
    upTo: async (limit: number) => Buffer.from(bytes).subarray(0, limit),
  }
  return { stdin, arrive: () => arrive() }
}

/** The reading of a pipe that was silent for three seconds. */
async function silent(bytes: string) {
  const clock = virtualClock()
  const { stdin, arrive } = slowPipe(bytes)
  const reading = pipedText(stdin, clock)
  expect(clock.pending()).toEqual([3000])
  clock.advance(3000)
  const read = await reading
  if (!read.ok) throw new Error(read.error.message)
  expect(clock.pending()).toEqual([])
  return { ...read.value, arrive }
}

test('a pipe that sends no byte is not waited for after three seconds, and the notice says how to wait', async () => {
  const { notice, text, late } = await silent('late\n')
  expect([notice, text]).toEqual([
    expect.stringMatching(/sent nothing for 3 seconds.*--stdin/),
    undefined,
  ])
  expect(await late?.take()).toEqual({ ok: true, value: {} })
  await late?.drop()
})

test('text that arrives after three seconds, but in time, is included', async () => {
  const { late, arrive } = await silent('late\n')
  arrive()
  await Promise.resolve()
  expect(await late?.take()).toMatchObject({ ok: true, value: { text: 'late\n' } })
})

test('--stdin waits for the end without a time limit, also of a device; --no-stdin reads nothing', async () => {
  const clock = virtualClock()
  for (const source of ['pipe', 'file', 'other'] as const) {
    const read = await pipedText(input(source, 'a\n'), clock, true)
    expect(read).toMatchObject({ ok: true, value: { text: 'a\n' } })
    expect(await pipedText(input(source, 'a\n'), clock, false)).toEqual({ ok: true, value: {} })
  }
  expect(clock.pending()).toEqual([])
})

test('no timer remains when the text was read', async () => {
  const clock = virtualClock()
  const read = await pipedText(input('pipe', 'a\n'), clock)
  expect(read).toMatchObject({ ok: true, value: { text: 'a\n' } })
  expect(clock.pending()).toEqual([])
})

test.each([
  ['64 KiB', Buffer.alloc(65_536, 'x'), { text: 'x'.repeat(65_536) }],
  [
    'one byte more',
    Buffer.alloc(65_537, 'x'),
    { attachment: { from: 'bytes', name: 'stdin.txt' } },
  ],
  ['10 MiB', Buffer.alloc(10_485_760, 'x'), { attachment: { from: 'bytes', name: 'stdin.txt' } }],
  ['text in Latin-1', Buffer.from('caf\xe9', 'latin1'), { attachment: { name: 'stdin.txt' } }],
])('%s is read completely', async (_what, bytes, value) => {
  expect(await pipedText(input('file', bytes), virtualClock())).toMatchObject({ ok: true, value })
})

test.each([
  ['more than 10 MiB', Buffer.alloc(10_485_761, 'x'), 'too_large'],
  ['a NUL', Buffer.from('a\0b'), 'invalid_args'],
  ['a PDF', Buffer.from('%PDF-1.7\n'), 'invalid_args'],
])('%s is refused', async (_what, bytes, kind) => {
  const read = await pipedText(input('file', bytes), virtualClock())
  expect(read).toMatchObject({ ok: false, error: { kind } })
})
