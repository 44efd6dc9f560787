// The texts around the pages of a PDF, for models that do not accept PDFs. Every sentence of this folder is part of the
// Prompt Contract: see `version.ts`.

export function pagesHead(count: number): string {
  const pages = count === 1 ? '1 page' : `${count} pages`
  return `[Text extracted from a PDF document of ${pages}. Layout and pictures are not shown.]\n`
}

/** `null` is a page that cannot be read. */
export function pageText(text: string | null, number: number, count: number): string {
  const page = `Page ${number} of ${count}`
  if (text === null) return `[${page}: cannot be read]\n`
  return text === '' ? `[${page}: no text found]\n` : `[${page}]\n${text}\n`
}

interface LeftOut {
  /** The page that is shown in part. */
  readonly restOf?: number | undefined
  readonly pages?: { readonly from: number; readonly to: number } | undefined
}

/** Empty if nothing is omitted. */
export function pagesTail({ restOf, pages }: LeftOut, mostBytes: number): string {
  const missing = [
    ...(restOf === undefined ? [] : [`the rest of page ${restOf}`]),
    ...(pages === undefined ? [] : [pagesNamed(pages)]),
  ]
  if (missing.length === 0) return ''
  return `[Omitted: ${missing.join(' and ')}, because the limit is ${mostBytes} bytes of text. To see more, call resource_view with page numbers.]\n`
}

function pagesNamed({ from, to }: { readonly from: number; readonly to: number }): string {
  return from === to ? `page ${from}` : `pages ${from} to ${to}`
}
