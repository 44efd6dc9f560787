// What is around the text of a PDF's pages, which are shown to models that take no PDF. Every sentence of this folder is part
// of the Prompt Contract: see `version.ts`.

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

/** Nothing where nothing is left out. */
export function pagesTail({ restOf, pages }: LeftOut, mostBytes: number): string {
  const missing = [
    ...(restOf === undefined ? [] : [`the rest of page ${restOf}`]),
    ...(pages === undefined ? [] : [pagesNamed(pages)]),
  ]
  if (missing.length === 0) return ''
  return `[Left out: ${missing.join(' and ')}, because the limit is ${mostBytes} bytes of text. To see more, call resource_view with page numbers.]\n`
}

function pagesNamed({ from, to }: { readonly from: number; readonly to: number }): string {
  return from === to ? `page ${from}` : `pages ${from} to ${to}`
}
