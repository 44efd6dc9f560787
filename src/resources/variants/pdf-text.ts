import * as z from 'zod'
import { failed, ok, type Failed, type Result } from '../../model/errors.ts'
import { LIMITS } from '../../model/limits.ts'
import type { Unreadable } from '../../model/description.ts'
import { pagesAsText } from './pages-as-text.ts'
import { inPdf, type PdfLimits } from '../pdf/reader.ts'
import type { VariantSpan, Variant } from './variant.ts'

/** The text of a PDF, or of some of its pages; `params` lists the pages. Never throws. */
export async function pdfText(
  bytes: Buffer,
  pages?: VariantSpan,
  { most = LIMITS.pdf_text_bytes, ...limits }: PdfLimits & { readonly most?: number } = {},
): Promise<Result<Variant>> {
  const read = await inPdf(bytes, READ, Read, { ...limits, input: { pages, most } })
  if (!read.ok) return unreadable(read.unreadable)
  const { count, texts, version } = read.value
  const requested = pages ?? { from: 1, to: count }
  if (count > 0 && !exists(requested, count)) return outOfRange(requested, count)
  if (texts.every((text) => text === null)) return NOTHING_READ
  const { text, span } = pagesAsText(texts, requested, count, most)
  return ok({
    bytes: Buffer.from(text),
    media_type: 'text/plain',
    params: { encoder: `unpdf ${version}`, format: 'text', pages: span },
  })
}

/** The requested pages, or the first ones if there are more than enough; `null` is an unreadable page. */
const Read = z.strictObject({
  count: z.int().min(0),
  texts: z.array(z.string().nullable()),
  version: z.string(),
})

function exists({ from, to }: VariantSpan, count: number): boolean {
  return from >= 1 && from <= to && to <= count
}

function outOfRange({ from, to }: VariantSpan, count: number): Failed {
  const pages = count === 1 ? '1 page' : `${count} pages`
  const message = `The PDF document has ${pages}; pages ${from} to ${to} do not exist.`
  return failed('invalid_args', message, { pages: count })
}

function unreadable({ code, why }: Pick<Unreadable, 'code' | 'why'>): Failed {
  return failed('unreadable', `The document cannot be read: ${why}.`, { code })
}

const NOTHING_READ = unreadable({ code: 'corrupt', why: 'none of these pages can be read' })

/** Pages without text count, too, so that a document with very many of them ends. */
const READ = `
  const { fileURLToPath } = require('node:url')
  const { version } = require(fileURLToPath(new URL('../package.json', input.library)))
  const textOf = async (number) => {
    const page = await pdf.getPage(number)
    const { items } = await page.getTextContent()
    page.cleanup()
    const text = items.map(({ str = '', hasEOL }) => str + (hasEOL ? '\\n' : '')).join('')
    return text.replaceAll(/(?![\\t\\n])\\p{Cc}/gu, '').trimEnd().slice(0, input.most)
  }
  const count = pdf.numPages
  const { from, to } = input.pages ?? { from: 1, to: count }
  const texts = []
  let bytes = 0
  for (let number = from; number <= Math.min(to, count) && bytes <= input.most; number += 1) {
    const text = await textOf(number).catch(() => null)
    texts.push(text)
    bytes += 16 + Buffer.byteLength(text ?? '')
  }
  return { count, texts, version }
`
