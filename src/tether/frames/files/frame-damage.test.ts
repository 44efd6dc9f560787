import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { CrashDisk } from '../../../../test/support/host/crash-disk.ts'
import {
  allFrames,
  ids,
  openFrames,
  SMALL,
} from '../../../../test/support/tether/frame-log-place.ts'
import { delta, done, presence, userMessage } from '../../../../test/support/tether/frames.ts'
import { value } from '../../../../test/support/log/story.ts'
import { readSpan, replaceFile, type Folder } from '../../../host/files/files.ts'
import { decodeFrameLine, encodeFrameLine, type FrameLineContent } from './frame-line.ts'

const settings = { ...SMALL, mostBytes: 1_000_000 }

/** A log with several files, and their names, oldest first. */
async function written(): Promise<{ folder: Folder; files: string[] }> {
  const folder = new CrashDisk(1).folder()
  const log = value(await openFrames(folder, { settings }))
  value(await log.append(userMessage('a')))
  for (let i = 0; i < 40; i++) {
    value(await log.append(presence(`p${i}`, 'a')))
    if (i % 7 === 0) value(await log.append(delta(`d${i}`, 'a')))
  }
  value(await log.append(userMessage('b')))
  await log.close()
  const names = await folder.names()
  return { folder, files: names.filter((name) => name.endsWith('.ndjson')).toSorted() }
}

async function bytesOf(folder: Folder, name: string): Promise<Buffer> {
  const file = await folder.open(name, 'read')
  return readSpan(file, 0, (await file.stat()).size)
}

async function change(folder: Folder, name: string, to: (bytes: Buffer) => Buffer): Promise<void> {
  const bytes = to(Buffer.from(await bytesOf(folder, name)))
  await replaceFile(folder, name, bytes, '.tmp-change')
}

function last<T>(items: readonly T[]): T {
  const item = items.at(-1)
  if (item === undefined) throw new Error('there is none')
  return item
}

describe('a torn tail', () => {
  test('of any length is cut, kept and reported, and everything before it remains', async () => {
    const { folder, files } = await written()
    const newest = last(files)
    const whole = await bytesOf(folder, newest)
    const lastLine = whole.lastIndexOf(10, whole.length - 2) + 1
    for (let length = lastLine + 1; length < whole.length; length += 7) {
      await replaceFile(folder, newest, whole.subarray(0, length), '.tmp-torn')
      const log = value(await openFrames(folder, { settings }))
      const kept_as = log.repair?.kept_as ?? ''
      expect(log.repair?.cut_bytes).toBe(length - lastLine)
      expect(await bytesOf(folder, kept_as)).toEqual(whole.subarray(lastLine, length))
      expect(ids(await allFrames(log)).at(-1)).toBe('p39')
      const { seq } = value(await log.append(userMessage('c')))
      expect(seq).toBeGreaterThan(48)
      await log.close()
    }
    const kept = (await folder.names()).filter((name) => name.startsWith('torn-'))
    expect(kept.length).toBeLessThanOrEqual(8)
  })

  test('that follows an intact line of the same write is cut, and one of an earlier write is damage', async () => {
    const folder = new CrashDisk(1).folder()
    const log = value(await openFrames(folder, { settings }))
    await Promise.all(['a', 'b', 'c'].map((name) => log.append(userMessage(name))))
    value(await log.append(userMessage('d')))
    await log.close()
    const name = (await folder.names()).find((one) => one.endsWith('.ndjson')) ?? ''
    const whole = await bytesOf(folder, name)
    const spoil = (text: string) => (bytes: Buffer) => {
      bytes.write('X', bytes.indexOf(text))
      return bytes
    }
    await change(folder, name, spoil('"msg_id":"b"'))
    const damaged = value(await openFrames(folder, { settings }))
    expect(damaged.damage?.error.kind).toBe('log_damaged')
    await damaged.close()
    // Without the later write, it is one write with a hole in it.
    await replaceFile(folder, name, whole.subarray(0, whole.lastIndexOf('{"v":1')), '.tmp-cut')
    await change(folder, name, spoil('"msg_id":"b"'))
    const repaired = value(await openFrames(folder, { settings }))
    expect(repaired.repair).toBeDefined()
    expect(ids(await allFrames(repaired))).toEqual(['a'])
  })
})

