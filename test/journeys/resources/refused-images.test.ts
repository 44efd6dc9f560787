import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { ModelFacts } from '../../../src/model/model-facts.ts'
import type { Session } from '../../../src/session/session.ts'
import { VENDOR_DIALECTS } from '../../support/providers/dialects.ts'
import type { HarnessPlace } from '../../support/session/harness-place.ts'
import { sessionWithImages } from '../../support/resources/stand-in-images.ts'
import { value } from '../../support/log/story.ts'
import { sseOf } from '../../support/providers/vendor-answer.ts'
import { vendorPlace } from '../../support/providers/vendor-place.ts'
import {
  scriptedServer,
  type RecordedRequest,
  type ScriptedAnswer,
} from '../../support/providers/vendor-server.ts'
import type { VendorDialect } from '../../support/providers/vendor-schemas.ts'

const GOOD = Buffer.from('the pixels of a harbour, in good order, as they came from the camera')
const BAD = Buffer.from('the pixels of another harbour, which no provider can read any more')

function shows({ bytes }: RecordedRequest, image: Buffer): boolean {
  return bytes.includes(image.toString('base64'))
}

/** How each vendor reports that it cannot read the image at a position; without one, that it cannot read some image. */
function cannotRead(
  dialect: VendorDialect,
  request: RecordedRequest,
  named: boolean,
): ScriptedAnswer {
  const at = placeOf(request.body, BAD.toString('base64'))
  const path = dialect === 'messages' ? at.join('.') : at.join('.').replaceAll(/\.(\d+)/g, '[$1]')
  const reason = 'Could not process image'
  const message =
    dialect === 'messages' && named ? `${path}.image.source.base64: ${reason}` : reason
  const type = 'invalid_request_error'
  const param = named ? path : null
  const error =
    dialect === 'messages' ? { type, message } : { type, message, param, code: 'invalid_image' }
  const body = dialect === 'messages' ? { type: 'error', error } : { error }
  return { status: 400, body: JSON.stringify(body) }
}

/** The path to the content block that contains a text. */
function placeOf(body: unknown, text: string, way: string[] = []): string[] {
  if (typeof body !== 'object' || body === null) return []
  for (const [name, inner] of Object.entries(body)) {
    if (typeof inner === 'string' && inner.includes(text)) return way
    const found = placeOf(inner, text, [...way, name])
    if (found.length > 0) return found.slice(0, 4)
  }
  return []
}

async function say(session: Session, text: string): Promise<string> {
  const ended = value(await value(await session.admit(text)).done)
  return ended.error === undefined ? ended.status : ended.error.kind
}

function quarantined(session: Session): string[] {
  return session.events.flatMap((e) =>
    e.type === 'resource_quarantined' ? [e.data.resource_id.slice(-1)] : [],
  )
}

function notices(session: Session): string[] {
  return session.events.flatMap((e) => (e.type === 'notice' ? [e.data.code] : []))
}

/** Files of the workspace that contain a text: an image is stored once, and never in its sent form. */
async function storedAs(workspace: string, text: string): Promise<string[]> {
  const paths = await readdir(workspace, { recursive: true, withFileTypes: true })
  const files = paths
    .filter((path) => path.isFile())
    .map((path) => join(path.parentPath, path.name))
  const read = await Promise.all(files.map(async (file) => ({ file, bytes: await readFile(file) })))
  return read.filter(({ bytes }) => bytes.includes(text)).map(({ file }) => file)
}

async function verified({ harness }: HarnessPlace, session: Session): Promise<void> {
  const { requests } = value(await harness.verify(session.id, { requests: true }))
  expect(requests?.mismatches).toEqual([])
}

test.each(VENDOR_DIALECTS)(
  '[SR-019] [TI-079] %s: an image that the provider cannot read causes one more call, and is never sent again',
  async (dialect) => {
    const server = await scriptedServer((request) =>
      shows(request, BAD)
        ? cannotRead(dialect, request, true)
        : { body: sseOf(dialect, { text: 'A harbour.' }) },
    )
    const place = await vendorPlace(server, { retries: 4 })
    const session = await sessionWithImages(place, dialect, [GOOD, BAD])
    expect(await say(session, 'What is it?')).toBe('completed')
    expect(server.requests.map((request) => [shows(request, GOOD), shows(request, BAD)])).toEqual([
      [true, true],
      [true, false],
    ])
    expect([quarantined(session), notices(session)]).toEqual([['2'], ['resource_quarantined']])
    const [first, second] = session.events.flatMap((e) =>
      e.type === 'provider_request' ? [e.data] : [],
    )
    expect(first?.projected?.map(({ bytes, lifetime }) => [bytes, lifetime])).toEqual([
      [GOOD.length, 'carried'],
      [BAD.length, 'carried'],
    ])
    expect([second?.attempt, second?.prefix_break?.cause, second?.projected?.length]).toEqual([
      1,
      'quarantine',
      1,
    ])
    expect(await say(session, 'And now?')).toBe('completed')
    expect(server.requests.length).toBe(3)
    await verified(place, session)
    expect(await storedAs(place.workspace, GOOD.toString('base64'))).toEqual([])
    expect((await storedAs(place.workspace, GOOD.toString('latin1'))).length).toBe(1)
  },
)

