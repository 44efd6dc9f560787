import * as z from 'zod'
import type { SessionResource } from '../history/session-resources.ts'
import type { VisibleBytes } from '../history/visible-bytes.ts'
import type { Descriptor, Handle } from '../model/descriptor.ts'
import { causeOf, failed, ok, type HawserError, type Result } from '../model/errors.ts'
import type { EventData } from '../model/events/event.ts'
import type { ViewOutcome } from '../model/events/resource-events.ts'
import { definedFields } from '../model/fields/defined-fields.ts'
import type { Variant } from '../resources/variants/variant.ts'
import { textLines } from '../resources/variants/text-lines.ts'
import { countOf } from '../encoding/amounts.ts'
import { linkFacts } from '../prompt/words/resources.ts'
import { interruptedOutcome } from './shown-lines.ts'
import {
  defineTool,
  failedOutcome,
  type ToolContext,
  type ToolOutcome,
  type RoomAnswer,
  type ToolResources,
} from './tool.ts'

const Offset = z.int().min(0)
const Extent = z.int().min(1)
const Span = z.strictObject({
  from: Extent.describe('First, from 1.'),
  to: Extent.describe('Last, included.'),
})
const width = Extent.describe('In pixels.')
const height = Extent.describe('In pixels.')

const Parameters = z.strictObject({
  handle: z.string().describe('Such as @img1.'),
  reason: z.string().describe('Why, in a few words.'),
  region: z
    .strictObject({
      x: Offset.describe('Pixels from the left.'),
      y: Offset.describe('Pixels from the top.'),
      width,
      height,
    })
    .optional()
    .describe('Part of an image, in pixels of the original.'),
  size: z.strictObject({ width, height }).optional().describe('Largest size of an image.'),
  pages: Span.optional().describe('Pages of a PDF, such as {"from": 2, "to": 3}; shown as text.'),
  lines: Span.optional().describe('Lines of a text.'),
})
type Args = z.infer<typeof Parameters>

/** The part of a Resource to show, and its form; without any field, all of it. */
type Excerpt = Pick<Args, 'region' | 'size' | 'pages' | 'lines'>

export const resourceView = defineTool({
  name: 'resource_view',
  description:
    'Shows a Resource of this Session again, or part of it, by its handle. The content follows the result of this call until the Turn ends. Not needed while the content is still shown. For files of the workspace use read.',
  parameters: Parameters,
  claim: () => ({ tool: 'resource_view', effect: 'read', paths: [], network: false }),
  run,
})

async function run(
  { handle, reason, ...excerpt }: Args,
  context: ToolContext,
): Promise<ToolOutcome> {
  if (context.signal.aborted) return interruptedOutcome()
  const found = await findResource(handle, context.resources)
  if (!found.ok) return failedOutcome(found.error)
  const never = notViewable(found.value)
  if (never !== undefined) {
    const record = goneViews(found.value).map((view) => {
      return { type: 'resource_view', data: { ...view, by: 'model', reason } } as const
    })
    return { ...failedOutcome(never), record }
  }
  const viewed = await viewOf(found.value, excerpt, context)
  if (!viewed.ok) return failedOutcome(viewed.error)
  const { view, message } = viewed.value
  const record = [{ type: 'resource_view', data: { ...view, by: 'model', reason } } as const]
  return { outcome: OUTCOMES[view.outcome], output: message, record }
}

export const OUTCOMES = {
  projected: 'ok',
  missing: 'failed',
  damaged: 'failed',
  denied: 'denied',
  quarantined: 'failed',
  over_budget: 'failed',
  visible: 'ok',
} as const satisfies Record<ViewOutcome, ToolOutcome['outcome']>

async function findResource(
  handle: string,
  resources: Pick<ToolResources, 'knownResources' | 'find'>,
): Promise<Result<SessionResource>> {
  const found = await resources.find(handle.startsWith('@') ? handle : `@${handle}`)
  if (!found.ok) return found
  if (found.value === undefined) {
    const handles = resources.knownResources().all.map(({ descriptor }) => descriptor.handle)
    const there = handles.length === 0 ? 'There are none.' : `There are: ${handles.join(', ')}.`
    return failed('not_found', `No Resource of this Session has that handle. ${there}`, { handles })
  }
  return ok(found.value)
}

type Viewable = Pick<SessionResource, 'descriptor' | 'goneBy' | 'earlier'>

/** Why a Resource is never shown again, to a person or a model. */
export function notViewable({ descriptor, goneBy }: Viewable): HawserError | undefined {
  const { handle, kind } = descriptor
  if (kind === 'link') {
    const [target = '', why = ''] = linkFacts(descriptor)
    return failed('unsupported_type', `${handle} is a link to ${target}: ${why}.`).error
  }
  if (kind === 'file') {
    const text = `${handle} is stored, but files of its type are never shown.`
    return failed('unsupported_type', text).error
  }
  if (goneBy === 'dropped') {
    return failed('permission_denied', `${handle} was dropped and is not shown again.`).error
  }
  if (goneBy === undefined) return undefined
  return failed(
    'resource_quarantined',
    `${handle} was refused by the model's provider and is not shown again.`,
  ).error
}

/** The view of a Resource that is gone, which shows nothing; empty for a Resource that can never be shown. */
export function goneViews({ descriptor, goneBy }: Viewable): ViewData[] {
  if (goneBy === undefined) return []
  const { resource_id, handle } = descriptor
  return [{ resource_id, handle, outcome: goneBy === 'quarantined' ? 'quarantined' : 'denied' }]
}

type ViewData = Omit<EventData<'resource_view'>, 'by' | 'reason'>

type ViewResult = Pick<ViewData, 'outcome' | 'why' | 'same_as'>

