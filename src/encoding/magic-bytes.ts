/** The kind of bytes that are not text, in words (`a PNG image`); undefined for text. Looks at the bytes, never at a name. */
export function binaryKind(bytes: Buffer): string | undefined {
  const known = magicOf(bytes)
  if (known !== undefined) return known.kind
  if (isUtf16(bytes)) return 'text in UTF-16'
  return bytes.includes(0) ? 'binary data' : undefined
}

/** The usual extension without a dot: that of an image or PDF, `txt` for text in any charset, else `bin`. */
export function usualExtension(bytes: Buffer): string {
  const extension = magicOf(bytes)?.extension
  if (extension !== undefined) return extension
  return binaryKind(bytes) === undefined || isUtf16(bytes) ? 'txt' : 'bin'
}

function magicOf(bytes: Buffer): Magic | undefined {
  return MAGIC.find(({ marks }) =>
    marks.every(({ at, letters }) => bytes.indexOf(letters, at) === at),
  )
}

function isUtf16(bytes: Buffer): boolean {
  return UTF_16.some((mark) => bytes.indexOf(mark) === 0)
}

interface Magic {
  readonly kind: string
  readonly marks: readonly { readonly at: number; readonly letters: Buffer }[]
  /** Set for types that can be attached. */
  readonly extension?: string
}

function magic(kind: string, latin1: string, at = 0): Magic {
  return { kind, marks: [{ at, letters: Buffer.from(latin1, 'latin1') }] }
}

function attachable(extension: string, kind: string, latin1: string): Magic {
  return { ...magic(kind, latin1), extension }
}

/** A RIFF file has its format after its length. */
const WEBP: Magic = {
  kind: 'a WebP image',
  marks: [
    { at: 0, letters: Buffer.from('RIFF') },
    { at: 8, letters: Buffer.from('WEBP') },
  ],
  extension: 'webp',
}

const MAGIC: readonly Magic[] = [
  attachable('png', 'a PNG image', '\x89PNG\r\n\x1a\n'),
  attachable('jpg', 'a JPEG image', '\xff\xd8\xff'),
  attachable('gif', 'a GIF image', 'GIF87a'),
  attachable('gif', 'a GIF image', 'GIF89a'),
  WEBP,
  attachable('pdf', 'a PDF document', '%PDF-'),
  magic('a ZIP archive (or a format built on one)', 'PK\x03\x04'),
  magic('a gzip file', '\x1f\x8b\x08'),
  magic('a zstd file', '\x28\xb5\x2f\xfd'),
  magic('an xz file', '\xfd7zXZ\0'),
  magic('a 7-Zip archive', "7z\xbc\xaf'\x1c"),
  magic('a tar archive', 'ustar', 257),
  magic('a program (ELF)', '\x7fELF'),
  magic('a WebAssembly module', '\0asm'),
  magic('an SQLite database', 'SQLite format 3\0'),
  magic('a WAV recording', 'WAVEfmt ', 8),
  magic('an Ogg recording', 'OggS\0'),
  magic('an MP3 recording', 'ID3\x03'),
  magic('an MP3 recording', 'ID3\x04'),
  magic('a video (MP4 or similar)', 'ftyp', 4),
  magic('a font', 'wOF2'),
]

const UTF_16 = [Buffer.from([0xff, 0xfe]), Buffer.from([0xfe, 0xff])]
