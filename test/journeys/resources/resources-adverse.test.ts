import { expect, test } from 'vitest'
import { Handle } from '../../../src/model/descriptor.ts'
import { failed } from '../../../src/model/errors.ts'
import type { Session } from '../../../src/session/session.ts'
import type { SessionParts } from '../../../src/session/live/session-parts.ts'
import type { Ask } from '../../support/session/asked-harness.ts'
import type { Changes } from '../../support/session/harness-parts.ts'
import { variantMaker } from '../../../src/resources/variants/variant-maker.ts'
import { canDrawAll, png } from '../../support/resources/drawing.ts'
import { sampleFile, picture, say } from '../../support/resources/sample-files.ts'
import { resources, verified } from '../../support/resources/resource-events.ts'
import { visionPlace, type VisionPlace } from '../../support/resources/vision-place.ts'
import { value } from '../../support/log/story.ts'

// Session Resources when rules, models, stores or the user's decisions change between Turns.

const yes: Ask = async () => ({ allowed: true, scope: 'once' })
const never: Ask = async () => {
  throw new Error('nobody was to be asked')
}

function files({ seen }: VisionPlace): string[][] {
  return seen.map((request) => request.files.map((file) => file.split(' ')[0] ?? ''))
}

/** The causes of the prefix breaks. */
function breaks(session: Session): string[] {
  return session.events.flatMap((e) =>
    e.type === 'provider_request' && e.data.prefix_break !== undefined
      ? [e.data.prefix_break.cause]
      : [],
  )
}

function reasons(session: Session): string[] {
  return session.events.flatMap((e) => (e.type === 'resource_retired' ? [e.data.why] : []))
}

async function startSession(changes: Changes) {
  const place = await visionPlace('in process', { changes })
  return { place, session: value(await place.harness.create(place.begin)) }
}

async function reopened(place: VisionPlace, session: Session, changes: Changes) {
  await session.close()
  const again = await visionPlace('in process', { root: place.root, changes })
  return { again, resumed: value(await again.harness.open(session.id)) }
}

test('an upload allowed earlier is withheld if the rules deny it now, and that is reported', async () => {
  const model = { replay: 'window' } as const
  const { place, session } = await startSession({
    model,
    person: { ask: yes, upload: { upload: 'ask' } },
  })
  const image = await sampleFile(place.workspace, 'a.png', picture(1))
  await say(session, 'Look.', { attachments: [image.input] })
  await say(session, 'Well.')
  expect(files(place)).toEqual([['@img1'], ['@img1']])
  const changes = { model, person: { ask: never, upload: { upload: 'deny' } } } as const
  const { again, resumed } = await reopened(place, session, changes)
  expect(await say(resumed, 'What came back?')).toBe('completed')
  expect(files(again)).toEqual([[]])
  expect(again.seen.at(-1)?.notes.at(-1)).toBe(
    '[@img1 is not shown: sending it to the model was not permitted]',
  )
  expect(reasons(resumed)).toEqual(['upload_denied'])
  await verified(again, resumed)
})

test('consent applies only to the provider it was given for', async () => {
  let questions = 0
  const ask: Ask = async () => {
    questions += 1
    return { allowed: true, scope: 'once' }
  }
  const { place, session } = await startSession({
    model: { replay: 'window' },
    person: { ask, upload: { upload: 'ask' } },
  })
  const image = await sampleFile(place.workspace, 'a.png', picture(1))
  await say(session, 'Look.', { attachments: [image.input] })
  await say(session, 'Well.')
  expect(questions).toBe(1)
  value(await session.change({ model: { provider: 'another', model: 'rehearsal' } }))
  await say(session, 'And now?')
  expect(questions).toBe(2)
})