describe('damage', () => {
  test('in the newest file makes the log read-only up to it', async () => {
    const { folder, files } = await written()
    await change(folder, last(files), (bytes) => {
      bytes.write('X', bytes.indexOf('status.presence'))
      return bytes
    })
    const log = value(await openFrames(folder, { settings }))
    const damage = { ok: false, error: { kind: 'log_damaged', details: { file: last(files) } } }
    expect(log.damage).toMatchObject(damage)
    expect(await log.append(userMessage('c'))).toMatchObject(damage)
    expect(ids(value(await log.poll({ limit: 2 })).frames)).toEqual(['a', 'p0'])
    expect(await log.poll({ after_seq: log.newest }, { waitMs: 30_000 })).toMatchObject(damage)
  })

  test('in an older file is reported where it is read, and new frames are accepted', async () => {
    const { folder, files } = await written()
    const [first = '', second = ''] = files
    await change(folder, second, (bytes) => {
      bytes.write('X', bytes.indexOf('status.presence'))
      return bytes
    })
    const log = value(await openFrames(folder, { settings }))
    expect(log.damage).toBeUndefined()
    value(await log.append(done('e', 'a')))
    const before = value(await log.poll({ limit: 200 }))
    expect(before.frames.length).toBeGreaterThan(0)
    const details = { file: second, reason: 'checksum' }
    const next = await log.poll({ after_seq: before.next_seq })
    expect(next).toMatchObject({ ok: false, error: { kind: 'log_damaged', details } })
    expect(first).not.toBe(second)
  })

  test.each([
    ['missing', (folder: Folder, name: string) => folder.remove(name)],
    [
      'truncated',
      (folder: Folder, name: string) =>
        change(folder, name, (bytes) => bytes.subarray(0, bytes.lastIndexOf('{"v":1'))),
    ],
  ])('an older file that is %s is reported, not skipped', async (reason, spoil) => {
    const { folder, files } = await written()
    await spoil(folder, files[1] ?? '')
    const log = value(await openFrames(folder, { settings }))
    const kinds = new Set<unknown>()
    for (let after_seq = 0; after_seq < log.newest;) {
      const page = await log.poll({ after_seq, limit: 200 })
      if (!page.ok) kinds.add(page.error.details['reason'])
      if (!page.ok || page.value.next_seq === after_seq) break
      after_seq = page.value.next_seq
    }
    expect([...kinds]).toEqual([reason])
  })

  test('of any kind in the newest file never yields a wrong frame', async () => {
    const { folder, files } = await written()
    const newest = last(files)
    const whole = await bytesOf(folder, newest)
    const log = value(await openFrames(folder, { settings }))
    const truth = new Map((await allFrames(log)).map((frame) => [frame.seq, frame]))
    await log.close()
    const positions = fc.integer({ min: 0, max: whole.length - 1 })
    await fc.assert(
      fc.asyncProperty(
        positions,
        fc.integer({ min: 1, max: 255 }),
        fc.constantFrom('flip', 'cut', 'drop', 'double'),
        async (at, mask, kind) => {
          const bytes = Buffer.from(whole)
          bytes.writeUInt8(bytes.readUInt8(at) ^ mask, at)
          const line = whole.lastIndexOf(10, at) + 1
          const changed = {
            flip: bytes,
            cut: whole.subarray(0, at),
            drop: Buffer.concat([
              whole.subarray(0, line),
              whole.subarray(whole.indexOf(10, at) + 1),
            ]),
            double: Buffer.concat([whole.subarray(0, line), whole.subarray(0)]),
          }[kind]
          await replaceFile(folder, newest, changed, '.tmp-mutation')
          const opened = value(await openFrames(folder, { settings }))
          for (let after_seq = 0; ;) {
            const page = await opened.poll({ after_seq, limit: 200 })
            if (!page.ok || page.value.frames.length === 0) break
            for (const frame of page.value.frames) expect(frame).toEqual(truth.get(frame.seq))
            after_seq = page.value.next_seq
          }
          await opened.close()
        },
      ),
      { numRuns: 200 },
    )
  })
})

describe('a line', () => {
  const entry = {
    seq: 4,
    type: 'x.y',
    channel: 'c',
    session: 's',
    msgId: 'm',
    replyTo: undefined,
    text: '{"type":"x.y","session":{"channel":"c","id":"s"},"msg_id":"m","frame":1,"seq":4}',
  }
  const contents: FrameLineContent[] = [
    { kind: 'frame', entry, reservedTo: undefined },
    { kind: 'frame', entry, reservedTo: 9 },
    { kind: 'carried', entry },
    { kind: 'reserved', reservedTo: 7 },
    {
      kind: 'start',
      start: { first_seq: 1, reserved: 0, at: -5, files: [], carried: 0, known: [['k', 3]] },
    },
  ]

  test.each(contents)('of kind $kind is read as it was written', (content) => {
    const bytes = encodeFrameLine({ n: 3, batch: 2, content })
    expect(decodeFrameLine(bytes.subarray(0, -1))).toEqual({ line: { n: 3, batch: 2, content } })
  })

  test('with any flipped bit is rejected', () => {
    const bytes = encodeFrameLine({ n: 3, batch: 2, content: { kind: 'frame', entry } })
    for (let bit = 0; bit < (bytes.length - 1) * 8; bit++) {
      const flipped = Buffer.from(bytes.subarray(0, -1))
      flipped.writeUInt8(flipped.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3)
      expect(decodeFrameLine(flipped)).toHaveProperty('fault')
    }
  })
})