/** The data of the Event, and the message for the model or the person. */
interface View {
  readonly view: ViewData
  readonly message: string
}

/** Makes a view and stores its excerpt. Fails only for an invalid request; everything else is an outcome. */
export async function viewOf(
  { descriptor, earlier }: Pick<Viewable, 'descriptor' | 'earlier'>,
  excerpt: Excerpt,
  { resources, keep }: Pick<ToolContext, 'resources' | 'keep'>,
): Promise<Result<View>> {
  if (descriptor.kind === 'link' || descriptor.kind === 'file') return noExcerpt(descriptor)
  const { resource_id, handle, content_sha256, blob, size_bytes } = descriptor
  const requested = { resource_id, handle, content_sha256, ...excerptFields(excerpt) }
  const resultOf = (view: ViewResult, message: string): Result<View> =>
    ok({ view: { ...requested, ...view }, message: `${handle} ${message}` })
  const untaken = resources.notTaken(descriptor)
  if (untaken !== undefined)
    return failed('unsupported_type', `${handle} cannot be shown: ${untaken}.`)
  const isWhole = Object.keys(excerptFields(excerpt)).length === 0
  const there = isWhole ? resources.visible(blob) : undefined
  // Nothing more is sent, so no permission is needed.
  if (there !== undefined) return resultOf(...visibleAt(handle, there))
  const may = await resources.mayShow(descriptor)
  if (!may.ok) return may
  if (!may.value.isAllowed)
    return resultOf({ outcome: 'denied' }, 'is not shown: sending it was not permitted.')
  const bytes = await resources.payload(blob)
  if (!bytes.ok) {
    const cause = causeOf(bytes.error)
    if (cause?.type !== 'payload') return bytes
    return resultOf({ outcome: cause.state }, `cannot be shown: its payload is ${cause.state}.`)
  }
  if (await resources.holdsKey(descriptor, bytes.value)) {
    const key = { outcome: 'denied', why: 'holds_key' } as const
    return resultOf(key, 'is not shown: it contains a key that Hawser uses.')
  }
  const variant = await excerptOf(descriptor, excerpt, bytes.value, resources)
  if (!variant.ok) return variant
  const made = variant.value
  const key = made === undefined ? ok(blob) : await keep([made.bytes], made.media_type)
  if (!key.ok) return key
  const size = made?.bytes.length ?? size_bytes
  const room = await resources.take(descriptor, {
    blob: key.value,
    size,
    whole: made === undefined,
  })
  switch (room.outcome) {
    case 'over_images': {
      const text = `cannot be shown: this model accepts at most ${room.limit} images in a request, and that many are already shown.`
      return failed('unsupported_type', `${handle} ${text}`)
    }
    case 'over_budget':
      return resultOf({ outcome: 'over_budget' }, overBudget(descriptor, room))
    case 'visible':
      return resultOf(...visibleAt(handle, room))
    case 'projected': {
      const form =
        made === undefined ? {} : { variant: key.value, made: made.params, shown_bytes: size }
      const known = earlier === true ? { descriptor } : {}
      const view = { ...requested, ...form, outcome: 'projected', ...known } as const
      return ok({ view, message: `${handle} is shown below.` })
    }
  }
}

function visibleAt(handle: Handle, { place, handle: other }: VisibleBytes): [ViewResult, string] {
  const isOther = other !== handle
  const same = isOther ? `has the same content as ${other}, which is` : 'is'
  return [
    { outcome: 'visible', ...(isOther ? { same_as: other } : {}) },
    `${same} already visible, ${PLACES[place]}. It is not shown a second time.`,
  ]
}

const PLACES = {
  attached: "in the person's message of this Turn",
  carried: "in the person's message of an earlier Turn",
  windowed: "in the person's message of an earlier Turn",
  viewed: 'in a view of this Turn',
} as const

function overBudget(
  { kind }: Descriptor,
  { visible, bytes, limit }: Extract<RoomAnswer, { outcome: 'over_budget' }>,
): string {
  const smaller = { image: 'a region or a smaller size', pdf: 'some of its pages' }
  const less = kind === 'image' || kind === 'pdf' ? smaller[kind] : 'some of its lines'
  const figures = `it has ${countOf(bytes, 'byte')}, and files of ${countOf(visible, 'byte')} are visible in this request; the limit is ${countOf(limit, 'byte')} together`
  return `is not shown: ${figures}. View ${less}, or view it in another Turn.`
}

function excerptFields({ region, size, pages, lines }: Excerpt) {
  return {
    ...definedFields({ region, size, pages, lines }),
  }
}

/** `undefined`: the whole original. */
async function excerptOf(
  descriptor: Descriptor,
  { region, size, pages, lines }: Excerpt,
  bytes: Buffer,
  { variants }: ToolResources,
): Promise<Result<Variant | undefined>> {
  const requestedParts = { image: region ?? size, pdf: pages, text: lines }
  const kinds = Object.entries(requestedParts).flatMap(([kind, part]) =>
    part === undefined ? [] : [kind],
  )
  if (kinds.some((kind) => kind !== descriptor.kind)) return noExcerpt(descriptor)
  if (region !== undefined || size !== undefined) {
    return variants.image(bytes, {
      ...definedFields({ region, size }),
    })
  }
  if (pages !== undefined) return variants.pdfText(bytes, pages)
  if (lines === undefined) return ok(undefined)
  const charset = descriptor.kind === 'text' ? descriptor.charset : undefined
  return textLines(bytes, lines, charset)
}

function noExcerpt({ handle, kind }: Descriptor): Result<never> {
  const text = `${handle} is of the kind ${kind}: region and size are for images, pages for PDFs, lines for texts.`
  return failed('invalid_args', text, { kind })
}
