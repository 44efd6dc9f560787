import * as z from 'zod'
import type { SessionResource } from '../history/session-resources.ts'
import type { Descriptor } from '../model/descriptor.ts'
import { causeOf, failed, ok, type HawserError, type Result } from '../model/errors.ts'
import type { EventData } from '../model/events/event.ts'
import type { ViewOutcome } from '../model/events/resource-events.ts'
import type { Variant } from '../resources/variants/variant.ts'
import { textLines } from '../resources/variants/text-lines.ts'
import { interruptedOutcome } from './shown-lines.ts'
import {
  defineTool,
  failedOutcome,
  type ToolContext,
  type ToolOutcome,
  type ToolResources,
} from './tool.ts'

const Place = z.int().min(0)
const Extent = z.int().min(1)
const Span = z.strictObject({
  from: Extent.describe('First, counted from 1.'),
  to: Extent.describe('Last, included.'),
})
const width = Extent.describe('Pixels across.')
const height = Extent.describe('Pixels down.')

const Parameters = z.strictObject({
  handle: z.string().describe('Handle of the Resource, such as @img1.'),
  reason: z.string().describe('Why you need to see it again, in a few words.'),
  region: z
    .strictObject({
      x: Place.describe('Pixels from the left.'),
      y: Place.describe('Pixels from the top.'),
      width,
      height,
    })
    .optional()
    .describe('Part of an image, in pixels of the original.'),
  size: z
    .strictObject({ width, height })
    .optional()
    .describe('Largest size of an image; it is never enlarged.'),
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
  const found = findResource(handle, context.resources)
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
  const data = { ...viewed.value, by: 'model', reason } as const
  const record = [{ type: 'resource_view', data } as const]
  const output =
    data.why === 'holds_key'
      ? `${handle} is not shown: it holds a key that Hawser uses.`
      : SAID[data.outcome](handle)
  return { outcome: OUTCOMES[data.outcome], output, record }
}

const SAID = {
  projected: (handle: string) => `${handle} is shown below.`,
  missing: (handle: string) => `${handle} cannot be shown: its payload is missing.`,
  damaged: (handle: string) => `${handle} cannot be shown: its payload is damaged.`,
  denied: (handle: string) => `${handle} is not shown: sending it was not permitted.`,
  quarantined: (handle: string) =>
    `${handle} was refused by the model's provider and is not shown again.`,
} as const satisfies Record<ViewOutcome, (handle: string) => string>

const OUTCOMES = {
  projected: 'ok',
  missing: 'failed',
  damaged: 'failed',
  denied: 'denied',
  quarantined: 'failed',
} as const satisfies Record<ViewOutcome, ToolOutcome['outcome']>

function findResource(
  handle: string,
  resources: Pick<ToolResources, 'known'>,
): Result<SessionResource> {
  const known = resources.known()
  const found = known.byHandle(handle.startsWith('@') ? handle : `@${handle}`)
  if (found === undefined) {
    const handles = known.all.map(({ descriptor }) => descriptor.handle)
    const there = handles.length === 0 ? 'There are none.' : `There are: ${handles.join(', ')}.`
    return failed('not_found', `No Resource of this Session has that handle. ${there}`, { handles })
  }
  return ok(found)
}

/** Why a Resource is never shown again. */
export function notViewable({ descriptor, gone }: SessionResource): HawserError | undefined {
  const { handle, kind } = descriptor
  if (kind === 'link') {
    return failed('unsupported_type', `${handle} is a link. Its target was not fetched.`).error
  }
  if (kind === 'file') {
    const text = `${handle} is stored, and of a type that is never shown.`
    return failed('unsupported_type', text).error
  }
  if (gone === 'dropped') {
    return failed('permission_denied', `${handle} was dropped and is not shown again.`).error
  }
  if (gone === undefined) return undefined
  return failed('resource_quarantined', SAID.quarantined(handle)).error
}

/** The view of what is gone, which shows nothing; none of what never could be shown. */
export function goneViews({ descriptor, gone }: SessionResource): Viewed[] {
  if (gone === undefined) return []
  const { resource_id, handle } = descriptor
  return [{ resource_id, handle, outcome: gone === 'quarantined' ? 'quarantined' : 'denied' }]
}

type Viewed = Omit<EventData<'resource_view'>, 'by' | 'reason'>

/**
 * The data of the view Event, with the excerpt stored. An error means that the request is invalid; anything else is an
 * outcome.
 */
export async function viewOf(
  { descriptor }: SessionResource,
  excerpt: Excerpt,
  { resources, keep }: Pick<ToolContext, 'resources' | 'keep'>,
): Promise<Result<Viewed>> {
  if (descriptor.kind === 'link' || descriptor.kind === 'file') return noExcerpt(descriptor)
  const { resource_id, handle, content_sha256 } = descriptor
  const viewed = { resource_id, handle, content_sha256, ...excerptFields(excerpt) }
  const untaken = resources.notTaken(descriptor)
  if (untaken !== undefined)
    return failed('unsupported_type', `${handle} cannot be shown: ${untaken}.`)
  const may = await resources.mayShow(descriptor)
  if (!may.ok) return may
  if (!may.value.allowed) return ok({ ...viewed, outcome: 'denied' })
  const bytes = await resources.payload(descriptor.blob)
  if (!bytes.ok) {
    const cause = causeOf(bytes.error)
    return cause?.type === 'payload' ? ok({ ...viewed, outcome: cause.state }) : bytes
  }
  if (await resources.holdsKey(descriptor, bytes.value)) {
    return ok({ ...viewed, outcome: 'denied', why: 'holds_key' })
  }
  const variant = await excerptOf(descriptor, excerpt, bytes.value, resources)
  if (!variant.ok) return variant
  if (variant.value === undefined) return ok({ ...viewed, outcome: 'projected' })
  const key = await keep([variant.value.bytes], variant.value.media_type)
  if (!key.ok) return key
  return ok({ ...viewed, variant: key.value, made: variant.value.made, outcome: 'projected' })
}

function excerptFields({ region, size, pages, lines }: Excerpt) {
  return {
    ...(region === undefined ? {} : { region }),
    ...(size === undefined ? {} : { size }),
    ...(pages === undefined ? {} : { pages }),
    ...(lines === undefined ? {} : { lines }),
  }
}

/** `undefined`: the whole original. */
async function excerptOf(
  descriptor: Descriptor,
  { region, size, pages, lines }: Excerpt,
  bytes: Buffer,
  { variants }: ToolResources,
): Promise<Result<Variant | undefined>> {
  const wished = { image: region ?? size, pdf: pages, text: lines }
  const kinds = Object.entries(wished).flatMap(([kind, wish]) => (wish === undefined ? [] : [kind]))
  if (kinds.some((kind) => kind !== descriptor.kind)) return noExcerpt(descriptor)
  if (region !== undefined || size !== undefined) {
    return variants.image(bytes, {
      ...(region === undefined ? {} : { region }),
      ...(size === undefined ? {} : { size }),
    })
  }
  if (pages !== undefined) return variants.pdfText(bytes, pages)
  if (lines === undefined) return ok(undefined)
  const charset = descriptor.kind === 'text' ? descriptor.charset : undefined
  return textLines(bytes, lines, charset)
}

function noExcerpt({ handle, kind }: Descriptor): Result<never> {
  const text = `${handle} is of kind ${kind}: region and size are for images, pages for PDFs, lines for texts.`
  return failed('invalid_args', text, { kind })
}
