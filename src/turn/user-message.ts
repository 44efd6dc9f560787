import type { Descriptor } from '../model/descriptor.ts'
import { failed, ok, type Failed, type Result } from '../model/errors.ts'
import type { EventData } from '../model/events/event.ts'
import type { ResolvedAttachment } from '../resources/resolve-attachments.ts'
import type { ResourceNames } from './parts/resource-names.ts'

type UserMessage = EventData<'user_message'>

/**
 * A person's message as recorded in the Log. The prompt mode follows from the resolved inputs; a link does not count as
 * an attachment.
 */
export function userMessage(
  text: string,
  resolved: readonly ResolvedAttachment[],
  name: ResourceNames['name'],
  source: Parameters<ResourceNames['name']>[1],
): Result<UserMessage> {
  const resources: Descriptor[] = []
  for (const one of resolved) {
    const named = one.ok ? name(one.facts, source) : undefined
    if (named?.ok === false) return named
    if (named !== undefined) resources.push(named.value)
  }
  const errors = resolved.flatMap((one) => (one.ok ? [] : [one.error]))
  const files = resources.filter(({ kind }) => kind !== 'link')
  return ok({
    text,
    ...(resources.length === 0 ? {} : { resources }),
    ...(errors.length === 0 ? {} : { attachment_errors: errors }),
    prompt_mode: files.length === 0 ? 'string' : 'blocks',
  })
}

/** Why a message cannot be sent to a model: it has no text, and none of its attachments is usable. */
export function nothingUsable(
  { text, resources = [] }: UserMessage,
  resolved: readonly ResolvedAttachment[],
): Failed | undefined {
  if (text.trim() !== '' || resources.length > 0) return undefined
  const attachmentErrors = resolved.flatMap((one) =>
    one.ok ? [] : [{ path: one.given, reason: one.error.reason, code: one.error.code }],
  )
  if (attachmentErrors.length === 0) return undefined
  const many =
    attachmentErrors.length === 1 ? 'The attachment' : `All ${attachmentErrors.length} attachments`
  return failed(
    'attachments_failed',
    `${many} failed, and there is no text.`,
    {
      category: 'ALL_ATTACHMENTS_FAILED_NO_TEXT',
      attachmentErrors,
      rejectedAttachmentCount: attachmentErrors.length,
    },
    [{ action: 'Attach a file that can be read, or add a prompt.' }],
  )
}
