import { expect, test } from 'vitest'
import { CrashDisk } from '../../../test/support/host/crash-disk.ts'
import { rawBytes } from '../../../test/support/log/raw-log.ts'
import { ok, type Failed, type Result } from '../../model/errors.ts'
import { Batches, type BatchEntry, type BatchesParts } from './batches.ts'
import { DurableFile, type AppendFailure, type DurableFileParts } from './durable-file.ts'

interface Word extends BatchEntry {
  readonly text: string
}

interface Opened {
  readonly disk: CrashDisk
  readonly writer: Batches<Word>
  readonly failures: AppendFailure[]
  /** Batches as they were committed. */
  readonly batches: string[][]
  readonly content: () => Promise<string>
  /** Resolves with the text when it is durable, or with the kind of its error. */
  readonly add: (text: string, entry?: Partial<Word>) => Promise<string>
}

/** Batches of words, committed to a durable file. */
async function open(
  parts: Partial<BatchesParts<Word>> & Partial<DurableFileParts> = {},
): Promise<Opened> {
  const disk = new CrashDisk(1)
  const folder = disk.folder()
  await (await folder.open('words', 'create')).close()
  const file = await folder.open('words', 'append')
  const batches: string[][] = []
  const told = new Map<Word, (text: string) => void>()
  const failures: AppendFailure[] = []
  const durable = new DurableFile({ name: 'list', file, end: 0, ...parts })
  const writer = new Batches<Word>({
    batchBytes: 8,
    commit: async (batch): Promise<Result<() => void>> => {
      batches.push(batch.map(({ text }) => text))
      const failure = await durable.append(Buffer.from(batch.map(({ text }) => text).join('')))
      if (failure === undefined)
        return ok(() => batch.forEach((word) => told.get(word)?.(word.text)))
      failures.push(failure)
      return { ok: false, error: failure.error }
    },
    defect: 'A defect.',
    ...parts,
  })
  return {
    disk,
    writer,
    failures,
    batches,
    content: async () => (await rawBytes(folder, 'words')).toString(),
    add: (text, entry = {}) =>
      new Promise((resolve, reject) => {
        const word: Word = {
          text,
          bytes: text.length,
          settle: ({ error }: Failed) => resolve(`${error.kind}: ${error.message}`),
          abort: reject,
          ...entry,
        }
        told.set(word, resolve)
        writer.add(word)
      }),
  }
}

test('calls of one tick share a write up to its size, and one larger entry is written alone', async () => {
  const { add, batches, content } = await open()
  const texts = ['aaa', 'bbb', 'cc', 'd', 'over eight', 'e']
  expect(await Promise.all(texts.map((text) => add(text)))).toEqual(texts)
  expect(batches).toEqual([['aaa', 'bbb', 'cc'], ['d'], ['over eight'], ['e']])
  expect(await content()).toBe(texts.join(''))
})

test('an entry that is being prepared holds back those after it', async () => {
  const { add, batches, writer } = await open()
  let prepared: (() => void) | undefined
  const slow: Word = {
    text: 'slow',
    bytes: undefined,
    preparing: new Promise((resolve) => {
      prepared = resolve
    }),
    settle: () => {},
    abort: () => {},
  }
  writer.add(slow)
  const fast = add('fast')
  const drained = writer.drain()
  await new Promise(setImmediate)
  expect(batches).toEqual([])
  slow.bytes = 4
  writer.wake()
  prepared?.()
  expect(await fast).toBe('fast')
  await drained
  expect(batches).toEqual([['slow', 'fast']])
})

test('an entry that was removed while it was prepared lets those after it through', async () => {
  const { add, batches, writer } = await open()
  const word: Word = { text: 'x', bytes: undefined, settle: () => {}, abort: () => {} }
  writer.add(word)
  const next = add('next')
  writer.remove(word)
  expect(await next).toBe('next')
  expect(batches).toEqual([['next']])
})

test('entries that are not urgent wait for the timer or for an urgent one', async () => {
  let start: (() => void) | undefined
  let cancelled = 0
  const { add, batches } = await open({
    soon: (then) => {
      start = then
      return () => (cancelled += 1)
    },
  })
  const waiting = add('w')
  await new Promise(setImmediate)
  expect(batches).toEqual([])
  start?.()
  expect(await waiting).toBe('w')
  expect(await Promise.all([add('x'), add('y', { urgent: true })])).toEqual(['x', 'y'])
  expect(batches).toEqual([['w'], ['x', 'y']])
  expect(cancelled).toBe(2)
})

test('a failed write refuses its batch and everything after it, is rolled back, and the next may succeed', async () => {
  const refused: string[] = []
  const { add, content, disk } = await open({ onRefused: ({ text }) => void refused.push(text) })
  await add('kept')
  disk.injectFaults({ fullAtWrite: 1 })
  const answers = await Promise.all(['12345678', 'after'].map((text) => add(text)))
  expect(answers.map((answer) => answer.split(':')[0])).toEqual([
    'storage_failed',
    'storage_failed',
  ])
  expect(answers[0]).toContain('Could not write to the list')
  expect(refused).toEqual(['12345678', 'after'])
  expect(await content()).toBe('kept')
  disk.freeSpace()
  expect(await add('more')).toBe('more')
  expect(await content()).toBe('keptmore')
})

test('a failed sync acknowledges nothing, and says that the writer must stop', async () => {
  const { add, content, disk, failures } = await open()
  await add('kept')
  disk.injectFaults({ badSyncAt: 1 })
  expect(await add('lost')).toContain('Could not make the list durable')
  expect(failures.map(({ stop }) => stop?.kind)).toEqual(['storage_failed'])
  expect(await content()).toBe('kept')
})

test('a write to a file that another program changed or holds is not acknowledged, and the writer must stop', async () => {
  let isHeld = true
  const { add, failures } = await open({ isHeld: async () => isHeld })
  await add('kept')
  isHeld = false
  expect(await add('x')).toContain('Another program deleted or changed the list')
  expect(failures.map(({ stop }) => stop?.kind)).toEqual(['storage_failed'])
})

test('a defect reaches its callers, and later ones are refused', async () => {
  let isBroken = true
  const { add } = await open({
    alsoSync: async () => {
      if (isBroken) throw new TypeError('broken')
    },
  })
  await expect(add('x')).rejects.toThrow('broken')
  isBroken = false
  expect(await add('y')).toBe('internal: A defect.')
})