test.each(VENDOR_DIALECTS)(
  '%s: if the provider does not name the image, none of them is sent again',
  async (dialect) => {
    const server = await scriptedServer((request) =>
      shows(request, BAD)
        ? cannotRead(dialect, request, false)
        : { body: sseOf(dialect, { text: 'Nothing.' }) },
    )
    const place = await vendorPlace(server)
    const session = await sessionWithImages(place, dialect, [GOOD, BAD])
    expect(await say(session, 'What is it?')).toBe('completed')
    expect([quarantined(session), server.requests.length]).toEqual([['1', '2'], 2])
    const body = server.requests[1]?.bytes.toString('utf8') ?? ''
    expect([body.includes('@img1'), body.includes('@img2')]).toEqual([true, true])
    await verified(place, session)
  },
)

test.each(VENDOR_DIALECTS)(
  '%s: a provider that refuses again ends the Turn, and the Session continues',
  async (dialect) => {
    let refusing = true
    const server = await scriptedServer((request) =>
      refusing ? cannotRead(dialect, request, false) : { body: sseOf(dialect, { text: 'Well.' }) },
    )
    const place = await vendorPlace(server, { retries: 4 })
    const session = await sessionWithImages(place, dialect, [GOOD, BAD])
    expect([await say(session, 'What is it?'), server.requests.length]).toEqual(['invalid_args', 2])
    refusing = false
    expect([await say(session, 'And now?'), server.requests.length]).toEqual(['completed', 3])
    await verified(place, session)
  },
)

const LIMITS: Readonly<Record<string, ModelFacts>> = {
  'a side that is too long': { image_side_pixels: 15 },
  'too many images': { image_count: 1 },
  'a model without eyes': { images: false },
}

test.each(
  VENDOR_DIALECTS.flatMap((dialect) =>
    Object.entries(LIMITS).map(([name, facts]) => ({ dialect, name, facts })),
  ),
)(
  '$dialect: $name is detected before anything is sent, and reported to the model and the person',
  async ({ dialect, facts }) => {
    const server = await scriptedServer(() => ({ body: sseOf(dialect, { text: 'A harbour.' }) }))
    const place = await vendorPlace(server, { facts })
    const session = await sessionWithImages(place, dialect, [GOOD, BAD])
    expect(await say(session, 'What is it?')).toBe('completed')
    const [request] = server.requests
    if (request === undefined) throw new Error('nothing was sent')
    expect([server.requests.length, shows(request, BAD)]).toEqual([1, false])
    expect(request.bytes.toString('utf8')).toContain('[@img2 is not shown: ')
    expect(notices(session).every((code) => code === 'resource_not_shown')).toBe(true)
    expect(notices(session).length).toBeGreaterThan(0)
    expect(await say(session, 'And now?')).toBe('completed')
    await verified(place, session)
  },
)

test('a request larger than its model accepts is not sent, and the Turn reports why', async () => {
  const server = await scriptedServer(() => 'cut')
  const place = await vendorPlace(server, { facts: { request_bytes: 3_000 } })
  const session = value(await place.harness.create({ provider: 'messages', model: 'a-model' }))
  expect(await say(session, 'Good morning.')).toBe('context_overflow')
  expect(server.requests.length).toBe(0)
  const ended = session.events.findLast((event) => event.type === 'turn_ended')
  expect(ended?.data.error).toMatchObject({
    message: expect.stringMatching(
      /limit of this model is 3000\.\n.*instructions and tools \d+ KiB/,
    ),
    details: {
      limit: 3_000,
      parts: expect.arrayContaining([{ part: 'your messages', bytes: expect.any(Number) }]),
      largest: [{ what: 'your message', turn: 1 }],
    },
    next_actions: [
      { command: expect.stringMatching(/^hawser compact \w+ --dry-run$/) },
      { command: expect.stringMatching(/^hawser compact \w+$/) },
      { action: expect.stringContaining('Start a new Session') },
    ],
  })
})
