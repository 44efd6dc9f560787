import { shorten } from '../../encoding/quote.ts'
import type { ErrorKind } from '../../model/errors.ts'
import type { EphemeralEvent, EventEnvelope } from '../../model/events/event.ts'
import { LIMITS } from '../../model/limits.ts'
import { ImageReference } from '../../model/tether/frame.ts'
import type { TurnStatus } from '../../model/turn-status.ts'
import type { TurnResult } from '../../session/admission/admit-options.ts'
import type { SessionUpdate } from '../../session/watch/session-stream.ts'

/** What a host is shown while a Turn runs. */
export type Progress =
  | { readonly presence: string }
  | { readonly delta: 'assistant.delta' | 'reasoning.delta'; readonly text: string }

type FrameNotices = TurnResult['notices']

/** How a message ended, with text of any length. */
export type MessageEnd =
  | {
      readonly type: 'done'
      readonly status: TurnStatus
      readonly text: string
      readonly images: readonly ImageReference[]
      readonly notices: FrameNotices
    }
  | {
      readonly type: 'error'
      readonly kind: ErrorKind
      readonly message: string
      readonly notices?: FrameNotices
    }

const THINKING = { presence: 'thinking' }

/** What a host is shown of an update of a running Turn; `undefined` if nothing. Pure. */
export function progressOf(update: SessionUpdate): Progress | undefined {
  if (update.kind === 'ephemeral') return progressOfEphemeral(update.ephemeral)
  return update.kind === 'event' ? progressOfEvent(update.raw, update.event?.data) : undefined
}

function progressOfEphemeral({ type, data }: EphemeralEvent): Progress | undefined {
  switch (type) {
    case 'text_delta':
      return { delta: 'assistant.delta', text: data.text }
    case 'reasoning_delta':
      return { delta: 'reasoning.delta', text: data.text }
    case 'status':
      return { presence: data.text }
    case 'stream_restarted':
      return { presence: 'restarted' }
    // There is no person to answer a question here, and output of tools is for those who watch the Session.
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
 * which states the error. One that a crash ended states what is unknown. Pure.
 */
export function endOf(result: TurnResult): MessageEnd {
  const { status, text, resources, error, crash_recovered } = result
  const sent = resources.filter((one) => imageOf(one).length > 0).slice(0, LIMITS.frame_images)
  const images = sent.flatMap(imageOf)
  const unsent = resources.filter((one) => !sent.includes(one)).map(notSent)
  const notices = frameNotices([...result.notices, ...unsent])
  const telling = (words: string) => [text, `[${words}]`].filter((one) => one !== '').join('\n\n')
  if (status === 'completed' || status === 'interrupted') {
    const words = crash_recovered === true ? crashWords(result) : error?.message
    const told = words === undefined ? text : telling(words)
    return { type: 'done', status, text: told, images, notices }
  }
  const { kind, message } = error ?? { kind: 'internal', message: 'The Turn failed.' }
  if (images.length === 0) return { type: 'error', kind, message, notices }
  return { type: 'done', status, text: telling(`This Turn failed: ${message}`), images, notices }
}

/** What is unknown about a Turn that a crash ended. */
function crashWords({ unknown_tools = [], usage: { unknown_calls = 0 } }: TurnResult): string {
  const unknown = [
    ...(unknown_tools.length === 0
      ? []
      : [`whether these calls finished: ${[...new Set(unknown_tools)].join(', ')}`]),
    ...(unknown_calls === 0 ? [] : ['what else the model answered, and whether it was charged']),
  ]
  const words = 'This Turn was cut off by a crash and is not run again.'
  return unknown.length === 0 ? words : `${words} Unknown: ${unknown.join('; ')}.`
}

/** An answer here has images only, and not many. The others stay in the records of the Session. */
function notSent({ handle, name }: TurnResult['resources'][number]): FrameNotices[number] {
  const text = `${handle} ${name} is attached to the answer but was not sent: an answer here has at most ${LIMITS.frame_images} images and no other files.`
  return { code: 'attachment_not_sent', text }
}

/** As many as a frame may have; the last one says how many more there were. */
function frameNotices(all: FrameNotices): FrameNotices {
  const most = LIMITS.frame_notices
  const more = all.length - most + 1
  const kept = more > 1 ? [...all.slice(0, most - 1), moreNotices(more)] : all
  return kept.map(({ code, text }) => {
    const mostBytes = LIMITS.frame_notice_bytes
    return { code: shorten(code, mostBytes), text: shorten(text, mostBytes) }
  })
}

function moreNotices(count: number): FrameNotices[number] {
  return { code: 'more_notices', text: `${count} more notices are in the Log of the Session.` }
}

function imageOf(resource: TurnResult['resources'][number]): ImageReference[] {
  if (resource.kind !== 'image') return []
  const { media_type, blob, size_bytes: size } = resource
  const reference = ImageReference.safeParse({ media_type, blob, size })
  return reference.success ? [reference.data] : []
}
