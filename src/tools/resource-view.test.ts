import { expect, test } from 'vitest'
import { canDrawAll, drawing, png } from '../../test/support/resources/drawing.ts'
import { NO_RESOURCES } from '../../test/support/resources/no-resources.ts'
import { sampleDescriptor, wholeEvents } from '../../test/support/history/sample-resources.ts'
import { toolWorld } from '../../test/support/skills/tool-world.ts'
import { value } from '../../test/support/log/story.ts'
import { buildPdf } from '../../test/support/resources/build-pdf.ts'
import { SessionResources } from '../history/session-resources.ts'
import { failed, ok, withCause, type Result } from '../model/errors.ts'
import type { EventDraft } from '../model/events/event.ts'
import { describe } from '../resources/describe.ts'
import { variantMaker } from '../resources/variants/variant-maker.ts'
import { resourceView } from './resource-view.ts'
import type { ToolResources } from './tool.ts'

const image = drawing(5)
const PAYLOADS: Readonly<Record<string, Buffer>> = {
  '@img1': png(image.width, image.height, image.pixels),
  '@pdf2': buildPdf(['first page', 'second page', 'third page']),
  '@txt3': Buffer.from('one\ntwo\nthree\nfour\n'),
}
const RESOURCES = [
  sampleDescriptor('@img1', { width: image.width, height: image.height }),
  sampleDescriptor('@pdf2', { kind: 'pdf', media_type: 'application/pdf', pages: 3 }),
  sampleDescriptor('@txt3', { kind: 'text', media_type: 'text/plain', lines: 4 }),
  sampleDescriptor('@file4', { kind: 'file', media_type: 'application/octet-stream' }),
]

const BROUGHT: EventDraft = {
  type: 'user_message',
  data: { text: '', prompt_mode: 'blocks', resources: RESOURCES },
}

function without(state: 'missing' | 'damaged') {
  return withCause(failed('resource_missing', 'Gone.', { state }), { type: 'payload', state })
}

interface ViewOptions extends Partial<ToolResources> {
  readonly events?: readonly EventDraft[]
}

async function viewed(args: object, { events = [], ...changes }: ViewOptions = {}) {
  const resources: ToolResources = {
    ...NO_RESOURCES,
    knownResources: () => new SessionResources(wholeEvents([BROUGHT, ...events])),
    find: async (handle) =>
      ok(new SessionResources(wholeEvents([BROUGHT, ...events])).byHandle(handle)),
    mayShow: async () => ok({ isAllowed: true, reason: '' }),
    payload: async (blob): Promise<Result<Buffer>> => {
      const found = RESOURCES.find((one) => one.kind !== 'link' && one.blob === blob)
      const bytes = PAYLOADS[found?.handle ?? '']
      return bytes === undefined ? without('missing') : ok(bytes)
    },
    variants: variantMaker,
    ...changes,
  }
  const { context, blobs } = await toolWorld()
  const call = value(resourceView.parse(JSON.stringify({ reason: 'to see', ...args })))
  const outcome = await call.run({ ...context, resources })
  const record = outcome.record?.[0]
  const data = record?.type === 'resource_view' ? record.data : undefined
  const bytes = data?.variant === undefined ? undefined : blobs.get(data.variant)
  return { call, outcome, data, bytes }
}

test('[SR-029] [SR-009] a view of the whole names the Resource, who asked and why, and creates nothing', async () => {
  const { call, outcome, data } = await viewed({ handle: '@img1' })
  expect(call.claim.effect).toBe('read')
  expect([outcome.outcome, data]).toEqual([
    'ok',
    {
      resource_id: RESOURCES[0]?.resource_id,
      handle: '@img1',
      content_sha256: RESOURCES[0]?.kind === 'link' ? '' : RESOURCES[0]?.content_sha256,
      by: 'model',
      reason: 'to see',
      outcome: 'projected',
    },
  ])
})

test('a view of lines or pages contains exactly those', async () => {
  const lines = await viewed({ handle: '@txt3', lines: { from: 2, to: 3 } })
  expect(lines.bytes?.toString()).toBe('two\nthree\n')
  expect(lines.data?.lines).toEqual({ from: 2, to: 3 })
  const pages = await viewed({ handle: '@pdf2', pages: { from: 2, to: 2 } })
  const text = pages.bytes?.toString() ?? ''
  expect([text.includes('second page'), text.includes('first page')]).toEqual([true, false])
})

test.skipIf(!canDrawAll)(
  'a view of a region contains its pixels, and one with a size has that size',
  async () => {
    const region = { x: 0, y: 0, width: Math.floor(image.width / 3), height: 4 }
    const cut = await viewed({ handle: '@img1', region })
    const { width, height } = region
    const type = cut.data?.variant?.endsWith('.png') === true ? 'image/png' : 'image/jpeg'
    expect(await describe(cut.bytes ?? Buffer.alloc(0), type)).toMatchObject({ width, height })
    const small = await viewed({ handle: '@img1', size: { width: 8, height: 8 } })
    expect(small.data?.made?.width).toBeLessThanOrEqual(8)
  },
)

test.each([
  ['a handle that nothing has', { handle: '@img9' }, 'not_found'],
  ['a file that is never shown', { handle: '@file4' }, 'unsupported_type'],
  ['pages of an image', { handle: '@img1', pages: { from: 1, to: 1 } }, 'invalid_args'],
  [
    'a region of a text',
    { handle: '@txt3', region: { x: 0, y: 0, width: 1, height: 1 } },
    'invalid_args',
  ],
  ['lines beyond the end', { handle: '@txt3', lines: { from: 9, to: 9 } }, 'invalid_args'],
  ['pages beyond the end', { handle: '@pdf2', pages: { from: 4, to: 9 } }, 'invalid_args'],
])('a view of %s is refused, and nothing is recorded', async (_title, args, kind) => {
  const { outcome, data } = await viewed(args)
  expect([outcome.outcome, outcome.error?.kind, data]).toEqual(['failed', kind, undefined])
})

const { resource_id } = sampleDescriptor('@img1')

test.each<[title: string, kind: string, event: EventDraft]>([
  [
    'dropped',
    'permission_denied',
    { type: 'resource_dropped', data: { resource_id, by: 'person' } },
  ],
  [
    'refused by a provider',
    'resource_quarantined',
    {
      type: 'resource_quarantined',
      data: {
        resource_id,
        dialect: 'chat',
        provider_error: { message: 'no' },
      },
    },
  ],
])('a Resource that was %s is not viewed again', async (_title, kind, event) => {
  const { outcome } = await viewed({ handle: '@img1' }, { events: [event] })
  expect(outcome.error?.kind).toBe(kind)
})

test.each([
  ['missing', 'failed', { payload: async () => without('missing') }],
  ['damaged', 'failed', { payload: async () => without('damaged') }],
  ['denied', 'denied', { mayShow: async () => ok({ isAllowed: false, reason: 'no' }) }],
] as const)('[SR-031] a view that shows nothing is recorded as %s', async (word, how, changes) => {
  const { outcome, data } = await viewed({ handle: '@img1' }, changes)
  expect([outcome.outcome, data?.outcome]).toEqual([how, word])
})
