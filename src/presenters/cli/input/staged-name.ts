import { binaryKind } from '../../../encoding/magic-bytes.ts'

/**
 * The name under which bytes that came without one are attached, as in `stdin.png`: what they are decides, text is `.txt`
 * in whatever charset, and all else is `.bin`, which nobody takes.
 */
export function stagedName(stem: string, bytes: Buffer): string {
  const known = SIGNATURES.find(({ marks }) =>
    marks.every(({ at, letters }) => bytes.indexOf(letters, at, 'latin1') === at),
  )
  return `${stem}.${known?.extension ?? (isText(bytes) ? 'txt' : 'bin')}`
}

const SIGNATURES = [
  { extension: 'png', marks: [{ at: 0, letters: '\x89PNG\r\n\x1a\n' }] },
  { extension: 'jpg', marks: [{ at: 0, letters: '\xff\xd8\xff' }] },
  { extension: 'gif', marks: [{ at: 0, letters: 'GIF87a' }] },
  { extension: 'gif', marks: [{ at: 0, letters: 'GIF89a' }] },
  {
    extension: 'webp',
    marks: [
      { at: 0, letters: 'RIFF' },
      { at: 8, letters: 'WEBP' },
    ],
  },
  { extension: 'pdf', marks: [{ at: 0, letters: '%PDF-' }] },
] as const

const BYTE_ORDER_MARKS: ReadonlySet<string> = new Set(['\xff\xfe', '\xfe\xff'])

function isText(bytes: Buffer): boolean {
  return binaryKind(bytes) === undefined || BYTE_ORDER_MARKS.has(bytes.toString('latin1', 0, 2))
}
