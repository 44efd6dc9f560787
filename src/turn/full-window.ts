import { windowParts, type LargeItem } from '../context/window-parts.ts'
import type { HawserError, NextAction } from '../model/errors.ts'
import type { ComposedRequest } from '../request/compose-request.ts'
import type { TurnParts } from './parts/turn-parts.ts'

/**
 * Explains a request that does not fit: what fills it, and what can be done. Keeps the original error message. Pure.
 */
export function fullWindow(
  error: HawserError,
  { segments, body }: Pick<ComposedRequest, 'segments' | 'body'>,
  { log, model }: Pick<TurnParts, 'log' | 'model'>,
): HawserError {
  const { parts, largest } = windowParts(segments, log.events())
  const window = model.facts?.window_tokens
  const { model: name } = model.surface
  const size = window === undefined ? '' : ` of ${grouped(window)} tokens`
  const filled = parts.map(({ part, bytes }) => `${part} ${kib(bytes)}`).join(', ')
  const named = largest.map(({ what, turn: at, bytes }) => `${what} (Turn ${at}, ${kib(bytes)})`)
  const message = [
    `The conversation is too long for ${name} and its window${size}.`,
    error.message,
    `The request has ${kib(body.length)}: ${filled}.`,
    ...(named.length === 0 ? [] : [`Largest: ${named.join('; ')}.`]),
  ].join('\n')
  return {
    ...error,
    message,
    details: {
      ...error.details,
      model: name,
      ...(window === undefined ? {} : { window_tokens: window }),
      request_bytes: body.length,
      parts,
      largest,
    },
    next_actions: [
      ...compactActions(log.session),
      ...dropActions(largest, log.session),
      ...modelActions(model.larger, log.session),
      {
        action:
          'Start a new Session (hawser, or hawser run without --continue) and ask only for the parts of files that matter. This Session can still be read, searched and exported.',
      },
    ],
  }
}

/** First what keeps the Session going as it is. */
function compactActions(session: string): NextAction[] {
  return [
    {
      action:
        'Preview a compaction, which shortens the conversation (in a chat: /compact dry-run).',
      command: `hawser compact ${session} --dry-run`,
    },
    {
      action: 'Compact the conversation; this can be undone (in a chat: /compact).',
      command: `hawser compact ${session}`,
    },
  ]
}

function dropActions(largest: readonly LargeItem[], session: string): NextAction[] {
  return largest.flatMap(({ handle }) =>
    handle === undefined
      ? []
      : [
          {
            action: `Stop sending ${handle}.`,
            command: `hawser resources ${session} drop ${handle}`,
          },
        ],
  )
}

/** The model with the largest window; the Conversation stays, and the next Turn uses it. */
function modelActions(larger: TurnParts['model']['larger'], session: string): NextAction[] {
  const [best] = larger.toSorted((a, b) => b.window_tokens - a.window_tokens)
  if (best === undefined) return []
  const { model, window_tokens } = best
  return [
    {
      action: `Continue with ${model}, whose window has ${grouped(window_tokens)} tokens (in a chat: /model ${model}).`,
      command: `hawser run --session ${session} --model ${model} "Continue."`,
    },
  ]
}

function kib(bytes: number): string {
  return `${grouped(Math.ceil(bytes / 1024))} KiB`
}

function grouped(count: number): string {
  return String(count).replaceAll(/\B(?=(\d{3})+$)/g, ',')
}
