import { LineFramer } from '../../../encoding/lines.ts'
import { closing, ifThere, type File, type Folder } from '../../../host/files/files.ts'
import { decodeFrameLine, FRAME_LINE_BYTES, type FrameFault, type FrameLine } from './frame-line.ts'

/** A position between two lines of a file. */
export interface FilePosition {
  readonly offset: number
  /** The number of the next line. */
  readonly n: number
  /** No frame before this position has a higher number. */
  readonly seq: number
}

/** How far a file was read, and what stopped it before its end, if anything. */
export interface FileEnd {
  readonly position: FilePosition
  readonly fault?: FrameFault
}

const PIECE_BYTES = 64 * 1024
/** The distance of known positions. */
const MARK_BYTES = 64 * 1024

/** Return false to stop. `next` is the position after the line. */
export type VisitLine = (line: FrameLine, next: FilePosition) => boolean | void

/** One file of a frame log. Several readers and one writer may use it at the same time. */
export class FrameFile {
  readonly name: string
  readonly firstSeq: number
  /** When it was started, by the wall clock. */
  readonly at: number
  #size: number
  /** Known positions, in order. */
  readonly #marks: FilePosition[]

  constructor(firstSeq: number, at: number, size: number) {
    this.name = fileName(firstSeq)
    this.firstSeq = firstSeq
    this.at = at
    this.#size = size
    this.#marks = [{ offset: 0, n: 0, seq: firstSeq - 1 }]
  }

  /** Bytes that are durable. Nothing behind them is read. */
  get size(): number {
    return this.#size
  }

  grow(size: number): void {
    this.#size = size
  }

  /** Remembers a position, if it is far enough from the last one. */
  mark(position: FilePosition): void {
    const last = this.#marks.at(-1)?.offset ?? 0
    if (position.offset >= last + MARK_BYTES) this.#marks.push(position)
  }

  /** The last known position that all frames above `seq` follow. */
  positionBefore(seq: number): FilePosition {
    return this.#marks.findLast((mark) => mark.seq <= seq) ?? this.#first
  }

  /** The known positions, last first. */
  get positions(): readonly FilePosition[] {
    return this.#marks.toReversed()
  }

  /** Reads lines from a known position, up to the durable end or `until`. */
  async read(
    folder: Folder,
    from: FilePosition,
    visit: VisitLine,
    until = this.#size,
  ): Promise<FileEnd> {
    const file = await ifThere(folder.open(this.name, 'read'))
    if (file === undefined) return { position: from, fault: 'missing' }
    return closing(file, () =>
      scanFrameFile(file, from, until, (line, next) => {
        this.mark(next)
        return visit(line, next)
      }),
    )
  }

  get #first(): FilePosition {
    return { offset: 0, n: 0, seq: this.firstSeq - 1 }
  }
}

/** Reads lines from `from` up to the offset `until`, and checks that their numbers continue. */
export async function scanFrameFile(
  file: File,
  from: FilePosition,
  until: number,
  visit: VisitLine,
): Promise<FileEnd> {
  let position = from
  const framer = new LineFramer(FRAME_LINE_BYTES, from.offset)
  const buffer = Buffer.allocUnsafe(PIECE_BYTES)
  for (let at = from.offset; at < until;) {
    const count = await file.read(buffer.subarray(0, until - at), at)
    if (count === 0) return { position, fault: 'truncated' }
    at += count
    for (const framed of framer.push(buffer.subarray(0, count))) {
      if ('overlong' in framed) return { position, fault: 'overlong' }
      const decoded = decodeFrameLine(framed.bytes)
      if ('fault' in decoded) return { position, fault: decoded.fault }
      const seq = seqAfter(decoded.line, position)
      if (seq === undefined) return { position, fault: 'order' }
      position = { offset: framed.offset + framed.bytes.length + 1, n: position.n + 1, seq }
      if (visit(decoded.line, position) === false) return { position }
    }
  }
  return framer.pendingBytes === 0 ? { position } : { position, fault: 'unterminated' }
}

/** The highest number of a frame up to this line; `undefined` if the line does not belong here. */
function seqAfter({ n, content }: FrameLine, position: FilePosition): number | undefined {
  if (n !== position.n || (content.kind === 'start') !== (n === 0)) return undefined
  if (content.kind !== 'frame') return position.seq
  return content.entry.seq > position.seq ? content.entry.seq : undefined
}

const DIGITS = 16
const FILE_NAME = /^(\d{16})\.ndjson$/

export function fileName(firstSeq: number): string {
  return `${String(firstSeq).padStart(DIGITS, '0')}.ndjson`
}

/** The first number of a file by its name; `undefined` if it is not a file of a frame log. */
export function firstSeqOf(name: string): number | undefined {
  const digits = FILE_NAME.exec(name)?.[1]
  return digits === undefined ? undefined : Number(digits)
}
