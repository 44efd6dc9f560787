/**
 * The second format of a file, in words: some files are valid in two formats at once, and a program may read them as the other
 * one. `end` is where the first format ends. Looks only where readers of the other format look, and for more than a magic
 * word, so that files that merely mention another format are accepted.
 */
export function secondFormat(bytes: Buffer, end: number): string | undefined {
  if (bytes.subarray(0, PDF_WITHIN).includes(PDF)) return 'a PDF document'
  if (endsAsZip(bytes)) return 'a ZIP archive (or a format built on one)'
  return PLACED.find(({ at, magic }) => isAt(bytes, at, magic))?.kind ?? afterTheEnd(bytes, end)
}

/** Text may mention the magic bytes of a PDF; it is a PDF if it starts with them or also ends like one. */
export function isPdfInText(bytes: Buffer): boolean {
  const head = bytes.toString('latin1', 0, PDF_WITHIN)
  if (PDF_FIRST.test(head)) return true
  return head.includes('%PDF-') && bytes.subarray(-PDF_WITHIN).includes('startxref')
}

/** Some programs write whitespace or a byte order mark before it. */
export const PDF_FIRST = /^[\s\xef\xbb\xbf]{0,60}%PDF-\d/

/**
 * Whether a ZIP reader, which starts at the end, would find an archive. Files embedded in a PDF do not count: the end of the
 * document follows them.
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
/** How far PDF readers look. */
const PDF_WITHIN = 1024

const ZIP_END = Buffer.from('PK\x05\x06', 'latin1')
const ZIP_ENTRY = Buffer.from('PK\x01\x02', 'latin1')
const ZIP_64 = Buffer.from('PK\x06\x07', 'latin1')
const ZIP_END_BYTES = 22
const ZIP_64_BYTES = 20
/** The record and the longest comment that may follow it. */
const ZIP_WITHIN = ZIP_END_BYTES + 0xffff

/** The record must follow a directory of the size it states, or the record of a ZIP64 archive. */
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

/** Formats whose magic bytes are not at the start. */
const PLACED = [
  { kind: 'a tar archive', at: 257, magic: Buffer.from('ustar') },
  { kind: 'a disc image (ISO 9660)', at: 0x8001, magic: Buffer.from('CD001') },
]

/** Formats that unpackers find after other data, as in self-extracting programs. */
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