test('an interrupt at the question is not an answer: the next Turn asks again', async () => {
  let interrupts = true
  const { place, session } = await startSession({
    person: {
      upload: { upload: 'ask' },
      ask: async () => {
        if (!interrupts) return { allowed: true, scope: 'once' }
        session.interrupt()
        return undefined
      },
    },
  })
  const image = await sampleFile(place.workspace, 'a.png', picture(1))
  expect(await say(session, 'Look.', { attachments: [image.input] })).toBe('interrupted')
  interrupts = false
  expect(await say(session, 'Look now.')).toBe('completed')
  expect(files(place)).toEqual([['@img1']])
})

test.each([
  ['a picture', 'a.png', png(100, 100, Buffer.alloc(30_000, 200), 74_000), '@img1'],
  [
    'a text that grows when it is written as JSON',
    'a.txt',
    Buffer.from('\u0007'.repeat(74_000)),
    '@txt1',
  ],
])(
  '%s that makes the request too large for its model is omitted, and nothing else is',
  async (_title, name, bytes, handle) => {
    const { place, session } = await startSession({
      model: { factsOf: () => ({ request_bytes: 100_000 }) },
    })
    const large = await sampleFile(place.workspace, name, bytes)
    const small = await sampleFile(place.workspace, 'small.png', picture(1))
    const attachments = [large.input, small.input]
    expect(await say(session, 'What do you see?', { attachments })).toBe('completed')
    expect(files(place)).toEqual([['@img2']])
    expect(place.seen.at(-1)?.notes).toContain(
      `[${handle} is not shown: with it, the request exceeds what the model of this Turn accepts]`,
    )
    expect(reasons(session)).toEqual(['too_large'])
    expect(await say(session, 'What came back?')).toBe('completed')
    await verified(place, session)
  },
)

test('an attachment that a provider finds too long is omitted, the Turn continues, and it is not carried over', async () => {
  const place = await visionPlace('messages', { switches: 'overflow:20000' })
  const session = value(await place.harness.create(place.begin))
  const text = await sampleFile(place.workspace, 'a.txt', Buffer.from('tide '.repeat(40_000)))
  expect(await say(session, 'Read it.', { attachments: [text.input] })).toBe('completed')
  expect(await say(session, 'What came back?')).toBe('completed')
  expect(place.vendor?.requests.map(({ status }) => status)).toEqual([400, 200, 200])
  expect(reasons(session)).toEqual(['too_large'])
  await verified(place, session)
})

test('a failing store is not a lost payload: the Turn fails, and the next one shows it', async () => {
  const { place, session } = await startSession({ model: { replay: 'window' } })
  const image = await sampleFile(place.workspace, 'a.png', picture(1))
  await say(session, 'Look.', { attachments: [image.input] })
  const { store } = place.parts.log
  let fails = true
  const shaky: SessionParts['log']['store'] = {
    ...store,
    get: async (key) => {
      if (!fails || !key.endsWith('.png')) return store.get(key)
      fails = false
      return failed('storage_failed', 'There are too many open files.')
    },
  }
  const { again, resumed } = await reopened(place, session, {
    model: { replay: 'window' },
    log: { store: shaky },
  })
  expect(await say(resumed, 'Well.')).toBe('storage_failed')
  expect(await say(resumed, 'Well.')).toBe('completed')
  expect(reasons(resumed)).toEqual([])
  expect(files(again).at(-1)).toEqual(['@img1'])
  await verified(again, resumed)
})

test.skipIf(!canDrawAll)(
  'an image that cannot be reduced is reported once, and not tried again',
  async () => {
    let tries = 0
    const variants: SessionParts['model']['variants'] = {
      ...variantMaker,
      image: async (bytes, wish) => {
        tries += 1
        return tries === 1
          ? failed('timeout', 'It took too long.')
          : variantMaker.image(bytes, wish)
      },
    }
    const factsOf = () => ({ image_side_pixels: 64 })
    const { place, session } = await startSession({
      model: { replay: 'window', variants, factsOf },
    })
    const image = await sampleFile(
      place.workspace,
      'a.png',
      png(200, 100, Buffer.alloc(60_000, 200)),
    )
    await say(session, 'Look.', { attachments: [image.input] })
    await say(session, 'Well.')
    expect([tries, files(place), breaks(session), reasons(session)]).toEqual([
      1,
      [[], []],
      [],
      ['no_variant'],
    ])
    expect(place.seen.at(-1)?.notes.at(-1)).toBe(
      '[@img1 is not shown: it could not be converted to a form that the model of this Turn accepts]',
    )
    await verified(place, session)
  },
)

