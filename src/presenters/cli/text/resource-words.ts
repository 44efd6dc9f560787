import type { AttachmentError } from '../../../model/attachment.ts'
import type { Descriptor } from '../../../model/descriptor.ts'
import { lossReason } from '../../../encoding/words/resources.ts'
import { LOSSES } from '../../../model/events/loss.ts'
import type { EventData, WholeEvent } from '../../../model/events/event.ts'
import type { ViewOutcome } from '../../../model/events/resource-events.ts'
import type { ResourceId } from '../../../model/ids.ts'
import { counted, fileSize } from '../../../encoding/amounts.ts'
import { visibleLine } from './visible-text.ts'

/** A Resource in one line, such as `@img1 harbour.png · 12.3 KiB · 640×480`. Visible text. */
export function resourceWords(resource: Descriptor): string {
  return [`${resource.handle} ${resourceName(resource)}`, ...factsOf(resource)].join(' · ')
}

/** The name for people; for a link, its URL. Visible text. */
export function resourceName(resource: Descriptor): string {
  return visibleLine(resource.kind === 'link' ? resource.uri : resource.name)
}

/** Such as `640×480`, `3 pages`, `12 lines`; empty if unknown. */
export function extentOf(resource: Descriptor): string {
  if (resource.kind === 'link') return ''
  const { width, height, pages, lines } = resource
  if (width !== undefined && height !== undefined) return `${width}×${height}`
  if (pages !== undefined) return counted(pages, 'page')
  return lines === undefined ? '' : counted(lines, 'line')
}

/** Text from a pipe that came with a message. */
export function pipedWords(piped: string): string {
  return `standard input, ${fileSize(Buffer.byteLength(piped))}`
}

/** Why an attachment was refused. Visible text. */
export function refusalWords({ name, reason }: Pick<AttachmentError, 'name' | 'reason'>): string {
  return `✗ ${visibleLine(name)}: ${visibleLine(reason)}`
}

/** Resources that this Event added to the Session. */
export function broughtBy(event: WholeEvent): readonly Descriptor[] {
  if (event.type === 'user_message') return event.data.resources ?? []
  return event.type === 'resource_ingested' ? [event.data.descriptor] : []
}

/** The question before bytes are sent to a model. Visible text. */
export function uploadWords(upload: {
  readonly handle: string
  readonly name: string
  readonly size_bytes: number
}): string {
  const { handle, name, size_bytes } = upload
  return `Send ${handle} ${visibleLine(name)} (${fileSize(size_bytes)}) to the model?`
}

/** Finds a Resource of the Session by the id that Events use. */
export type ResourceOf = (id: ResourceId) => Descriptor | undefined

/** Events about the state of a Resource. */
type ResourceEvent = WholeEvent<
  | 'resource_ingested'
  | 'resource_view'
  | 'resource_retired'
  | 'resource_dropped'
  | 'resource_quarantined'
>

/** Describes a change of a Resource in a sentence. Visible text. */
export function resourceNews(event: ResourceEvent, resourceOf: ResourceOf): string {
  switch (event.type) {
    case 'resource_ingested':
      return `${ORIGINS[event.data.origin]}: ${resourceWords(event.data.descriptor)}`
    case 'resource_view':
      return viewWords(event.data)
    case 'resource_retired':
      return `${named(event.data, resourceOf)} ${retiredWords(event.data)}.`
    case 'resource_dropped':
      return `${named(event.data, resourceOf)} was dropped: its bytes are not sent again.`
    case 'resource_quarantined':
      return `The provider rejected ${named(event.data, resourceOf)}: ${visibleLine(event.data.provider_error.message)}. Its bytes are not sent again.`
  }
}

/** Whether an Event is about a Resource and unexpected for a person. */
export function isNoteworthy(event: WholeEvent): event is ResourceEvent {
  if (event.type === 'resource_view')
    return event.data.outcome !== 'projected' && event.data.outcome !== 'visible'
  return (
    event.type === 'resource_ingested' ||
    event.type === 'resource_dropped' ||
    event.type === 'resource_quarantined'
  )
}

/** Whether an Event is about a Resource and expected. */
export function isRoutine(event: WholeEvent): event is ResourceEvent {
  return event.type === 'resource_retired' || event.type === 'resource_view'
}

/** An unknown reason, written by a newer Hawser, is shown unchanged. */
function retiredWords({ why, estimate }: EventData<'resource_retired'>): string {
  const loss = LOSSES.find((one) => one === why)
  if (loss !== undefined) return `is not sent: ${lossReason({ why: loss, figures: estimate })}`
  if (why === 'cost') return 'is no longer sent: sending it again would cost more than it saves'
  const reason = why === 'model_limit' ? 'the limit of the model is reached' : visibleLine(why)
  return `is no longer sent: ${reason}`
}

const ORIGINS = {
  egress: 'Attached by the model',
  tool: 'Added by a tool',
  hydration: 'Added by a Skill',
} as const

function viewWords({ handle, outcome, pages, lines, region }: EventData<'resource_view'>): string {
  const part = [
    ...(pages === undefined ? [] : [`pages ${pages.from} to ${pages.to}`]),
    ...(lines === undefined ? [] : [`lines ${lines.from} to ${lines.to}`]),
    ...(region === undefined ? [] : [`a region of ${region.width}×${region.height}`]),
  ]
  return `${[handle, ...part].join(', ')} ${VIEWS[outcome]}.`
}

const VIEWS = {
  projected: 'is sent to the model for this Turn',
  missing: 'cannot be sent: its stored bytes are missing',
  damaged: 'cannot be sent: its stored bytes are damaged',
  denied: 'is not sent: permission denied',
  quarantined: 'is not sent: the provider rejected it',
  over_budget: 'is not sent: it does not fit next to the other files in the request',
  visible: 'is in the request already',
} as const satisfies Record<ViewOutcome, string>

/** Such as `@img1 harbour.png`. */
function named({ resource_id }: { readonly resource_id: ResourceId }, resourceOf: ResourceOf) {
  const resource = resourceOf(resource_id)
  return resource === undefined ? resource_id : `${resource.handle} ${resourceName(resource)}`
}

function factsOf(resource: Descriptor): string[] {
  if (resource.kind === 'link') return ['a link, not fetched']
  const extent = extentOf(resource)
  return [
    fileSize(resource.size_bytes),
    ...(extent === '' ? [] : [extent]),
    ...(resource.kind === 'file' ? ['stored, never sent to a model'] : []),
  ]
}
