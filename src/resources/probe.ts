import { LIMITS, type ATTACHMENT_EXTENSIONS } from '../model/limits.ts'
import { contentKind } from './content-kind.ts'
import { imageHeader } from './image/header.ts'
import { imageEnd } from './image/structure.ts'
import type { Patience } from '../host/wait.ts'
import { pdfPages } from './pdf/pages.ts'
import { endsAsZip, isPdfInText, PDF_FIRST, secondFormat } from './polyglot.ts'
import { overLimit, refusal, type Refusal } from './refusal.ts'
import { textFacts, type TextFacts } from './text-charset.ts'

export type AttachmentType = (typeof ATTACHMENT_EXTENSIONS)[keyof typeof ATTACHMENT_EXTENSIONS]

/** What is told of the bytes of an attachment besides their size and hash. */
export type Probed =
  | { readonly kind: 'image'; readonly width: number; readonly height: number }
  | { readonly kind: 'pdf'; readonly pages: number }
  | ({ readonly kind: 'text' } & TextFacts)

/** Whether bytes are what their extension promises, whole, and nothing else besides. Decodes no pixels. */
export async function probe(
  bytes: Buffer,
  type: AttachmentType,
  patience: Patience,
): Promise<Probed | Refusal> {
  switch (type.kind) {
    case 'image':
      return probeImage(bytes, type.media_type)
    case 'pdf':
      return probePdf(bytes, patience)
    case 'text':
      return probeText(bytes)
  }
}

function probeImage(bytes: Buffer, expected: AttachmentType['media_type']): Probed | Refusal {
  const header = imageHeader(bytes)
  if (header === undefined || `image/${header.format}` !== expected)
    return mismatch(contentKind(bytes))
  const { format, size } = header
  if (size === undefined) return corrupt(format)
  const { width, height } = size
  const tooMany = overPixels(width, height)
  if (tooMany !== undefined) return tooMany
  const end = imageEnd(bytes, format)
  if (end === undefined) return corrupt(format)
  const second = secondFormat(bytes, end)
  return second === undefined ? { kind: 'image', width, height } : alsoIs(second)
}

function overPixels(width: number, height: number): Refusal | undefined {
  const [side, pixels] = [Math.max(width, height), width * height]
  const is = `it has ${width} by ${height} pixels`
  if (side > LIMITS.image_side_pixels) {
    const limit = LIMITS.image_side_pixels
    return overLimit('too_many_pixels', `${is}, over the limit of ${limit} a side`, {
      limit,
      actual: side,
    })
  }
  if (pixels <= LIMITS.image_pixels) return undefined
  const limit = LIMITS.image_pixels
  return overLimit('too_many_pixels', `${is}, which is ${pixels}, over the limit of ${limit}`, {
    limit,
    actual: pixels,
  })
}

const PDF_WITHIN = 80

async function probePdf(bytes: Buffer, patience: Patience): Promise<Probed | Refusal> {
  if (!PDF_FIRST.test(bytes.toString('latin1', 0, PDF_WITHIN))) return mismatch(contentKind(bytes))
  if (endsAsZip(bytes, '%%EOF')) return alsoIs('a ZIP archive (or a format built on one)')
  const found = await pdfPages(bytes, patience)
  return found.kind === 'pdf' ? found : refusal(found.code, found.why)
}

function probeText(bytes: Buffer): Probed | Refusal {
  if (isPdfInText(bytes)) return mismatch('a PDF document')
  const text = textFacts(bytes)
  return text === undefined ? mismatch(contentKind(bytes)) : { kind: 'text', ...text }
}

function mismatch(kind: string): Refusal {
  return refusal('type_mismatch', `its content is ${kind}, not what its extension says`)
}

function alsoIs(kind: string): Refusal {
  return refusal('type_mismatch', `its content is also ${kind}, which its extension does not say`)
}

const NAMES = { png: 'PNG', jpeg: 'JPEG', gif: 'GIF', webp: 'WebP' } as const

function corrupt(format: keyof typeof NAMES): Refusal {
  return refusal(
    'corrupt',
    `it begins as a ${NAMES[format]} image, and the rest of it is damaged or cut off`,
  )
}
