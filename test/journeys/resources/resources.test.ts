import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Session } from '../../../src/session/session.ts'
import { canDrawAll, png } from '../../support/resources/drawing.ts'
import {
  sampleFile,
  lastAnswer,
  oneOfEach,
  picture,
  say,
} from '../../support/resources/sample-files.ts'
import { projected, resources, verified } from '../../support/resources/resource-events.ts'
import { visionPlace } from '../../support/resources/vision-place.ts'
import { value } from '../../support/log/story.ts'
import { WAYS } from '../../support/providers/ways.ts'

// Which requests contain the bytes of Session Resources, Turn by Turn, for every way to reach a model.

/** The bytes of every Log of a workspace. */
async function logs(workspace: string): Promise<Buffer> {
  const folder = join(workspace, '.hawser', 'sessions')
  const names = (await readdir(folder)).filter((name) => name.endsWith('.ndjson'))
  return Buffer.concat(await Promise.all(names.map((name) => readFile(join(folder, name)))))
}

/** Parts of the base64 of some bytes, long enough not to occur by chance. */
function piecesOf(bytes: Buffer): string[] {
  const base64 = bytes.toString('base64')
  const last = Math.max(0, base64.length - 64)
  return [0, last >> 1, last].map((at) => base64.slice(at, at + 60))
}

test.each(WAYS)(
  '[SR-002] [SR-003] [SR-007] [SR-008] [SR-009] [SR-042] %s: bytes are in every call of the Turn that attaches them, and later only in views',
  async (way) => {
    const place = await visionPlace(way)
    const [image, pdf, text] = await oneOfEach(place.workspace)
    const session = value(await place.harness.create(place.begin))
    const attachments = [image.input, pdf.input, text.input]
    expect(await say(session, 'Read crew.txt', { attachments })).toBe('completed')
    expect(await say(session, 'What came back?')).toBe('completed')
    expect(await say(session, 'What do you see?')).toBe('completed')
    const withoutImage = lastAnswer(session)
    expect(await say(session, 'View @img1 and say what you see.')).toBe('completed')
    const withImage = lastAnswer(session)
    expect(await say(session, 'What do you see?', { views: ['@img1'] })).toBe('completed')
    const shown = lastAnswer(session)
    expect(await say(session, 'Thank you.')).toBe('completed')

    // Chat cannot carry files: the text of the pages is sent instead, and the Log records it.
    const [sent] = session.events.flatMap((e) => (e.type === 'provider_request' ? [e.data] : []))
    const [, document] = sent?.projected ?? []
    expect([document?.content_sha256, document?.made?.format]).toEqual([
      pdf.sha256,
      way === 'chat' ? 'text' : undefined,
    ])
    const pages = document?.variant?.slice(0, 64) ?? pdf.sha256
    const all = [`@img1 ${image.sha256}`, `@pdf2 ${pages}`, `@txt3 ${text.sha256}`]
    const one = all.slice(0, 1)
    const files = [all, all, [], [], [], one, one, []]
    expect(place.seen.map((request) => request.files)).toEqual(files)
    expect(projected(session)).toEqual(files.map((each) => each.map((file) => `${file} turn`)))
    const descriptors = place.seen[0]?.notes ?? []
    expect(descriptors.map((note) => note.slice(0, 6))).toEqual(['[@img1', '[@pdf2', '[@txt3'])
    for (const { notes } of place.seen) expect(notes.slice(0, 3)).toEqual(descriptors)
    const views = session.events.flatMap((e) => (e.type === 'resource_view' ? [e.data] : []))
    expect(
      views.map(({ handle, by, outcome, content_sha256 }) => [handle, by, outcome, content_sha256]),
    ).toEqual([
      ['@img1', 'model', 'projected', image.sha256],
      ['@img1', 'person', 'projected', image.sha256],
    ])
    const description = '@img1 is a PNG picture, '
    expect([withoutImage, withImage, shown].map((answer) => answer.includes(description))).toEqual([
      false,
      true,
      true,
    ])
    expect(withoutImage).toContain('I see only the description of @img1')
    await verified(place, session)
  },
)

