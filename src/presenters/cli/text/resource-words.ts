import {
  droppedWords,
  resourceLabel,
  resourceTitle,
  retiredWords,
  viewWords,
} from '../../../history/results/notice-words.ts'
import type { ResourceOf } from '../../../history/session-resources.ts'
import type { AttachmentError } from '../../../model/attachment.ts'
import type { Descriptor } from '../../../model/descriptor.ts'
import { notCopiedReason } from '../../../prompt/words/resources.ts'
import type { WholeEvent } from '../../../model/events/event.ts'
import type { ResourceId } from '../../../model/ids.ts'
import { countOf, fileSize } from '../../../encoding/amounts.ts'
import { visibleLine } from './visible-text.ts'

/** A Resource in one line, such as `@img1 harbour.png · 12.3 KiB · 640×480`. Visible text. */
export function resourceWords(resource: Descriptor): string {
  return [`${resource.handle} ${resourceName(resource)}`, ...factsOf(resource)].join(' · ')
}

/** The name for people; for a link, its URL if it has one. Visible text. */
export function resourceName(resource: Descriptor): string {
  return visibleLine(resourceTitle(resource))
}

/** Such as `640×480`, `3 pages`, `12 lines`; empty if unknown. */
export function extentOf(resource: Descriptor): string {
  if (resource.kind === 'link') return ''
  const { width, height, pages, lines } = resource
  if (width !== undefined && height !== undefined) return `${width}×${height}`
  if (pages !== undefined) return countOf(pages, 'page')
  return lines === undefined ? '' : countOf(lines, 'line')
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
      return visibleLine(retiredWords(event.data, resourceOf))
    case 'resource_dropped':
      return visibleLine(droppedWords(event.data, resourceOf))
    case 'resource_quarantined':
      return `The provider rejected ${labelOf(event.data, resourceOf)}: ${visibleLine(event.data.provider_error.message)}. Its bytes are not sent again.`
  }
}

/** Whether an Event is about a Resource and expected. */
export function isRoutine(event: WholeEvent): event is ResourceEvent {
  return event.type === 'resource_retired' || event.type === 'resource_view'
}

const ORIGINS = {
  egress: 'Attached by the model',
  tool: 'Added by a tool',
  hydration: 'Added by a Skill',
} as const

/** Such as `@img1 harbour.png`. */
function labelOf({ resource_id }: { readonly resource_id: ResourceId }, resourceOf: ResourceOf) {
  return visibleLine(resourceLabel(resource_id, resourceOf))
}

function factsOf(resource: Descriptor): string[] {
  if (resource.kind === 'link') {
    const { not_copied } = resource
    return not_copied === undefined
      ? ['a link, not fetched']
      : [`a link, not copied: ${notCopiedReason(not_copied)}`]
  }
  const extent = extentOf(resource)
  return [
    fileSize(resource.size_bytes),
    ...(extent === '' ? [] : [extent]),
    ...(resource.kind === 'file' ? ['stored, never sent to a model'] : []),
  ]
}
