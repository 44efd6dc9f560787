import { deflateSync } from 'node:zlib'

export interface PdfOptions {
  /** Declares a password, with hashes that no password matches. */
  readonly encrypted?: boolean
  /** The content operators of an additional last page. */
  readonly operators?: Buffer
}

/** A minimal valid PDF with one page per text and one line per line. */
export function buildPdf(pages: readonly string[], options: PdfOptions = {}): Buffer {
  const contents = [
    ...pages.map((text) => Buffer.from(operatorsOf(text), 'latin1')),
    ...(options.operators === undefined ? [] : [options.operators]),
  ]
  // Objects 1 to 4 are the same in every file; each page has two more.
  const kids = contents.map((_, index) => `${5 + index * 2} 0 R`).join(' ')
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Kids [${kids}] /Count ${contents.length} >>`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
    `<< /Filter /Standard /V 1 /R 2 /P -4 /O (${'o'.repeat(32)}) /U (${'u'.repeat(32)}) >>`,
    ...contents.flatMap((operators, index) => [
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents ${6 + index * 2} 0 R` +
        ' /Resources << /Font << /F1 3 0 R >> >> >>',
      streamOf(operators),
    ]),
  ]
  return assembled(objects, options.encrypted === true ? ` /Encrypt 4 0 R /ID [<00> <00>]` : '')
}

function operatorsOf(text: string): string {
  const lines = text
    .split('\n')
    .map((line) => `(${line.replaceAll(/[\\()]/g, String.raw`\$&`)}) Tj T*`)
  return `BT /F1 12 Tf 14 TL 50 780 Td ${lines.join(' ')} ET`
}

function streamOf(operators: Buffer): string {
  const packed = deflateSync(operators, { level: 9 })
  const head = `<< /Length ${packed.length} /Filter /FlateDecode >>`
  return `${head}\nstream\n${packed.toString('latin1')}\nendstream`
}

/** Writes the objects, the cross-reference table and the trailer. */
function assembled(objects: readonly string[], trailer: string): Buffer {
  let file = '%PDF-1.4\n'
  const places = objects.map((object, index) => {
    const at = file.length
    file += `${index + 1} 0 obj\n${object}\nendobj\n`
    return `${String(at).padStart(10, '0')} 00000 n \n`
  })
  const table = file.length
  const count = objects.length + 1
  file += `xref\n0 ${count}\n0000000000 65535 f \n${places.join('')}`
  file += `trailer\n<< /Size ${count} /Root 1 0 R${trailer} >>\nstartxref\n${table}\n%%EOF\n`
  return Buffer.from(file, 'latin1')
}
