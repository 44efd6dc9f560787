import { expect, test } from 'vitest'
import type { Output } from '../../../host/output.ts'
import { withProgress } from './progress.ts'

function terminal({ isTTY = true, columns = 80, term = 'xterm' } = {}) {
  let written = ''
  let late: (() => void) | undefined
  const stderr: Output = {
    isTTY,
    columns,
    rows: 24,
    isBroken: false,
    failure: undefined,
    write: (text) => {
      written += text
    },
    flush: async () => {},
  }
  const unused = () => {
    throw new Error('only standard error is written')
  }
  return {
    world: {
      env: { TERM: term },
      clock: {
        now: () => 0,
        monotonicMs: () => 0,
        after: (_ms: number, then: () => void) => {
          late = then
          return () => {
            late = undefined
          }
        },
      },
      streams: {
        stdin: {
          isTTY,
          source: 'terminal' as const,
          ready: unused,
          all: unused,
          upTo: unused,
          keys: unused,
          interrupt: unused,
        },
        stdout: { ...stderr, write: unused },
        stderr,
        onResize: unused,
        onSignal: unused,
      },
    },
    secondPasses: () => late?.(),
    waits: () => late !== undefined,
    written: () => written,
  }
}

test('quick work shows nothing', async () => {
  const screen = terminal()
  expect(await withProgress(screen.world, 'Counting', async () => 3)).toBe(3)
  expect(screen.written()).toBe('')
  expect(screen.waits()).toBe(false)
})

test('slow work shows one line, which is erased', async () => {
  const screen = terminal()
  await withProgress(screen.world, 'Counting \x1b[2J', async () => screen.secondPasses())
  expect(screen.written()).toBe('Counting \\u{1b}[2J…\r\x1b[2K')
})

test('the line is never wider than the terminal', async () => {
  const screen = terminal({ columns: 10 })
  await withProgress(screen.world, '数数数数数数', async () => screen.secondPasses())
  expect(screen.written()).toBe('数数数数…\r\x1b[2K')
})

test('a failure is passed on, and the line is erased', async () => {
  const screen = terminal()
  const work = async () => {
    screen.secondPasses()
    throw new Error('broken')
  }
  await expect(withProgress(screen.world, 'Counting', work)).rejects.toThrow('broken')
  expect(screen.written()).toBe('Counting…\r\x1b[2K')
  expect(screen.waits()).toBe(false)
})

test.each([{ isTTY: false }, { term: 'dumb' }])(
  'nothing is written if a line cannot be erased: %o',
  async (kind) => {
    const screen = terminal(kind)
    await withProgress(screen.world, 'Counting', async () => screen.secondPasses())
    expect(screen.written()).toBe('')
    expect(screen.waits()).toBe(false)
  },
)
