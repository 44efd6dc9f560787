import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { TINY_IMAGES } from '../../test/support/resources/tiny-images.ts'
import { value } from '../../test/support/log/story.ts'
import { virtualClock } from '../../test/support/host/virtual-clock.ts'
import { sha256 } from '../encoding/hash.ts'
import type { AttachmentInput } from '../model/attachment.ts'
import { Descriptor } from '../model/descriptor.ts'
import { failed, ok } from '../model/errors.ts'
import { BLOB_EXTENSIONS, BlobKey, isBlobMediaType } from '../model/ids.ts'
import { ATTACHMENT_EXTENSIONS } from '../model/limits.ts'
import {
  resolveAttachments,
  verdictOf,
  type ResolverParts,
  type AttachmentVerdict,
} from './resolve-attachments.ts'

const MIB = 1024 * 1024

/** A fixed clock, so that a busy machine does not affect the result. */
async function verdicts(
  inputs: readonly AttachmentInput[],
  parts: Partial<ResolverParts> = {},
): Promise<readonly AttachmentVerdict[]> {
  return value(await resolveAttachments(inputs, { clock: virtualClock(), ...parts })).map(verdictOf)
}

function text(size: number, name = `${size}.txt`): AttachmentInput {
  return { from: 'bytes', name, bytes: Buffer.alloc(size, 'a') }
}

/** A store in memory that records what it was given. */
function keeper() {
  const kept: string[] = []
  const keep: NonNullable<ResolverParts['keep']> = async (pieces, type) => {
    const all: Uint8Array[] = []
    for await (const piece of pieces) all.push(piece)
    if (!isBlobMediaType(type)) return failed('unsupported_type', 'No.')
    const key = BlobKey.parse(`${sha256(Buffer.concat(all))}.${BLOB_EXTENSIONS[type]}`)
    kept.push(key)
    return ok(key)
  }
  return { kept, keep }
}

test('[AT-017] a file may have exactly 10 MiB, and not one byte more', async () => {
  const limit = 10 * MIB
  const taken = { accepted: true, kind: 'text', mediaType: 'text/plain' }
  expect(await verdicts([text(limit - 1)])).toEqual([{ ...taken, sizeBytes: limit - 1 }])
  expect(await verdicts([text(limit)])).toEqual([{ ...taken, sizeBytes: limit }])
  expect(await verdicts([text(limit + 1)])).toEqual([
    {
      accepted: false,
      code: 'too_large',
      reason: 'its size is 10485761 bytes, which exceeds the limit of 10485760 bytes per file',
      limit,
      actual: limit + 1,
    },
  ])
  const [much] = await verdicts([text(10.3 * MIB)])
  expect(much?.reason).toBe('its size is 10.3 MiB, which exceeds the limit of 10.0 MiB per file')
})

test.each([
  ['one byte less', [10 * MIB, 8 * MIB - 1], [true, true]],
  ['exactly 18 MiB', [10 * MIB, 8 * MIB], [true, true]],
  ['one byte more', [10 * MIB, 8 * MIB + 1], [true, false]],
  ['one too much in the middle', [10 * MIB, 9 * MIB, 8 * MIB], [true, false, true]],
  [
    'one too much in the middle, and a byte',
    [9 * MIB, 9 * MIB + 1, 9 * MIB, 1],
    [true, false, true, false],
  ],
  ['one that is refused for itself', [11 * MIB, 10 * MIB, 0, 8 * MIB], [false, true, false, true]],
])(
  '[AT-007] [AT-008] [AT-016] [AT-018] [AT-019] [AT-020] a Turn accepts 18 MiB of files, in order: %s',
  async (_, sizes, accepted) => {
    const inputs = sizes.map((size) => text(size))
    const first = await verdicts(inputs)
    expect(first.map((verdict) => verdict.accepted)).toEqual(accepted)
    expect(await verdicts(inputs)).toEqual(first)
  },
)

