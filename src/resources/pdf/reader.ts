import * as z from 'zod'
import { systemClock, type Clock } from '../../host/clock.ts'
import { inSideThread, type SideResult } from '../../host/process/side-thread.ts'
import { LIMITS } from '../../model/limits.ts'
import type { Unreadable } from '../../model/sight.ts'

export interface PdfLimits {
  readonly ms?: number
  readonly memory?: number
  readonly clock?: Clock
  readonly signal?: AbortSignal
  /** What the question finds as members of `input`. */
  readonly given?: Readonly<Record<string, unknown>>
}

export type PdfAnswer<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly unreadable: Unreadable }

/**
 * Asks a PDF something: `question` is the body of an asynchronous function that finds the document as `pdf`. In a thread of its
 * own: a few hundred bytes can ask a reader of PDFs for any amount of work and memory.
 */
export async function inPdf<T>(
  bytes: Buffer,
  question: string,
  answer: z.ZodType<T>,
  limits: PdfLimits = {},
): Promise<PdfAnswer<T>> {
  const { ms = LIMITS.attachment_ms, memory = MEMORY_BYTES, clock = systemClock } = limits
  const { signal, given } = limits
  const copy = new Uint8Array(bytes)
  const work = {
    script: scriptOf(question),
    input: { ...given, library: import.meta.resolve('unpdf'), bytes: copy },
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
  why: 'it is a PDF document that opens only with a password',
}

const UNREADABLE: Readonly<Record<Exclude<SideResult['outcome'], 'answered'>, Unreadable>> = {
  time: {
    kind: 'unreadable',
    code: 'timeout',
    why: 'it is a PDF document, and reading it takes too long',
  },
  memory: {
    kind: 'unreadable',
    code: 'too_large',
    why: 'it is a PDF document, and reading it takes too much memory',
  },
  failed: {
    kind: 'unreadable',
    code: 'corrupt',
    why: 'it begins as a PDF document, and the rest of it is damaged or cut off',
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
