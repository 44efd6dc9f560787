import { LIMITS, type ATTACHMENT_EXTENSIONS } from '../model/limits.ts'
import { contentKind } from './content-kind.ts'
import { imageHeader } from './image/header.ts'
import { imageEnd } from './image/structure.ts'
import type { Patience } from '../host/wait.ts'
import { pdfPages } from './pdf/pdf-facts.ts'
import { endsAsZip, isPdfInText, PDF_FIRST, secondFormat } from './polyglot.ts'
import { overLimit, refusal, type Refusal } from './refusal.ts'
import { textFacts, type TextFacts } from './text-charset.ts'
import { IMAGE_FORMATS } from '../model/description.ts'

export type AttachmentType = (typeof ATTACHMENT_EXTENSIONS)[keyof typeof ATTACHMENT_EXTENSIONS]

/** The facts about an attachment besides its size and hash. */
export type ProbeResult =
  | { readonly kind: 'image'; readonly width: number; readonly height: number }
  | { readonly kind: 'pdf'; readonly pages: number }
  | ({ readonly kind: 'text' } & TextFacts)

/** Whether bytes match their extension, are complete, and contain no second format. Does not decode pixels. */
export async function probe(
  bytes: Buffer,
  type: AttachmentType,
  patience: Patience,
): Promise<ProbeResult | Refusal> {
  switch (type.kind) {
    case 'image':
      return probeImage(bytes, type.media_type)
    case 'pdf':
      return probePdf(bytes, patience)
    case 'text':
      return probeText(bytes)
  }
}

function probeImage(bytes: Buffer, expected: AttachmentType['media_type']): ProbeResult | Refusal {
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
  const is = `it is ${width} by ${height} pixels`
  if (side > LIMITS.image_side_pixels) {
    const limit = LIMITS.image_side_pixels
    return overLimit('too_many_pixels', `${is}, which exceeds the limit of ${limit} per side`, {
      limit,
      actual: side,
    })
  }
  if (pixels <= LIMITS.image_pixels) return undefined
  const limit = LIMITS.image_pixels
  return overLimit(
    'too_many_pixels',
    `${is} (${pixels} in total), which exceeds the limit of ${limit}`,
    {
      limit,
      actual: pixels,
    },
  )
}

const PDF_WITHIN = 80

async function probePdf(bytes: Buffer, patience: Patience): Promise<ProbeResult | Refusal> {
  if (!PDF_FIRST.test(bytes.toString('latin1', 0, PDF_WITHIN))) return mismatch(contentKind(bytes))
  if (endsAsZip(bytes, '%%EOF')) return alsoIs('a ZIP archive (or a format built on one)')
  const found = await pdfPages(bytes, patience)
  return found.kind === 'pdf' ? found : refusal(found.code, found.why)
}

function probeText(bytes: Buffer): ProbeResult | Refusal {
  if (isPdfInText(bytes)) return mismatch('a PDF document')
  const text = textFacts(bytes)
  return text === undefined ? mismatch(contentKind(bytes)) : { kind: 'text', ...text }
}

function mismatch(kind: string): Refusal {
  return refusal('type_mismatch', `its content is ${kind}, which does not match its extension`)
}

function alsoIs(kind: string): Refusal {
  return refusal(
    'type_mismatch',
    `its content is also valid as ${kind}, which does not match its extension`,
  )
}

function corrupt(format: keyof typeof IMAGE_FORMATS): Refusal {
  return refusal(
    'corrupt',
    `it starts as a ${IMAGE_FORMATS[format]} image but is damaged or truncated`,
  )
}