test('[AT-023] a file over the budget is refused with the total it would reach', async () => {
  const limit = 18 * MIB
  const [, close, far] = await verdicts([text(10 * MIB), text(8 * MIB + 1), text(9 * MIB)])
  expect(close).toEqual({
    accepted: false,
    code: 'budget_exceeded',
    reason:
      'with it, the attachments of this Turn would total 18874369 bytes, which exceeds the limit of 18874368 bytes',
    limit,
    actual: limit + 1,
  })
  expect(far?.reason).toBe(
    'with it, the attachments of this Turn would total 19.0 MiB, which exceeds the limit of 18.0 MiB',
  )
})

test('[AT-021] [AT-055] of a PNG, a ZIP and a text, the ZIP alone is refused', async () => {
  const { kept, keep } = keeper()
  const png = TINY_IMAGES.png
  const resolved = value(
    await resolveAttachments(
      [
        { from: 'bytes', name: 'photo.png', bytes: png },
        { from: 'bytes', name: 'archive.zip', bytes: Buffer.from('PK\x03\x04') },
        { from: 'bytes', name: 'spec.md', bytes: Buffer.from('# Spec\n') },
      ],
      { clock: virtualClock(), keep },
    ),
  )
  const [first, second, third] = resolved
  expect(first).toMatchObject({ ok: true, facts: { kind: 'image', blob: kept[0], width: 3 } })
  expect(second).toEqual({
    ok: false,
    given: 'archive.zip',
    error: {
      code: 'unsupported_type',
      name: 'archive.zip',
      reason:
        "Unsupported attachment extension '.zip'. Supported extensions: .png, .jpg, .jpeg, .gif, .webp, .pdf, .txt, .md, .csv",
    },
  })
  expect(third).toMatchObject({ ok: true, facts: { kind: 'text', blob: kept[1], lines: 1 } })
  expect(kept).toEqual([`${sha256(png)}.png`, `${sha256('# Spec\n')}.md`])
})

test('[SR-004] [SR-026] the facts of an accepted file make a descriptor, and its bytes are stored unchanged', async () => {
  const bytes = Buffer.from('caf\xe9\n', 'latin1')
  const { kept, keep } = keeper()
  const [taken] = value(
    await resolveAttachments([{ from: 'bytes', name: 'a.txt', bytes }], {
      clock: virtualClock(),
      keep,
    }),
  )
  const facts = taken?.ok === true ? taken.facts : undefined
  expect(facts).toEqual({
    kind: 'text',
    name: 'a.txt',
    media_type: 'text/plain',
    size_bytes: 5,
    content_sha256: sha256(bytes),
    blob: kept[0],
    lines: 1,
    charset: 'windows-1252',
  })
  const named = { resource_id: 'res_01kg8m2q3r4s5t6v7w8x9y0z12', handle: '@txt1', source: 'cli' }
  expect(Descriptor.safeParse({ ...facts, ...named, rehydratable: true }).success).toBe(true)
})

test('the same bytes twice are one blob and two Resources', async () => {
  const { kept, keep } = keeper()
  const twice = [text(5, 'a.txt'), text(5, 'b.txt')]
  const resolved = value(await resolveAttachments(twice, { clock: virtualClock(), keep }))
  const names = resolved.map((one) => (one.ok ? one.facts.name : undefined))
  expect([names, new Set(kept).size]).toEqual([['a.txt', 'b.txt'], 1])
})

test('without a store, the verdicts and keys are the same', async () => {
  const inputs = [text(5), text(0), { from: 'link', uri: 'https://example.com/a' } as const]
  const { keep } = keeper()
  const clock = virtualClock()
  expect(await resolveAttachments(inputs, { clock })).toEqual(
    await resolveAttachments(inputs, { clock, keep }),
  )
})

test('[TI-119] refused files are not stored, and a failing store fails all of them', async () => {
  const { kept, keep } = keeper()
  await verdicts([text(0), text(3, 'a.png'), text(3, 'a.exe'), text(10 * MIB + 1)], { keep })
  expect(kept).toEqual([])
  const full = async () => failed('storage_failed', 'The disk is full.')
  expect(await resolveAttachments([text(1)], { clock: virtualClock(), keep: full })).toMatchObject({
    ok: false,
    error: { kind: 'storage_failed' },
  })
})

