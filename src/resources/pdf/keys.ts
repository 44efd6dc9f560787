import * as z from 'zod'
import { inPdf, type PdfLimits } from './reader.ts'

/** Whether the text of any page contains a key, ignoring whitespace. False if the text cannot be read. */
export async function pdfHoldsKey(
  bytes: Buffer,
  keys: readonly string[],
  limits: PdfLimits = {},
): Promise<boolean> {
  const read = await inPdf(bytes, FIND, Found, { ...limits, given: { keys } })
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
