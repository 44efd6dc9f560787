import * as z from 'zod'
import { inSideThread, type SideResult } from '../host/side-thread.ts'
import { LIMITS } from '../model/limits.ts'
import type { Sight, Unreadable } from '../model/sight.ts'

/**
 * Counts the pages of a PDF and the words on them. In a thread of its own: a few hundred bytes can ask a reader of PDFs for
 * any amount of work and memory.
 */
export async function pdfWords(
  bytes: Buffer,
  { ms = LIMITS.attachment_ms, memory = MEMORY_BYTES }: PdfLimits = {},
): Promise<Sight> {
  const input = { library: import.meta.resolve('unpdf'), bytes: new Uint8Array(bytes) }
  const result = await inSideThread({ script: SCRIPT, input, ms, bytes: memory })
  if (result.outcome !== 'answered') return UNREADABLE[result.outcome]
  const counted = Counted.safeParse(result.value)
  if (counted.success) return { kind: 'pdf', ...counted.data }
  return Encrypted.safeParse(result.value).success ? ENCRYPTED : UNREADABLE.failed
}

export interface PdfLimits {
  readonly ms?: number
  readonly memory?: number
}

const MEMORY_BYTES = 512 * 1024 * 1024

const Counted = z.strictObject({ pages: z.int().min(0), words: z.int().min(0) })
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

/** The pieces of a page are words and parts of words; the spaces between words are pieces too. */
const SCRIPT = `
import(input.library)
  .then(({ getDocumentProxy }) => getDocumentProxy(input.bytes, { verbosity: 0, stopAtErrors: true }))
  .then(async (pdf) => {
    let words = 0
    for (let number = 1; number <= pdf.numPages; number += 1) {
      const page = await pdf.getPage(number)
      const { items } = await page.getTextContent()
      const text = items.map(({ str = '', hasEOL }) => str + (hasEOL ? '\\n' : '')).join('')
      for (const _ of text.matchAll(/\\S+/g)) words += 1
      page.cleanup()
    }
    return { pages: pdf.numPages, words }
  })
  .catch((error) => ({ failed: String(error.name) }))
  .then(answer)
`