test('[AT-005] claims of a client about a file change nothing', async () => {
  const png = TINY_IMAGES.png
  const names = ['photo.png', '/etc/photo.png', 'C:\\photo.png', '../../photo.png']
  const taken = await verdicts(names.map((name) => ({ from: 'bytes', name, bytes: png })))
  expect(new Set(taken.map((one) => JSON.stringify(one))).size).toBe(1)
  const [named] = value(
    await resolveAttachments([{ from: 'bytes', name: 'C:\\secret\\photo.png', bytes: png }], {
      clock: virtualClock(),
    }),
  )
  expect(named).toMatchObject({ facts: { name: 'photo.png' } })
})

test('[AT-051] an input that is not an attachment is refused like any other', async () => {
  const inputs: readonly unknown[] = [
    undefined,
    null,
    7,
    {},
    ['/a.png'],
    '',
    'a.png',
    './a.png',
    '~/a.png',
  ]
  const resolved = value(
    await resolveAttachments(
      inputs.map((path) => ({ from: 'path', path })),
      { clock: virtualClock() },
    ),
  )
  expect(resolved.map((one) => (one.ok ? undefined : one.error.code))).toEqual(
    inputs.map(() => 'not_absolute'),
  )
  expect(resolved[2]).toEqual({
    ok: false,
    given: '(number)',
    error: {
      code: 'not_absolute',
      name: 'attachment 3',
      reason: 'the path is not a string',
    },
  })
})

test('if other types are stored, they become files, within the same limits', async () => {
  const parts = { otherTypes: 'store' } as const
  const inputs = [text(5, 'a.zip'), text(5, 'README'), text(0, 'a.bin'), text(11 * MIB, 'b.bin')]
  expect(await verdicts(inputs, parts)).toMatchObject([
    { accepted: true, kind: 'file', sizeBytes: 5 },
    { accepted: true, kind: 'file', sizeBytes: 5 },
    { code: 'empty' },
    { code: 'too_large' },
  ])
  // A file with one of the nine extensions is still checked against its type.
  expect(await verdicts([text(5, 'a.png')], parts)).toMatchObject([{ code: 'type_mismatch' }])
})

test('a hundred attachments get a hundred verdicts', async () => {
  const inputs = Array.from({ length: 100 }, (_, n) => text(n % 2))
  const accepted = (await verdicts(inputs)).map((verdict) => verdict.accepted)
  expect(accepted).toEqual(inputs.map((_, n) => n % 2 === 1))
})

test('no inputs give no attachments', async () => {
  const clock = virtualClock()
  expect(await resolveAttachments([], { clock })).toEqual({ ok: true, value: [] })
  expect(clock.pending()).toEqual([])
})

test('[AT-051] any bytes with any extension get a verdict', async () => {
  const heads = [
    ...Object.values(TINY_IMAGES),
    ...['', '%PDF-1.4\n', 'PK\x03\x04', '\xff\xfe', '\xef\xbb\xbf', 'RIFF'].map((head) =>
      Buffer.from(head, 'latin1'),
    ),
  ]
  const head = fc
    .constantFrom(...heads)
    .chain((bytes) => fc.nat(bytes.length).map((at) => bytes.subarray(0, at)))
  // A PDF is opened in a separate thread, which takes time.
  const extensions = Object.keys(ATTACHMENT_EXTENSIONS).filter((one) => one !== '.pdf')
  await fc.assert(
    fc.asyncProperty(head, fc.uint8Array({ maxLength: 200 }), async (first, rest) => {
      const bytes = Buffer.concat([first, rest])
      const inputs = extensions.map(
        (extension) => ({ from: 'bytes', name: `a${extension}`, bytes }) as const,
      )
      const all = await verdicts(inputs)
      expect(all).toHaveLength(inputs.length)
      for (const verdict of all) {
        expect(verdict.accepted).toBe(verdict.code === undefined)
        if (bytes.length === 0) expect(verdict.code).toBe('empty')
      }
    }),
    { seed: 1, numRuns: 150 },
  )
})
