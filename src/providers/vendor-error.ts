import { shorten } from '../encoding/quote.ts'
import type { ProviderCause, RefusedMedia } from '../model/error-cause.ts'
import {
  failed,
  withCause,
  type ErrorKind,
  type HawserError,
  type NextAction,
} from '../model/errors.ts'
import { REMOTE_PROVIDERS } from '../model/remote-providers.ts'
import { refusedMedia } from './refused-media.ts'
import { RELAY_CEILING, vendorKind } from './vendor-kind.ts'
import type { VendorFailure } from './vendor-failure.ts'

/**
 * The only mapping from a vendor's error to an error kind, for a response with an error status and for an error inside a
 * stream. Does not decide whether to retry. Pure.
 */
export function vendorError(failure: VendorFailure): HawserError {
  const kind = vendorKind(failure)
  const reason = plainSentence(failure.message, LONGEST_SENTENCE) || statusMessage(failure)
  const message = kind === 'model_not_found' ? `Model not found by the provider: ${reason}` : reason
  const media = MEDIA_KINDS.has(kind) ? refusedMedia(failure) : undefined
  const details = { ...failureFacts(failure), ...mediaFacts(media) }
  const error = failed(kind, message, details, nextActions(kind, failure))
  return withCause(error, causeIn(failure, media)).error
}

const LONGEST_SENTENCE = 500
const LONGEST_FACT = 200

/** Kinds under which a vendor rejects one item of a request. */
const MEDIA_KINDS: ReadonlySet<ErrorKind> = new Set(['invalid_args', 'too_large', 'refused'])

const KEY_VARIABLES = [
  ...new Set(Object.values(REMOTE_PROVIDERS).map(({ key_variable }) => key_variable)),
].join(' or ')

const NEXT_ACTIONS: Partial<Record<ErrorKind, readonly NextAction[]>> = {
  auth: [
    { action: `Set ${KEY_VARIABLES} to a valid key.` },
    {
      action: 'Or store a key; it is read from standard input.',
      command: 'hawser config set providers.NAME.key -',
    },
  ],
  usage_limit: [{ action: 'Check the plan and the limits of your account with the provider.' }],
  model_not_found: [{ action: 'List the known models.', command: 'hawser models' }],
  not_found: [
    { action: 'Check the base URL of the provider.', command: 'hawser doctor' },
    { action: 'List the known models.', command: 'hawser models' },
  ],
}

function nextActions(kind: ErrorKind, { code }: VendorFailure): readonly NextAction[] | undefined {
  return code === RELAY_CEILING ? CEILING_ACTIONS : NEXT_ACTIONS[kind]
}

const CEILING_ACTIONS: readonly NextAction[] = [
  {
    action:
      'The limit was set when the Instance was created: create another Instance with a higher one.',
    command: 'hawser instance create NAME --ceiling USD',
  },
]

function statusMessage({ status }: VendorFailure): string {
  return status === undefined
    ? 'The provider returned an error without a reason.'
    : `The provider returned status ${status} without a reason.`
}

function failureFacts({ status, type, code, param, requestId, retryAfterMs }: VendorFailure) {
  const words = { type, code, param, request_id: requestId }
  return {
    ...(status === undefined ? {} : { status }),
    ...Object.fromEntries(
      Object.entries(words).flatMap(([name, failure]) => {
        const fact = plainSentence(failure ?? '', LONGEST_FACT)
        return fact === '' ? [] : [[name, fact]]
      }),
    ),
    ...(retryAfterMs === undefined ? {} : { retry_after_ms: retryAfterMs }),
  }
}

function mediaFacts(media: RefusedMedia | undefined) {
  if (media === undefined) return {}
  return { refused_media: true, ...(media.at === undefined ? {} : { refused_at: media.at }) }
}

function causeIn(
  { status, code = '', retryAfterMs, requestId = '' }: VendorFailure,
  media: RefusedMedia | undefined,
): ProviderCause {
  const word = plainSentence(code, LONGEST_FACT)
  const id = plainSentence(requestId, LONGEST_FACT)
  return {
    type: 'provider',
    ...(id === '' ? {} : { requestId: id }),
    ...(status === undefined ? {} : { status }),
    ...(word === '' ? {} : { code: word }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(media === undefined ? {} : { refusedMedia: media }),
  }
}

/** One line of at most `most` bytes, without control characters and characters that change the text direction. */
function plainSentence(text: string, most: number): string {
  const line = text
    .slice(0, 4 * most)
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .replaceAll(/[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069\uFEFF]/gu, '')
  return shorten(line.trim(), most)
}