test.skipIf(!canDrawAll)('a missing variant is made again, byte for byte', async () => {
  const factsOf = () => ({ image_side_pixels: 64 })
  const { place, session } = await startSession({ model: { replay: 'window', factsOf } })
  const image = await sampleFile(place.workspace, 'a.png', png(200, 100, Buffer.alloc(60_000, 200)))
  await say(session, 'Look.', { attachments: [image.input] })
  const request = session.events.find((e) => e.type === 'provider_request')
  const variant = request?.data.projected?.[0]?.variant ?? ''
  value(await place.parts.log.store.delete(variant))
  await say(session, 'Well.')
  expect([breaks(session), reasons(session)]).toEqual([[], []])
  expect(place.seen[1]?.files).toEqual(place.seen[0]?.files)
  await verified(place, session)
})

test('a view of an unsupported Resource fails, and is not reported as shown', async () => {
  const { place, session } = await startSession({ model: { factsOf: () => ({ images: false }) } })
  const image = await sampleFile(place.workspace, 'a.png', picture(1))
  await say(session, 'Hello', { attachments: [image.input] })
  await say(session, 'View @img1')
  expect(session.events.filter(({ type }) => type === 'resource_view')).toEqual([])
  const result = session.events.find((e) => e.type === 'tool_result')
  expect([result?.data.outcome, result?.data.error?.kind]).toEqual(['failed', 'unsupported_type'])
})

test('a link cannot be viewed again: alone it is not a Turn', async () => {
  const { session } = await startSession({})
  await say(session, '', { attachments: [{ from: 'link', uri: 'https://example.com/a' }] })
  const refused = await session.admit('', { views: ['@link1'] })
  expect(refused.ok ? undefined : refused.error.kind).toBe('invalid_args')
  expect(session.busy).toBe(false)
  expect(await say(session, 'What came back?')).toBe('completed')
})

test('a Log with all handles used refuses attachments, and accepts everything else', async () => {
  const { place, session } = await startSession({})
  const image = await sampleFile(place.workspace, 'a.png', picture(1))
  await say(session, 'Look.', { attachments: [image.input] })
  const [known] = resources(session)
  if (known === undefined || known.kind === 'link') throw new Error('an image was attached')
  const descriptor = { ...known, handle: Handle.parse('@img999999999') }
  value(
    await session.between(({ record }) =>
      record([{ type: 'resource_ingested', data: { descriptor, origin: 'tool' } }]),
    ),
  )
  const refused = await session.admit('Look.', { attachments: [image.input] })
  expect(refused.ok ? undefined : refused.error.kind).toBe('too_large')
  expect(await say(session, 'What came back?')).toBe('completed')
})

test('the agent has one budget for all its attachments in a Turn', async () => {
  const { place, session } = await startSession({ person: { ask: yes } })
  const half = Buffer.alloc(9 * 1024 * 1024 + 1, 'a')
  await sampleFile(place.workspace, 'a.txt', half)
  await sampleFile(place.workspace, 'b.txt', half)
  await say(session, 'Attach a.txt. Then attach b.txt.')
  const results = session.events.flatMap((e) => (e.type === 'tool_result' ? [e.data] : []))
  expect(results.map(({ outcome, error }) => [outcome, error?.details?.['code']])).toEqual([
    ['ok', undefined],
    ['failed', 'budget_exceeded'],
  ])
})
