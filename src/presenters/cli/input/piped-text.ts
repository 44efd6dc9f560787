import { isUtf8 } from 'node:buffer'
import { binaryKind } from '../../../encoding/magic-bytes.ts'
import type { Clock } from '../../../host/clock.ts'
import type { Streams } from '../../../host/streams.ts'
import { patience, whileWaiting } from '../../../host/wait.ts'
import type { AttachmentInput } from '../../../model/attachment.ts'
import { failed, ok, type Failed, type Result } from '../../../model/errors.ts'
import { LIMITS } from '../../../model/limits.ts'
import { countOf } from '../../../encoding/amounts.ts'

/** What standard input adds to a typed prompt. */
export interface PipedText {
  /** Text that becomes part of the message. */
  readonly text?: string
  /** Text that is too long for the message, or not UTF-8. */
  readonly attachment?: AttachmentInput
  /** Informs the person, who may not have intended it to be read. */
  readonly notice?: string
}

/** Standard input in addition to a prompt: `true` waits for its end, `false` ignores it. */
export type StdinChoice = boolean | undefined

/** What was read, and what may still arrive. */
export interface PipedReading extends PipedText {
  readonly late?: LateText
}

/** A pipe that has sent nothing so far. */
export interface LateText {
  /** When nothing can be added any more: what has arrived since is read to its end, anything later is not. Call it once. */
  take(): Promise<Result<PipedText>>
  /** Stops reading, unless that is done; otherwise the process would wait for the pipe to end. */
  drop(): Promise<void>
}

/**
 * Reads standard input in addition to a prompt, if it is a file or a pipe. Without a choice, a pipe that sends nothing at
 * first is not waited for, because many programs start others with a pipe that they never write to or close.
 */
export async function pipedText(
  stdin: Pick<Streams['stdin'], 'source' | 'ready' | 'upTo'>,
  clock: Clock,
  choice?: StdinChoice,
): Promise<Result<PipedReading>> {
  if (choice === true) return textOf(stdin)
  if (choice === false || (stdin.source !== 'file' && stdin.source !== 'pipe')) return ok({})
  const giveUp = new AbortController()
  let hasArrived = false
  const ready = stdin.ready(giveUp.signal).then((isReady) => {
    hasArrived = isReady
  })
  const limit = patience(clock, LIMITS.piped_wait_ms)
  await whileWaiting(limit, () => ready)
  limit.end()
  if (hasArrived) return textOf(stdin)
  let isDone = false
  const late: LateText = {
    take: async () => {
      isDone = true
      if (hasArrived) return textOf(stdin)
      giveUp.abort()
      return ok({})
    },
    drop: async () => {
      if (isDone) return
      giveUp.abort()
      if (hasArrived) await stdin.upTo(0)
    },
  }
  return ok({ notice: SILENT, late })
}

async function textOf(stdin: Pick<Streams['stdin'], 'upTo'>): Promise<Result<PipedText>> {
  // Reads one byte more than the limit, so that the size check rejects it.
  const bytes = await stdin.upTo(LIMITS.attachment_bytes + 1)
  if (bytes.length === 0) return ok({ notice: EMPTY })
  const refused = tooLong(bytes) ?? notText(bytes)
  if (refused !== undefined) return refused
  const notice = `sending ${countOf(bytes.length, 'byte')} from standard input with the prompt. ${PREVENT}`
  if (bytes.length > LIMITS.piped_text_bytes || !isUtf8(bytes)) {
    return ok({ attachment: { from: 'bytes', name: 'stdin.txt', bytes }, notice })
  }
  return ok({ text: bytes.toString('utf8'), notice })
}

const PREVENT = 'To ignore standard input: --no-stdin'
const SECONDS = LIMITS.piped_wait_ms / 1000
const SILENT = `nothing was read from standard input: the pipe sent nothing for ${SECONDS} seconds. To wait for it: --stdin; to ignore it: --no-stdin`
const EMPTY = 'standard input is empty; sending only the prompt.'

function tooLong({ length }: Buffer): Failed | undefined {
  const limit = LIMITS.attachment_bytes
  if (length <= limit) return undefined
  return failed('too_large', 'Standard input exceeds 10 MiB.', { limit }, [
    { action: 'Save it to a file in the workspace and refer to that file in the prompt.' },
  ])
}

function notText(bytes: Buffer): Failed | undefined {
  const kind = binaryKind(bytes)
  if (kind === undefined) return undefined
  const message = `Standard input is not UTF-8 text: found ${kind}.`
  return failed('invalid_args', message, { kind }, [
    { action: 'Attach it instead.', command: 'hawser run --attach - "What is this?" < FILE' },
    { action: 'Ignore it.', command: 'hawser run --no-stdin "What is this?"' },
  ])
}
