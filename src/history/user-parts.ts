import * as notes from '../encoding/words/notes.ts'
import * as words from '../encoding/words/resources.ts'
import type { Part } from '../model/conversation.ts'
import type { Descriptor } from '../model/descriptor.ts'
import type { EventData } from '../model/events/event.ts'
import { LIMITS } from '../model/limits.ts'
import type { Lifetime } from '../model/segment.ts'

/** What is shown for the bytes of a Resource: other parts, bytes with a lifetime, or nothing. */
type ShownAs = Lifetime | readonly Part[] | undefined

/**
 * A person's message: warning, text, piped text, descriptors, then bytes in the order of attachment. A plain string is
 * one part. The name of the sender, if known, precedes the text.
 */
export function userParts(
  message: EventData<'user_message'>,
  shownAs: (resource: Descriptor) => ShownAs,
  sender = '',
): Part[] {
  const { piped, resources = [], attachment_errors = [] } = message
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
    ...resources.map((one) => words.descriptor(one, LIMITS.descriptor_bytes)),
    ...volunteered,
  ]
  if (prompt_mode === 'string') return stableText(texts.filter((one) => one !== '').join('\n\n'))
  const bytes = resources.flatMap((resource) => {
    if (resource.kind === 'link' || resource.kind === 'file') return []
    const shown = shownAs(resource)
    return typeof shown === 'string' ? originalPart(resource, shown) : (shown ?? [])
  })
  return [...texts.flatMap(stableText), ...bytes]
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

export function stableText(text: string): Part[] {
  return text === '' ? [] : [{ type: 'text', text, lifetime: 'stable' }]
}
