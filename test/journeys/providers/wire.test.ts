import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { earlyWorkspace } from '../../../src/prompt/early-workspace.ts'
import { Harness } from '../../../src/session/harness.ts'
import type { Session } from '../../../src/session/session.ts'
import { sessionWithImages } from '../../support/resources/stand-in-images.ts'
import { canDrawAll, drawing, encodeDrawing } from '../../support/resources/drawing.ts'
import { withChanges, withClock, type Changes } from '../../support/session/harness-parts.ts'
import { value } from '../../support/log/story.ts'
import { recordingClock } from '../../support/providers/vendor-place.ts'
import { wayPlace, WAYS } from '../../support/providers/ways.ts'

const WIRE = WAYS.filter((way) => way !== 'in process')
const RETRYING: Changes = { model: { limits: { provider_calls: 100, retries: 2 } } }

async function say(session: Session, text: string): Promise<string> {
  const ended = value(await value(await session.admit(text)).done)
  return ended.error === undefined ? ended.status : ended.error.kind
}

function answers(session: Session): string[] {
  return session.events.flatMap((e) => (e.type === 'assistant_message' ? [e.data.text] : []))
}

function usages(session: Session) {
  return session.events.flatMap((e) => (e.type === 'provider_usage' ? [e.data.usage] : []))
}

test.each(WIRE)(
  '%s: in a Session of sixty calls with tools, at least 95 %% of the input after the first call is cached',
  async (way) => {
    const place = await wayPlace(way)
    for (let n = 0; n < 30; n++)
      await writeFile(join(place.workspace, `f${n}.txt`), `file number ${n}\n`.repeat(8))
    const session = value(await place.harness.create(place.begin))
    for (let n = 0; n < 30; n++) expect(await say(session, `Read f${n}.txt`)).toBe('completed')
    const [, ...later] = usages(session)
    expect(later.length).toBe(59)
    const input = later.reduce((sum, usage) => sum + usage.input, 0)
    const cached = later.reduce((sum, usage) => sum + usage.cached_read, 0)
    expect(cached / input).toBeGreaterThanOrEqual(0.95)
    const sent = session.events.flatMap((e) =>
      e.type === 'provider_request' ? [e.data.sent_bytes] : [],
    )
    if (way !== 'websocket') return
    const [, second = 0, ...rest] = sent.filter((bytes) => bytes !== undefined)
    expect(Math.max(...rest)).toBeLessThan(second + 1_000)
  },
)

/** An image drawn from a seed, and its most prominent colours. */
async function pictureOf(seed: number) {
  const picture = drawing(seed)
  const shares = [...picture.shares].toSorted((a, b) => b[1] - a[1])
  const colours = shares.slice(0, 2).map(([name]) => name)
  return { ...picture, colours, png: await encodeDrawing(picture, 'png') }
}

/** A transient fault, and how a Turn with retries ends: if nothing was shown before it, and if something was. */
const UNNUMBERED = /^(duplicate|out-of-order)/

const PASSING: readonly {
  readonly name: string
  readonly switches: string
  readonly ends: readonly string[]
}[] = [
  { name: 'delay', switches: 'delay:50,once', ends: ['completed'] },
  { name: 'cut before anything', switches: 'cut:20,once', ends: ['completed'] },
  { name: '429', switches: 'status:429,retry-after:1,once', ends: ['completed'] },
  { name: '529', switches: 'status:529,retry-after:1,once', ends: ['completed'] },
  { name: '503', switches: 'status:503,once', ends: ['completed'] },
  { name: '500', switches: 'status:500,once', ends: ['completed'] },
  { name: 'close', switches: 'close,once', ends: ['completed'] },
  { name: 'malformed', switches: 'malformed,once', ends: ['completed', 'invalid_response'] },
  { name: 'duplicate', switches: 'duplicate,once', ends: ['completed', 'invalid_response'] },
  { name: 'out-of-order', switches: 'out-of-order,once', ends: ['completed', 'invalid_response'] },
]

