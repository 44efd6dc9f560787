import * as z from 'zod'
import type { Unreadable } from '../../model/description.ts'
import { inPdf, type PdfLimits } from './reader.ts'

/** The number of pages of a PDF. Opens it and loads its first and last page; does not read their content. */
export async function pdfPages(
  bytes: Buffer,
  limits: PdfLimits,
): Promise<{ readonly kind: 'pdf'; readonly pages: number } | Unreadable> {
  const counted = await inPdf(bytes, COUNT, Counted, limits)
  return counted.ok ? { kind: 'pdf', pages: counted.value.pages } : counted.unreadable
}

const Counted = z.strictObject({ pages: z.int().positive() })

const COUNT = `
  await pdf.getPage(1)
  await pdf.getPage(pdf.numPages)
  return { pages: pdf.numPages }
`
