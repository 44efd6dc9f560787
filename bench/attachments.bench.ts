// Turns that attach 18 MiB and 18 KiB of images or text, each in its own process, through real providers over HTTP or a socket to
// a server in another process, and through an in-process provider. The floor reads, hashes, writes, syncs and renames the same files, and encodes them.
import { randomBytes } from 'node:crypto'
import { open, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { VENDOR_DIALECTS } from '../test/support/providers/dialects.ts'
import { png } from '../test/support/resources/drawing.ts'
import { buildPdf } from '../test/support/resources/build-pdf.ts'
import { bundled } from './bundled.ts'
import { measureIn, type Measured } from './child.ts'
import { full, median, tell, tellSkipped } from './figure.ts'
import { noMemoryFigures } from './memory.ts'
import { inScratch } from './scratch.ts'
import { vendor } from './vendor.ts'

const KIB = 1024
const MIB = 1024 * KIB
const ROUNDS = full ? 9 : 2
const TIMED_ROUNDS = full ? 25 : 5
/** Tool calls in the Turns whose memory is measured: each leads to a request that contains everything again. */
const CALLS = 3
const NOTES = 'notes.txt'
/** The line that long texts repeat. */
const LINE = '"At six," said the keeper, "the tide turns at the quay of Saint-Éloi."\n'
const MODES = [...VENDOR_DIALECTS, 'websocket', 'in-process'] as const
type Mode = (typeof MODES)[number]
/** The dialect of the Turns whose time and Log are measured: both are the same in all dialects. */
const ANY: Mode = 'messages'

await inScratch(async (folder) => {
  const worker = await bundled('attachments.worker.ts', folder)
  const server = await vendor(folder, NOTES)
  const measure: Measure = async (mode, paths, calls = 0) => {
    const root = join(folder, 'place')
    const dialect = mode === 'websocket' ? 'responses' : mode
    const remote = dialect !== 'floor' && dialect !== 'in-process'
    const url = remote ? server.baseUrl(dialect, calls, `attachments-${mode}`) : ''
    const measured = await measureIn(worker, [mode, root, url, `${calls}`, NOTES, ...paths])
    // A store that already has the bytes would do less work.
    await rm(root, { recursive: true })
    return measured
  }
  try {
    const large = await images(folder, 'large', 9 * MIB)
    const small = await images(folder, 'small', 9 * KIB)
    await measureMemory(measure, 'images', large, small)
    const [long, short] = [
      await texts(folder, 'long', 9 * MIB),
      await texts(folder, 'short', 9 * KIB),
    ]
    await measureMemory(measure, 'text', long, short)
    await measureTime(measure, large, small, await pdfs(folder))
    await measureLog(measure, await images(folder, 'logged', 10 * MIB))
  } finally {
    server.close()
  }
})

type Measure = (mode: Mode | 'floor', paths: Paths, calls?: number) => Promise<Measured>
type Paths = readonly string[]

async function measureMemory(
  measure: Measure,
  what: string,
  large: Paths,
  small: Paths,
): Promise<void> {
  if (noMemoryFigures !== undefined) return tellSkipped('attachments: memory', noMemoryFigures)
  for (const mode of MODES) {
    const [mib, smallMib]: [number[], number[]] = [[], []]
    for (let round = 0; round < ROUNDS; round += 1) {
      mib.push((await measure(mode, large, CALLS))('peak_bytes') / MIB)
      smallMib.push((await measure(mode, small, CALLS))('peak_bytes') / MIB)
    }
    const more = mib.map((peak, round) => peak - (smallMib[round] ?? 0))
    tell({
      bench: `attachments: ${mode}: MiB of memory that 18 MiB of ${what} add, compared with 18 KiB`,
      ratio: median(more),
      bar: '<= 64',
      more: {
        most: Math.max(...more),
        peak_mib: median(mib),
        small_peak_mib: median(smallMib),
        calls: CALLS + 1,
      },
    })
  }
}

async function measureTime(
  measure: Measure,
  large: Paths,
  small: Paths,
  documents: Paths,
): Promise<void> {
  const rounds: Record<'large' | 'small' | 'floor' | 'pdf' | 'pdfFloor', number>[] = []
  for (let round = 0; round < TIMED_ROUNDS; round += 1) {
    rounds.push({
      large: (await measure(ANY, large))('ms'),
      small: (await measure(ANY, small))('ms'),
      floor: (await measure('floor', large))('ms'),
      // A library is loaded to open it and count its pages: that has no floor.
      pdf: (await measure(ANY, documents))('ms'),
      pdfFloor: (await measure('floor', documents))('ms'),
    })
  }
  const of = (figure: (round: (typeof rounds)[number]) => number) => median(rounds.map(figure))
  tell({
    bench: 'attachments: time that 18 MiB add, compared with 18 KiB, relative to the floor',
    ratio: of((ms) => (ms.large - ms.small) / ms.floor),
    bar: '<= 2',
    more: {
      ms: of((ms) => ms.large),
      small_ms: of((ms) => ms.small),
      floor_ms: of((ms) => ms.floor),
      pdf_ratio: of((ms) => (ms.pdf - ms.small) / ms.pdfFloor),
      pdf_ms: of((ms) => ms.pdf),
      pdf_floor_ms: of((ms) => ms.pdfFloor),
    },
  })
}

async function measureLog(measure: Measure, [image = '']: Paths): Promise<void> {
  const without = (await measure(ANY, []))('log_bytes')
  const one = (await measure(ANY, [image]))('log_bytes')
  tell({
    bench: 'attachments: bytes that a 10 MiB image adds to the Log',
    ratio: one - without,
    bar: '<= 1000',
    more: { log_bytes: one },
  })
}

/** Two incompressible images, each of at most `bytes` bytes. */
function images(folder: string, name: string, bytes: number): Promise<string[]> {
  // A row has one byte more than its pixels, and at most this much of a file is not rows.
  const width = Math.min(1024, Math.floor(Math.sqrt(bytes / 3)))
  const height = Math.floor((bytes - bytes / 1024 - 256) / (width * 3 + 1))
  return two(folder, `${name}.png`, () => png(width, height, randomBytes(width * 3 * height)))
}

/** Two texts of at most `bytes` bytes; some characters are longer in JSON, and some are longer than one byte. */
function texts(folder: string, name: string, bytes: number): Promise<string[]> {
  const text = LINE.repeat(Math.floor(bytes / Buffer.byteLength(LINE)) - 1)
  return two(folder, `${name}.txt`, () => Buffer.from(`${randomBytes(8).toString('hex')}\n${text}`))
}

/** Two PDFs of two pages; most of one is an invisible comment. */
function pdfs(folder: string): Promise<string[]> {
  return two(folder, 'timed.pdf', () => buildPdf(['The tide.'], { operators: remark() }))
}

/** Incompressible bytes without a line break. */
function remark(): Buffer {
  const bytes = randomBytes(8.9 * MIB).map((byte) => (byte === 10 || byte === 13 ? 32 : byte))
  return Buffer.concat([Buffer.from('%'), bytes, Buffer.from('\n')])
}

async function two(folder: string, name: string, made: () => Buffer): Promise<string[]> {
  const paths = [join(folder, `1-${name}`), join(folder, `2-${name}`)]
  for (const path of paths) {
    await writeFile(path, made())
    // So that nothing remains to be written during a measurement.
    const file = await open(path)
    await file.sync()
    await file.close()
  }
  return paths
}
