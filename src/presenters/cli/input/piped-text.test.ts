import { expect, test } from 'vitest'
import { virtualClock } from '../../../../test/support/virtual-clock.ts'
import type { InputSource } from '../../../host/streams.ts'
import { pipedText } from './piped-text.ts'

/** Contains these bytes; without them, nothing is ever written to it. */
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

test('a pipe that sends nothing is ignored after exactly three seconds', async () => {
  const clock = virtualClock()
  const reading = pipedText(input('pipe'), clock)
  expect(clock.pending()).toEqual([3000])
  clock.advance(3000)
  expect(await reading).toEqual({
    ok: true,
    value: { notice: expect.stringContaining('sent nothing for 3 seconds') },
  })
})

test('no timer is left after the text has arrived', async () => {
  const clock = virtualClock()
  const read = await pipedText(input('pipe', 'a\n'), clock)
  expect(read).toMatchObject({ ok: true, value: { piped: 'a\n' } })
  expect(clock.pending()).toEqual([])
})

test.each([
  ['64 KiB', Buffer.alloc(65_536, 'x'), { piped: 'x'.repeat(65_536) }],
  ['one byte more', Buffer.alloc(65_537, 'x'), { attached: { from: 'bytes', name: 'stdin.txt' } }],
  ['10 MiB', Buffer.alloc(10_485_760, 'x'), { attached: { from: 'bytes', name: 'stdin.txt' } }],
  ['text in Latin-1', Buffer.from('caf\xe9', 'latin1'), { attached: { name: 'stdin.txt' } }],
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
