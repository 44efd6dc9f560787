import { FRUITLESS_NOTICE } from '../../context/pressure.ts'
import { windowParts, type LargeItem, type WindowParts } from '../../context/window-parts.ts'
import { groupDigits } from '../../encoding/amounts.ts'
import type { HawserError, NextAction } from '../../model/errors.ts'
import { notice } from '../../model/events/notice.ts'
import type { ComposedRequest } from '../../request/compose-request.ts'
import type { TurnParts } from '../parts/turn-parts.ts'
import { fullness, type News } from './pressure-news.ts'

/**
 * Explains a request that does not fit: what fills it, and what can be done. Keeps the original error message. Pure.
 */
export function fullWindow(
  error: HawserError,
  { segments, body }: Pick<ComposedRequest, 'segments' | 'body'>,
  { log, model }: Pick<TurnParts, 'log' | 'model'>,
): HawserError {
  const contents = windowParts(segments, log.events())
  const { parts, largest } = contents
  const window = model.facts?.window_tokens
  const { model: name } = model.surface
  const size = window === undefined ? '' : ` of ${groupDigits(window)} tokens`
  const message = [
    `The conversation is too long for ${name} and its window${size}.`,
    error.message,
    `The request has ${kib(body.length)}: ${partsText(contents)}.`,
    ...largestText(contents),
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
    next_actions: [...compactActions(log.session), ...roomActions(largest, { log, model })],
  }
}

/**
 * Announces that the window stays nearly full although a compaction was considered, with what fills it. `tokens` are those of
 * the last usage.
 */
export function fruitlessNews(
  tokens: number,
  { segments, body }: Pick<ComposedRequest, 'segments' | 'body'>,
  { log, model }: Pick<TurnParts, 'log' | 'model'>,
  window_tokens: number,
): News {
  const contents = windowParts(segments, log.events())
  const next_actions = roomActions(contents.largest, { log, model })
  const { share, figures } = fullness(tokens, window_tokens)
  const text = [
    `The context window is ${share} full (${figures}), and a compaction would not make enough room, so there was none.`,
    `The next request has ${kib(body.length)}: ${partsText(contents)}.`,
    ...largestText(contents),
    ...next_actions.slice(0, 1).map(({ action, command }) => {
      return command === undefined ? action : `${action} To do so: ${command}`
    }),
  ].join(' ')
  const data = {
    tier: 'critical',
    ratio: tokens / window_tokens,
    input_tokens: tokens,
    window_tokens,
    next_actions,
  } as const
  return {
    drafts: [notice(FRUITLESS_NOTICE, text)],
    publish: () => log.publish({ type: 'context_pressure', data }),
  }
}

/** The parts of a request and their lengths, the largest first. */
function partsText({ parts }: WindowParts): string {
  return parts.map(({ part, bytes }) => `${part} ${kib(bytes)}`).join(', ')
}

/** The largest items of a request, if any. */
function largestText({ largest }: WindowParts): string[] {
  const named = largest.map(({ what, turn: at, bytes }) => `${what} (Turn ${at}, ${kib(bytes)})`)
  return named.length === 0 ? [] : [`Largest: ${named.join('; ')}.`]
}

/** What makes room although a compaction does not. */
function roomActions(
  largest: readonly LargeItem[],
  { log, model }: Pick<TurnParts, 'log' | 'model'>,
): NextAction[] {
  return [
    ...dropActions(largest, log.session),
    ...modelActions(model.larger, log.session),
    {
      action:
        'Start a new Session (hawser, or hawser run without --continue) and ask only for the parts of files that matter. This Session can still be read, searched and exported.',
    },
  ]
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
      action: `Continue with ${model}, whose window has ${groupDigits(window_tokens)} tokens (in a chat: /model ${model}).`,
      command: `hawser run --session ${session} --model ${model} "Continue."`,
    },
  ]
}

function kib(bytes: number): string {
  return `${groupDigits(Math.ceil(bytes / 1024))} KiB`
}
