import { isUtf8 } from 'node:buffer'
import { failed, ok, type Result } from '../../model/errors.ts'
import { LIMITS } from '../../model/limits.ts'
import type { CliWorld } from './world.ts'

/** What a person asks: the words of the command, or else everything that standard input holds. */
export async function promptOf({ streams }: CliWorld, words: unknown): Promise<Result<string>> {
  const typed = Array.isArray(words) ? words.join(' ') : ''
  if (typed !== '' && typed !== '-') return fitting(Buffer.from(typed))
  if (streams.stdin.isTTY) {
    return failed('invalid_args', 'There is nothing to do: say what you want.', {}, [
      { action: 'Ask for something.', command: 'hawser run "What is in this folder?"' },
    ])
  }
  const bytes = await streams.stdin.all(LIMITS.user_text_bytes)
  return bytes === undefined ? tooLong() : fitting(bytes)
}

function fitting(bytes: Buffer): Result<string> {
  if (bytes.length > LIMITS.user_text_bytes) return tooLong()
  if (!isUtf8(bytes)) return failed('invalid_args', 'The prompt is not UTF-8 text.')
  const text = bytes.toString('utf8')
  if (text.trim() === '')
    return failed('invalid_args', 'There is nothing to do: the prompt is blank.')
  return ok(text)
}

function tooLong(): Result<never> {
  const limit = LIMITS.user_text_bytes
  return failed('too_large', 'The prompt has more than 1 MiB.', { limit }, [
    { action: 'Put the text into a file of the workspace, and ask for that file.' },
  ])
}
