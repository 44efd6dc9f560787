/**
 * What a file is besides what it begins as, in words: some bytes are a whole file of two formats at once, and a program that
 * gets them may take them for the other. `end` is where the format that was found ends. Looks only where readers of the other
 * format look, and for more than a word, so that pictures and documents that merely speak of one are left alone.
 */
export function secondFormat(bytes: Buffer, end: number): string | undefined {
  if (bytes.subarray(0, PDF_WITHIN).includes(PDF)) return 'a PDF document'
  if (endsAsZip(bytes)) return 'a ZIP archive (or a format built on one)'
  return PLACED.find(({ at, magic }) => isAt(bytes, at, magic))?.kind ?? afterTheEnd(bytes, end)
}

/** A text may well speak of what a PDF begins with; it is one when that is the first of it, or it ends as one, too. */
export function isPdfInText(bytes: Buffer): boolean {
  const head = bytes.toString('latin1', 0, PDF_WITHIN)
  if (PDF_FIRST.test(head)) return true
  return head.includes('%PDF-') && bytes.subarray(-PDF_WITHIN).includes('startxref')
}

/** Some programs put blanks or a byte order mark before it. */
export const PDF_FIRST = /^[\s\xef\xbb\xbf]{0,60}%PDF-\d/

/**
 * Whether a reader of ZIP archives, which begins at the end, would find one. Of a PDF, files that are embedded in it are not
 * meant: after those comes the end of the document.
 */
export function endsAsZip(bytes: Buffer, after?: string): boolean {
  const tail = bytes.subarray(-ZIP_WITHIN)
  for (let at = tail.lastIndexOf(ZIP_END); at !== -1; at = before(tail, at)) {
    const record = bytes.length - tail.length + at
    const ours = after !== undefined && bytes.indexOf(after, record + ZIP_END_BYTES) !== -1
    if (isDirectoryEnd(bytes, record) && (!ours || reachesEnd(bytes, record))) return true
  }
  return false
}

const PDF = Buffer.from('%PDF-')
/** As far as readers of PDF look. */
const PDF_WITHIN = 1024

const ZIP_END = Buffer.from('PK\x05\x06', 'latin1')
const ZIP_ENTRY = Buffer.from('PK\x01\x02', 'latin1')
const ZIP_64 = Buffer.from('PK\x06\x07', 'latin1')
const ZIP_END_BYTES = 22
const ZIP_64_BYTES = 20
/** The record, and the longest comment that may follow it. */
const ZIP_WITHIN = ZIP_END_BYTES + 0xffff

/** The record is preceded by a directory of the size it gives, or by the record of a larger archive. */
function isDirectoryEnd(bytes: Buffer, record: number): boolean {
  if (record + ZIP_END_BYTES > bytes.length) return false
  if (isAt(bytes, record - ZIP_64_BYTES, ZIP_64)) return true
  return isAt(bytes, record - bytes.readUInt32LE(record + 12), ZIP_ENTRY)
}

function reachesEnd(bytes: Buffer, record: number): boolean {
  return record + ZIP_END_BYTES + bytes.readUInt16LE(record + 20) >= bytes.length
}

function before(tail: Buffer, at: number): number {
  return at === 0 ? -1 : tail.lastIndexOf(ZIP_END, at - 1)
}

/** Formats whose beginning stands elsewhere than at the beginning. */
const PLACED = [
  { kind: 'a tar archive', at: 257, magic: Buffer.from('ustar') },
  { kind: 'a disc image (ISO 9660)', at: 0x8001, magic: Buffer.from('CD001') },
]

/** Formats that unpackers look for behind something else, as programs that unpack themselves have it. */
const APPENDED = [
  { kind: 'a RAR archive', magic: Buffer.from('Rar!\x1a\x07', 'latin1') },
  { kind: 'a 7-Zip archive', magic: Buffer.from("7z\xbc\xaf'\x1c", 'latin1') },
]

function afterTheEnd(bytes: Buffer, end: number): string | undefined {
  return APPENDED.find(({ magic }) => bytes.indexOf(magic, end) !== -1)?.kind
}

function isAt(bytes: Buffer, at: number, magic: Buffer): boolean {
  return at >= 0 && bytes.subarray(at, at + magic.length).equals(magic)
}
