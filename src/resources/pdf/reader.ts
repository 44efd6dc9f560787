import * as z from 'zod'
import { systemClock, type Clock } from '../../host/clock.ts'
import { packageUrl } from '../../host/process/own-program.ts'
import { inSideThread, type SideResult } from '../../host/process/side-thread.ts'
import { LIMITS } from '../../model/limits.ts'
import type { Unreadable } from '../../model/description.ts'

export interface PdfLimits {
  readonly ms?: number
  readonly memory?: number
  readonly clock?: Clock
  readonly signal?: AbortSignal
  /** Available to the question as `input`. */
  readonly input?: Readonly<Record<string, unknown>>
}

export type PdfAnswer<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly unreadable: Unreadable }

/**
 * Evaluates `question`, the body of an async function, with the open document as `pdf`. Runs in a worker thread, because a few
 * hundred bytes can make a PDF reader use any amount of time and memory.
 */
export async function inPdf<T>(
  bytes: Buffer,
  question: string,
  answer: z.ZodType<T>,
  limits: PdfLimits = {},
): Promise<PdfAnswer<T>> {
  const { ms = LIMITS.attachment_ms, memory = MEMORY_BYTES, clock = systemClock } = limits
  const { signal, input } = limits
  const copy = new Uint8Array(bytes)
  const work = {
    script: scriptOf(question),
    input: { ...input, library: packageUrl('unpdf'), bytes: copy },
    transfer: [copy.buffer],
    ms,
    bytes: memory,
  }
  const result = await inSideThread(signal === undefined ? work : { ...work, signal }, clock)
  if (result.outcome !== 'answered') return { ok: false, unreadable: UNREADABLE[result.outcome] }
  const read = answer.safeParse(result.value)
  if (read.success) return { ok: true, value: read.data }
  const encrypted = Encrypted.safeParse(result.value).success
  return { ok: false, unreadable: encrypted ? ENCRYPTED : UNREADABLE.failed }
}

const MEMORY_BYTES = 512 * 1024 * 1024

const Encrypted = z.strictObject({ failed: z.literal('PasswordException') })

const ENCRYPTED: Unreadable = {
  kind: 'unreadable',
  code: 'encrypted',
  why: 'it is a password-protected PDF document',
}

const UNREADABLE: Readonly<Record<Exclude<SideResult['outcome'], 'answered'>, Unreadable>> = {
  time: {
    kind: 'unreadable',
    code: 'timeout',
    why: 'reading the PDF document takes too long',
  },
  memory: {
    kind: 'unreadable',
    code: 'too_large',
    why: 'reading the PDF document takes too much memory',
  },
  failed: {
    kind: 'unreadable',
    code: 'corrupt',
    why: 'it starts as a PDF document but is damaged or truncated',
  },
}

function scriptOf(question: string): string {
  return `
import(input.library)
  .then(({ getDocumentProxy }) => getDocumentProxy(input.bytes, { verbosity: 0, stopAtErrors: true }))
  .then(async (pdf) => {${question}})
  .catch((error) => ({ failed: String(error.name) }))
  .then(answer)
`
}