test.each(WAYS.filter((way) => way !== 'in process'))(
  '[SR-007] [SR-008] %s: the wire carries exactly the bytes that the Log records',
  async (way) => {
    const place = await visionPlace(way)
    const image = await sampleFile(place.workspace, 'a.png', picture(3))
    const session = value(await place.harness.create(place.begin))
    await say(session, 'Read a.txt', { attachments: [image.input] })
    await say(session, 'What came back?')
    await say(session, 'View @img1')
    const base64 = image.bytes.toString('base64')
    const sent = place.vendor?.requests.map(({ bytes }) => bytes.includes(base64))
    // A socket whose server has the rest gets only new items.
    const [first, again] = [true, way !== 'websocket']
    expect(sent).toEqual([first, again, false, false, true])
    await verified(place, session)
  },
)

test.each(WAYS)(
  '[SR-033] [SR-034] [SR-014] [SR-021] %s: only the description of a link is sent, and it says so',
  async (way) => {
    const place = await visionPlace(way)
    const session = value(await place.harness.create(place.begin))
    const link = { from: 'link', uri: 'https://user:pw@a.example/b.png?token=1#c' } as const
    expect(await say(session, '', { attachments: [link] })).toBe('completed')
    expect(await say(session, 'What do you see?')).toBe('completed')
    expect(lastAnswer(session)).toContain('I see only the description of @link1')
    expect(await say(session, 'View @link1')).toBe('completed')
    const [message] = session.events.flatMap((e) => (e.type === 'user_message' ? [e.data] : []))
    expect(message?.prompt_mode).toBe('string')
    const [descriptor] = resources(session)
    expect(descriptor).toMatchObject({ kind: 'link', uri: 'https://a.example/b.png' })
    for (const { files, notes } of place.seen) {
      expect(files).toEqual([])
      expect(notes[0]).toContain('the target was not fetched')
    }
    const [result] = session.events.flatMap((e) => (e.type === 'tool_result' ? [e.data] : []))
    expect(result?.outcome).toBe('failed')
    await verified(place, session)
  },
)

test.each(WAYS)(
  '[AT-001] [SR-004] %s: files without text are a Turn, and two images keep their order',
  async (way) => {
    const place = await visionPlace(way)
    const second = await sampleFile(place.workspace, 'b.png', picture(11))
    const first = await sampleFile(place.workspace, 'a.png', picture(12))
    const session = value(await place.harness.create(place.begin))
    expect(await say(session, '', { attachments: [second.input, first.input] })).toBe('completed')
    expect(place.seen.map(({ files }) => files)).toEqual([
      [`@img1 ${second.sha256}`, `@img2 ${first.sha256}`],
    ])
    expect(lastAnswer(session)).toMatch(/^@img1 is a PNG picture.*@img2 is a PNG picture/s)
    const [message] = session.events.flatMap((e) => (e.type === 'user_message' ? [e.data] : []))
    expect([message?.text, message?.prompt_mode]).toEqual(['', 'blocks'])
    expect(value(await session.resourceBytes('@img2')).equals(first.bytes)).toBe(true)
    await verified(place, session)
  },
)

