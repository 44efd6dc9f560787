import { isUtf8 } from 'node:buffer'
import * as z from 'zod'
import { CHECKSUM_LENGTH, checksumHolds, checksumLine } from '../../../encoding/checksum-line.ts'
import { isJsonObject, parseJson } from '../../../encoding/json.ts'
import { Count } from '../../../model/shape.ts'
import { storedEntry, type NamedEntry } from '../frame-entry.ts'

/** The longest line: the first of a file, with every known message. */
export const FRAME_LINE_BYTES = 1024 * 1024

/** What can be wrong at a position of a frame log. */
export type FrameFault =
  | 'unterminated'
  | 'overlong'
  | 'version'
  | 'checksum'
  | 'not_json'
  | 'shape'
  | 'order'
  | 'truncated'
  | 'missing'

const FileStart = z.object({
  first_seq: Count,
  reserved: Count,
  /** Wall clock in milliseconds. */
  at: z.int(),
  /** The files before this one that queries may still read, oldest first. */
  files: z.array(z.object({ first_seq: Count, size: Count, at: z.int() })),
  /** The number of `carried` lines that follow. */
  carried: Count,
  /** Messages that have ended: a hash of their name, and their number. */
  known: z.array(z.tuple([z.string(), Count])),
})
/** The first line of a file. */
export type FileStart = Readonly<z.infer<typeof FileStart>>

/** What a line contains, see ADR 22. */
export type FrameLineContent =
  | { readonly kind: 'start'; readonly start: FileStart }
  | { readonly kind: 'carried'; readonly entry: NamedEntry }
  | { readonly kind: 'frame'; readonly entry: NamedEntry; readonly reservedTo?: number | undefined }
  | { readonly kind: 'reserved'; readonly reservedTo: number }

/** A line with its number in the file and in its write. */
export interface FrameLine {
  readonly n: number
  readonly batch: number
  readonly content: FrameLineContent
}

export function encodeFrameLine({ n, batch, content }: FrameLine): Buffer {
  const place = batch === 0 ? '' : `,"batch":${batch}`
  return checksumLine(`{"v":1,"n":${n}${place},${contentText(content)}`).bytes
}

function contentText(content: FrameLineContent): string {
  switch (content.kind) {
    case 'start':
      return `"start":${JSON.stringify(content.start)}`
    case 'carried':
      return `"carried":${content.entry.text}`
    case 'frame': {
      const { reservedTo, entry } = content
      return `${reservedTo === undefined ? '' : `"reserved":${reservedTo},`}"frame":${entry.text}`
    }
    case 'reserved':
      return `"reserved":${content.reservedTo}`
    default:
      return content satisfies never
  }
}

/** Checks the bytes of one line on their own, without the newline; the reader of the file checks its number. */
export function decodeFrameLine(
  bytes: Buffer,
): { readonly line: FrameLine } | { readonly fault: FrameFault } {
  if (!isUtf8(bytes) || !checksumHolds(bytes)) return { fault: 'checksum' }
  const text = bytes.toString('utf8')
  const value = parseJson(text)
  if (!isJsonObject(value)) return { fault: 'not_json' }
  if (value['v'] !== 1) return { fault: 'version' }
  const place = LineNumbers.safeParse(value)
  const content = lineContent(value, text)
  if (!place.success || content === undefined) return { fault: 'shape' }
  const { n, batch = 0 } = place.data
  return { line: { n, batch, content } }
}

const LineNumbers = z.object({ n: Count, batch: Count.optional() })

function lineContent(value: Record<string, unknown>, text: string): FrameLineContent | undefined {
  const reservedTo = Count.safeParse(value['reserved']).data
  if (value['start'] !== undefined) {
    const start = FileStart.safeParse(value['start'])
    return start.success ? { kind: 'start', start: start.data } : undefined
  }
  for (const kind of ['carried', 'frame'] as const) {
    if (value[kind] === undefined) continue
    const entry = storedEntry(value[kind], memberText(text, kind))
    if (entry === undefined) return undefined
    return kind === 'carried' ? { kind, entry } : { kind, entry, reservedTo }
  }
  return reservedTo === undefined ? undefined : { kind: 'reserved', reservedTo }
}

/** The text of the member before the checksum. Only numbers precede it, so the first match is its name. */
function memberText(text: string, name: string): string {
  const before = `"${name}":`
  return text.slice(text.indexOf(before) + before.length, text.length - CHECKSUM_LENGTH)
}
