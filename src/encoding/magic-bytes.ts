/** What bytes are when they are not text, in words (`a PNG image`); `undefined` for text. Looks at bytes, never at a name. */
export function binaryKind(bytes: Buffer): string | undefined {
  const known = MAGIC.find(({ at, letters }) => bytes.indexOf(letters, at) === at)
  if (known !== undefined) return known.kind
  if (UTF_16.some((mark) => bytes.indexOf(mark) === 0)) return 'text in UTF-16'
  return bytes.includes(0) ? 'binary data' : undefined
}

interface Magic {
  readonly kind: string
  readonly at: number
  readonly letters: Buffer
}

function magic(kind: string, latin1: string, at = 0): Magic {
  return { kind, at, letters: Buffer.from(latin1, 'latin1') }
}

const MAGIC: readonly Magic[] = [
  magic('a PNG image', '\x89PNG\r\n\x1a\n'),
  magic('a JPEG image', '\xff\xd8\xff'),
  magic('a GIF image', 'GIF87a'),
  magic('a GIF image', 'GIF89a'),
  magic('a WebP image', 'WEBP', 8),
  magic('a PDF document', '%PDF-'),
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
  magic('a video (MP4 or alike)', 'ftyp', 4),
  magic('a font', 'wOF2'),
]

const UTF_16 = [Buffer.from([0xff, 0xfe]), Buffer.from([0xfe, 0xff])]