test.each(WIRE.flatMap((way) => PASSING.map((fault) => ({ way, ...fault }))))(
  '$way: after the fault $name the Turn has a truthful end, repeats nothing, and the Session continues',
  async ({ way, switches, ends }) => {
    const clock = recordingClock()
    const plain = await wayPlace(way, { changes: RETRYING, switches })
    const harness = new Harness(withClock(plain.parts, clock))
    const session = value(await harness.create(plain.begin))
    expect(ends).toContain(await say(session, 'What did it say?'))
    const [first = ''] = answers(session)
    expect(await say(session, 'What did it say?')).toBe('completed')
    const last = answers(session).at(-1) ?? ''
    expect(last.length).toBeGreaterThan(20)
    // Without event numbers, a repeated event cannot be detected.
    if (!UNNUMBERED.test(switches)) expect(last.startsWith(first)).toBe(true)
    const { requests } = value(await harness.verify(session.id, { requests: true }))
    expect(requests?.mismatches).toEqual([])
  },
)

test.each(WIRE)('%s: a full window is reported as such, without a retry', async (way) => {
  const place = await wayPlace(way, { changes: RETRYING, switches: 'overflow:100' })
  const session = value(await place.harness.create(place.begin))
  expect(await say(session, 'What did it say?')).toBe('context_overflow')
  expect(session.events.filter(({ type }) => type === 'provider_request').length).toBe(1)
})

test.each(WIRE)('%s: refused images are not sent again, and the Turn continues', async (way) => {
  const place = await wayPlace(way, { switches: 'refuse-images' })
  const { png } = await pictureOf(1)
  const session = await sessionWithImages(place, place.begin.provider, [png])
  expect(await say(session, 'What do you see?')).toBe('completed')
  const events = session.events.map(({ type }) => type)
  expect(events.filter((type) => type === 'provider_request').length).toBe(2)
  expect(events).toContain('resource_quarantined')
})

test.runIf(canDrawAll).each(WIRE)(
  '%s: the description of an image by the model is correct',
  async (way) => {
    for (const seed of [3, 8]) {
      const place = await wayPlace(way)
      const { png, width, height, colours } = await pictureOf(seed)
      const session = await sessionWithImages(place, place.begin.provider, [png])
      expect(await say(session, 'What do you see?')).toBe('completed')
      const answer = answers(session).at(-1) ?? ''
      expect(answer).toContain(`${width} by ${height} pixels`)
      for (const colour of colours) expect(answer).toContain(colour)
      const sent = place.vendor?.requests.at(-1)?.bytes.includes(png.toString('base64'))
      expect(sent).toBe(true)
    }
  },
)

test.each(WIRE)(
  '[PC-038] [PC-066] %s: another contract is one cold start, and the evidence names it',
  async (way) => {
    const place = await wayPlace(way)
    const session = value(await place.harness.create(place.begin))
    for (const text of ['What came back?', 'Did it work?']) await say(session, text)
    const contract = earlyWorkspace(place.workspace)
    const parts = withChanges(place.parts, { model: { contract } })
    const earlier = value(await new Harness(parts).open(session.id))
    expect(value(await earlier.reload())).toContain('instructions of Hawser')
    await earlier.close()
    for (const text of ['What happened?', 'How did it go?']) await say(session, text)
    const requests = session.events.flatMap((e) => (e.type === 'provider_request' ? [e.data] : []))
    expect(
      requests.map(({ contract_version, prefix_break }) => [contract_version, prefix_break?.cause]),
    ).toEqual([
      ['hw1', undefined],
      ['hw1', undefined],
      ['hw1-early', 'surface'],
      ['hw1-early', undefined],
    ])
    // The figures have the version themselves: no request has to be found for them.
    const figures = session.events.flatMap((e) => (e.type === 'provider_usage' ? [e.data] : []))
    expect(figures.map(({ contract_version }) => contract_version)).toEqual(
      requests.map(({ contract_version }) => contract_version),
    )
    const [, warm, cold, again] = usages(session).map(
      ({ input, cached_read }) => cached_read / input,
    )
    expect([Number(warm) > 0.8, Number(cold) < 0.8, Number(again) > 0.8]).toEqual([
      true,
      true,
      true,
    ])
  },
)
