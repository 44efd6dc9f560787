import * as commands from '../prompt/words/commands.ts'
import * as mentioned from '../prompt/words/mentions.ts'
import * as notes from '../prompt/words/notes.ts'
import * as words from '../prompt/words/resources.ts'
import type { Part } from '../model/conversation.ts'
import type { Descriptor } from '../model/descriptor.ts'
import type { EventData, WholeEvent } from '../model/events/event.ts'
import type { MentionedPath } from '../model/events/turn-events.ts'
import { blobMediaType, type BlobKey } from '../model/ids.ts'
import { LIMITS } from '../model/limits.ts'
import type { Lifetime } from '../model/segment.ts'
import type { Checkpoint } from './history.ts'

/** What is shown for the bytes of a Resource: other parts, bytes with a lifetime, or nothing. */
type ShownAs = Lifetime | readonly Part[] | undefined

/**
 * A person's message: warning, text, piped text, commands of the person, mentions that were not included, descriptors;
 * then mentions, and bytes in the order of attachment. The texts of a plain string are one part. The name of the sender, if
 * known, precedes the text.
 */
export function userParts(
  message: EventData<'user_message'>,
  shownAs: (resource: Descriptor) => ShownAs,
  sender = '',
): Part[] {
  const { piped, resources = [], attachment_errors = [], mention_errors = [] } = message
  const { shell = [], shell_omitted = 0 } = message
  const { presenter_context, prompt_mode } = message
  const text =
    sender === '' ? message.text : notes.sentBy(sender, message.text, LIMITS.sender_name_bytes)
  const warning = attachment_errors.length === 0 ? [] : [words.rejected(attachment_errors)]
  const volunteered =
    presenter_context === undefined ? [] : [notes.presenterContext(presenter_context)]
  const handedOver = piped === undefined ? [] : [notes.piped(piped)]
  const texts = [
    ...warning,
    text,
    ...handedOver,
    ...(shell_omitted === 0 ? [] : [commands.omittedCommands(shell_omitted)]),
    ...shell.map(commands.personCommand),
    ...(mention_errors.length === 0 ? [] : [mentioned.notIncluded(mention_errors)]),
    ...resources.map((one) => words.descriptor(one, LIMITS.descriptor_bytes)),
    ...volunteered,
  ]
  const mentions = (message.mentions ?? []).flatMap(mentionParts)
  if (prompt_mode === 'string')
    return [...stableText(texts.filter((one) => one !== '').join('\n\n')), ...mentions]
  const bytes = resources.flatMap((resource) => {
    if (resource.kind === 'link' || resource.kind === 'file') return []
    const shown = shownAs(resource)
    return typeof shown === 'string' ? originalPart(resource, shown) : (shown ?? [])
  })
  return [...texts.flatMap(stableText), ...mentions, ...bytes]
}

/**
 * A message as it is shown under a checkpoint. What a checkpoint keeps is sent again anyway, so it drops Presenter Context,
 * which held when the message was sent; but not that of the Turn that it was made in, which is still running then.
 */
export function currentMessage(
  { seq, turn_id, data }: WholeEvent<'user_message'>,
  checkpoint: Checkpoint | undefined,
): EventData<'user_message'> {
  if (checkpoint === undefined || seq > checkpoint.seq) return data
  const isRunning = turn_id !== undefined && turn_id === checkpoint.turn_id
  return isRunning ? data : { ...data, presenter_context: undefined }
}

/** The label, and the content as it was on disk then. A blank text would be refused by vendors, and the label says it all. */
function mentionParts(mention: MentionedPath): Part[] {
  const { blob, bytes } = mention
  const label = stableText(mentioned.mention(mention))
  if (bytes === 0) return label
  const content = { blob, media_type: 'text/plain', text_bytes: bytes, lifetime: 'stable' } as const
  return [...label, { type: 'blob', ...content }]
}

/** The original bytes; a link has none, and a file is never shown. */
export function originalPart(resource: Descriptor, lifetime: Lifetime): Part[] {
  if (resource.kind === 'link' || resource.kind === 'file') return []
  const { blob, media_type, handle, resource_id, charset, width, height } = resource
  const size = width === undefined || height === undefined ? {} : { width, height }
  const encoded = charset === undefined ? {} : { charset }
  const owner = { resource: resource_id, handle }
  return [{ type: 'blob', blob, media_type, ...owner, ...size, ...encoded, lifetime }]
}

/** The bytes that a view shows instead of the original ones. */
export function variantPart(
  { resource_id: resource, handle, content_sha256 = '', made }: EventData<'resource_view'>,
  blob: BlobKey,
  lifetime: Lifetime,
): Part[] {
  const { width, height } = made ?? {}
  const size = width === undefined || height === undefined ? {} : { width, height }
  const variant = { of: content_sha256, ...(made === undefined ? {} : { params: made }) }
  const media_type = blobMediaType(blob)
  return [{ type: 'blob', blob, media_type, resource, handle, ...size, variant, lifetime }]
}

export function stableText(text: string): Part[] {
  return text === '' ? [] : [{ type: 'text', text, lifetime: 'stable' }]
}
