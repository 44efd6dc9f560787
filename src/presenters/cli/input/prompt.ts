import { isUtf8 } from 'node:buffer'
import { failed, ok, type Result } from '../../../model/errors.ts'
import { LIMITS } from '../../../model/limits.ts'
import type { CliWorld } from '../world/world.ts'

export interface Prompt {
  readonly text: string
  /** A person typed it here, so its `@` words are resolved. */
  readonly byHand: boolean
}

/** What else is passed with a prompt. */
export interface Beside {
  /** Something is attached, so the prompt may be empty. */
  readonly hasAttachments: boolean
  /** Standard input is an attachment. */
  readonly stdin: boolean
  /** Standard input is not read. */
  readonly ignoresStdin?: boolean
}

/** The prompt: the words of the command, or else all of standard input. */
export async function promptOf(
  { streams }: CliWorld,
  words: readonly string[],
  { hasAttachments, stdin, ignoresStdin = false }: Beside = { hasAttachments: false, stdin: false },
): Promise<Result<Prompt>> {
  const typed = words.join(' ')
  if (typed !== '' && typed !== '-')
    return fitting(Buffer.from(typed), { hasAttachments, byHand: true })
  if (stdin && typed === '-') {
    return failed('invalid_args', 'Standard input cannot be both the prompt and an attachment.')
  }
  const isUnread = streams.stdin.isTTY || ignoresStdin
  if (stdin || (hasAttachments && isUnread)) return ok({ text: '', byHand: true })
  if (isUnread) {
    return failed('invalid_args', 'Missing prompt.', {}, [PASS_PROMPT])
  }
  const bytes = await streams.stdin.all(LIMITS.user_text_bytes)
  return bytes === undefined ? tooLong() : fitting(bytes, { hasAttachments, byHand: false })
}

function fitting(
  bytes: Buffer,
  { hasAttachments, byHand }: { readonly hasAttachments: boolean; readonly byHand: boolean },
): Result<Prompt> {
  if (bytes.length > LIMITS.user_text_bytes) return tooLong()
  if (!isUtf8(bytes)) return failed('invalid_args', 'The prompt is not UTF-8 text.')
  const text = bytes.toString('utf8')
  if (text.trim() === '' && !hasAttachments) {
    return failed('invalid_args', 'The prompt is empty.', {}, [PASS_PROMPT])
  }
  return ok({ text, byHand })
}

const PASS_PROMPT = {
  action: 'Pass a prompt.',
  command: 'hawser run "What is in this folder?"',
} as const

function tooLong(): Result<never> {
  const limit = LIMITS.user_text_bytes
  return failed('too_large', 'The prompt exceeds 1 MiB.', { limit }, [
    { action: 'Save the text to a file in the workspace and refer to that file in the prompt.' },
  ])
}
