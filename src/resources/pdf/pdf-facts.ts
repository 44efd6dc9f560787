import * as z from 'zod'
import type { Description, Unreadable } from '../../model/description.ts'
import { inPdf, type PdfLimits } from './reader.ts'

/** The number of pages of a PDF. Opens it and loads its first and last page; does not read their content. */
export async function pdfPages(
  bytes: Buffer,
  limits: PdfLimits,
): Promise<{ readonly kind: 'pdf'; readonly pages: number } | Unreadable> {
  const counted = await inPdf(bytes, COUNT_PAGES, CountedPages, limits)
  return counted.ok ? { kind: 'pdf', pages: counted.value.pages } : counted.unreadable
}

const CountedPages = z.strictObject({ pages: z.int().positive() })

const COUNT_PAGES = `
  await pdf.getPage(1)
  await pdf.getPage(pdf.numPages)
  return { pages: pdf.numPages }
`

/** Counts the pages of a PDF and the words on them. */
export async function pdfWords(bytes: Buffer, limits: PdfLimits = {}): Promise<Description> {
  const counted = await inPdf(bytes, COUNT_WORDS, CountedWords, limits)
  return counted.ok ? { kind: 'pdf', ...counted.value } : counted.unreadable
}

const CountedWords = z.strictObject({ pages: z.int().min(0), words: z.int().min(0) })

/** The text items of a page are words and parts of words; spaces between words are items too. */
const COUNT_WORDS = `
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

/** Whether the text of any page contains a key, ignoring whitespace. False if the text cannot be read. */
export async function pdfHoldsKey(
  bytes: Buffer,
  keys: readonly string[],
  limits: PdfLimits = {},
): Promise<boolean> {
  const read = await inPdf(bytes, FIND, Found, { ...limits, input: { keys } })
  return read.ok && read.value.found
}

const Found = z.strictObject({ found: z.boolean() })

/** An unreadable page must not stop the search of the others. */
const FIND = `
  const textOf = async (number) => {
    const page = await pdf.getPage(number)
    const { items } = await page.getTextContent()
    page.cleanup()
    return items.map(({ str = '' }) => str).join('').replaceAll(/\\s/g, '')
  }
  const keys = input.keys.map((key) => key.replaceAll(/\\s/g, ''))
  for (let number = 1; number <= pdf.numPages; number += 1) {
    const text = await textOf(number).catch(() => '')
    if (keys.some((key) => text.includes(key))) return { found: true }
  }
  return { found: false }
`
