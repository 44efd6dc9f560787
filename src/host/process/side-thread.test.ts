import { expect, test } from 'vitest'
import { inSideThread, type SideWork } from './side-thread.ts'

const MIB = 1024 * 1024

function run(script: string, more: Partial<SideWork> = {}) {
  return inSideThread({ script, input: undefined, ms: 60_000, bytes: 512 * MIB, ...more })
}

test('a script gets a copy of its input and returns a value', async () => {
  const input = { bytes: new Uint8Array([1, 2, 3]) }
  const script = 'input.bytes[0] = 9; answer({ sum: input.bytes.reduce((a, b) => a + b) })'
  expect(await run(script, { input })).toEqual({ outcome: 'answered', value: { sum: 14 } })
  expect(input.bytes[0]).toBe(1)
})

test('the first answer counts', async () => {
  expect(await run('answer(1); answer(2)')).toEqual({ outcome: 'answered', value: 1 })
})

test.each([
  ['throws', 'throw new Error("no")'],
  ['does not parse', 'this is not a program'],
  ['fails later', 'setImmediate(() => { throw new Error("no") })'],
  ['ends without an answer', ''],
  ['ends the process', 'process.exit(0)'],
])('a script that %s fails', async (_, script) => {
  expect(await run(script)).toEqual({ outcome: 'failed' })
})

test('a script that never ends is stopped, even inside a loop', async () => {
  expect(await run('for (;;) {}', { ms: 200 })).toEqual({ outcome: 'time' })
})

test.each([
  ['objects', 'const all = []; for (;;) all.push([...String(all.length)])'],
  ['buffers', `const all = []; for (;;) all.push(Buffer.alloc(${MIB}, 1))`],
])('a script that fills memory with %s is stopped', async (_, script) => {
  expect(await run(script, { bytes: 64 * MIB })).toEqual({ outcome: 'memory' })
})

test('an aborted script is stopped, even before it starts', async () => {
  const stop = new AbortController()
  const running = run('for (;;) {}', { signal: stop.signal })
  stop.abort()
  expect(await running).toEqual({ outcome: 'time' })
  expect(await run('for (;;) {}', { signal: stop.signal })).toEqual({ outcome: 'time' })
})

test('transferred memory is not copied', async () => {
  const bytes = new Uint8Array([1, 2, 3])
  const work = { input: { bytes }, transfer: [bytes.buffer] }
  expect(await run('answer(input.bytes.length)', work)).toEqual({ outcome: 'answered', value: 3 })
  expect(bytes.length).toBe(0)
})
