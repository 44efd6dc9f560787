import * as z from 'zod'
import type { Description } from '../../model/description.ts'
import { inPdf, type PdfLimits } from './reader.ts'

/** Counts the pages of a PDF and the words on them. */
export async function pdfWords(bytes: Buffer, limits: PdfLimits = {}): Promise<Description> {
  const counted = await inPdf(bytes, COUNT, Counted, limits)
  return counted.ok ? { kind: 'pdf', ...counted.value } : counted.unreadable
}

const Counted = z.strictObject({ pages: z.int().min(0), words: z.int().min(0) })

/** The text items of a page are words and parts of words; spaces between words are items too. */
const COUNT = `
  let words = 0
  for (let number = 1; number <= pdf.numPages; number += 1) {
    const page = await pdf.getPage(number)
    const { items } = await page.getTextContent()
    const text = items.map(({ str = '', hasEOL }) => str + (hasEOL ? '\\n' : '')).join('')
    for (const _ of text.matchAll(/(?<!\\S)\\S/g)) words += 1
    page.cleanup()
  }
  return { pages: pdf.numPages, words }
`
