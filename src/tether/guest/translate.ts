import type { ErrorKind } from '../../model/errors.ts'
import type { EphemeralEvent, EventEnvelope } from '../../model/events/event.ts'
import { LIMITS } from '../../model/limits.ts'
import { ImageReference } from '../../model/tether/frame.ts'
import type { TurnStatus } from '../../model/turn-status.ts'
import type { TurnResult } from '../../session/library/result-of-turn.ts'
import type { SessionUpdate } from '../../session/watch/session-stream.ts'

/** What a host is shown while a Turn runs. */
export type Progress =
  | { readonly presence: string }
  | { readonly delta: 'assistant.delta' | 'reasoning.delta'; readonly text: string }

/** How a message ended, with text of any length. */
export type MessageEnd =
  | {
      readonly type: 'done'
      readonly status: TurnStatus
      readonly text: string
      readonly images: readonly ImageReference[]
    }
  | { readonly type: 'error'; readonly kind: ErrorKind; readonly message: string }

const THINKING = { presence: 'thinking' }

/** What a host is shown of an update of a running Turn; `undefined` if nothing. Pure. */
export function progressOf(update: SessionUpdate): Progress | undefined {
  if (update.kind === 'notice') return progressOfNotice(update.notice)
  return update.kind === 'event' ? progressOfEvent(update.raw, update.event?.data) : undefined
}

function progressOfNotice({ type, data }: EphemeralEvent): Progress | undefined {
  switch (type) {
    case 'text_delta':
      return { delta: 'assistant.delta', text: data.text }
    case 'reasoning_delta':
      return { delta: 'reasoning.delta', text: data.text }
    case 'status':
      return { presence: data.text }
    case 'stream_restarted':
      return { presence: 'restarted' }
    // Nobody can answer a question here, and output of tools is for those who watch the Session.
    case 'tool_progress':
    case 'context_pressure':
    case 'permission_requested':
    case 'permission_settled':
      return undefined
    default:
      return type satisfies never
  }
}

function progressOfEvent({ type }: EventEnvelope, data: object = {}): Progress | undefined {
  if (type === 'turn_started' || type === 'tool_result') return THINKING
  if (type !== 'tool_call') return undefined
  return { presence: 'name' in data ? `tool: ${String(data.name)}` : 'tool' }
}

/**
 * How the message of a Turn ended. A failed Turn ends with its error, unless it has images: then they leave with the answer,
 * which tells the error. Pure.
 */
export function endOf({ status, text, resources, error }: TurnResult): MessageEnd {
  const images = resources.flatMap(imageOf).slice(0, LIMITS.frame_images)
  if (status === 'completed' || status === 'interrupted')
    return { type: 'done', status, text, images }
  const { kind, message } = error ?? { kind: 'internal', message: 'The Turn failed.' }
  if (images.length === 0) return { type: 'error', kind, message }
  const told = [text, `[This Turn failed: ${message}]`].filter((one) => one !== '').join('\n\n')
  return { type: 'done', status, text: told, images }
}

function imageOf(resource: TurnResult['resources'][number]): ImageReference[] {
  if (resource.kind !== 'image') return []
  const { media_type, blob, size_bytes: size } = resource
  const reference = ImageReference.safeParse({ media_type, blob, size })
  return reference.success ? [reference.data] : []
}