test.each(WAYS)(
  '[SR-004] [TI-118] %s: the same bytes twice are one blob and two Resources',
  async (way) => {
    const place = await visionPlace(way)
    const one = await sampleFile(place.workspace, 'a.png', picture(5))
    const two = await sampleFile(place.workspace, 'b.png', picture(5))
    const session = value(await place.harness.create(place.begin))
    expect(await say(session, 'Look.', { attachments: [one.input, two.input] })).toBe('completed')
    expect(await say(session, 'And this.', { attachments: [one.input] })).toBe('completed')
    const found = resources(session)
    expect(found.map(({ handle, name }) => [handle, name])).toEqual([
      ['@img1', 'a.png'],
      ['@img2', 'b.png'],
      ['@img3', 'a.png'],
    ])
    expect(new Set(found.map(({ resource_id }) => resource_id)).size).toBe(3)
    const blobs = await readdir(join(place.workspace, '.hawser', 'blobs'))
    expect(blobs.filter((name) => name.endsWith('.png'))).toEqual([`${one.sha256}.png`])
    expect(place.seen.map(({ files }) => files)).toEqual([
      [`@img1 ${one.sha256}`, `@img2 ${one.sha256}`],
      [`@img3 ${one.sha256}`],
    ])
    await verified(place, session)
  },
)

test.each(WAYS)(
  '[SR-007] %s: attachments of a Turn that was interrupted before any answer are carried to the next one, and no further',
  async (way) => {
    const doing: { session?: Session; interrupts: boolean } = { interrupts: true }
    const place = await visionPlace(way, {
      onSeen: () => (doing.interrupts ? doing.session?.interrupt() : undefined),
    })
    const image = await sampleFile(place.workspace, 'a.png', picture(21))
    const session = value(await place.harness.create(place.begin))
    doing.session = session
    const options = { attachments: [image.input] }
    expect(await say(session, 'What do you see?', options)).toBe('interrupted')
    doing.interrupts = false
    expect(await say(session, 'Well?')).toBe('completed')
    expect(await say(session, 'And now?')).toBe('completed')
    const shown = [`@img1 ${image.sha256}`]
    expect(place.seen.map(({ files }) => files)).toEqual([shown, shown, []])
    expect(projected(session)).toEqual([
      [`@img1 ${image.sha256} turn`],
      [`@img1 ${image.sha256} carried`],
      [],
    ])
    await verified(place, session)
  },
)

test.each(WAYS)(
  '[SR-004] [SR-026] %s: no Log contains attached bytes, and 10 MiB of them add less than 1 KB',
  async (way) => {
    // One vendor does not accept an image of this size, so a smaller variant is sent and recorded.
    const facts = way === 'messages' ? { image_base64_bytes: 10_000_000 } : undefined
    const place = await visionPlace(way, { changes: { model: { factsOf: () => facts } } })
    const large = await sampleFile(place.workspace, 'large.png', tenMebibytes())
    expect(large.bytes.length).toBe(10 * 1024 * 1024)
    const [image, pdf, text] = await oneOfEach(place.workspace)
    const lengthOf = async (attachments: Parameters<typeof say>[2]) => {
      const session = value(await place.harness.create(place.begin))
      expect(await say(session, 'What did it say?', attachments)).toBe('completed')
      await session.close()
      const log = join(place.workspace, '.hawser', 'sessions', `${session.id}.ndjson`)
      return (await stat(log)).size
    }
    const without = await lengthOf({})
    const withIt = await lengthOf({ attachments: [large.input] })
    expect(withIt - without).toBeLessThan(1024)
    await lengthOf({ attachments: [image.input, pdf.input, text.input] })
    const shown = way !== 'messages' || canDrawAll ? 1 : 0
    expect(place.seen.map(({ files }) => files.length)).toEqual([0, shown, 3])
    const all = await logs(place.workspace)
    for (const { bytes } of [large, image, pdf, text])
      for (const piece of piecesOf(bytes)) expect(all.includes(piece)).toBe(false)
    expect((await readFile(large.path)).equals(large.bytes)).toBe(true)
  },
  60_000,
)

/** An image of noise, which cannot be compressed, padded to exactly this size. */
function tenMebibytes(): Buffer {
  const [width, height] = [1800, 1900]
  let state = 1
  const pixels = Buffer.alloc(width * height * 3)
  for (let at = 0; at < pixels.length; at += 4) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    pixels.writeUInt32LE((state ^ (state >>> 15)) >>> 0, at)
  }
  return png(width, height, pixels, 10 * 1024 * 1024)
}
