// Puts of 10 MiB each, streamed from files. The floor reads, hashes, writes and syncs the same files.
import { randomBytes } from 'node:crypto'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { bundled } from './bundled.ts'
import { measureIn, type Measured } from './child.ts'
import { full, median, tell, tellSkipped } from './figure.ts'
import { noMemoryFigures } from './memory.ts'
import { inScratch } from './scratch.ts'

const MIB = 1024 * 1024
const BLOB_BYTES = 10 * MIB
const BLOBS = full ? 8 : 2
const ROUNDS = full ? 9 : 3

interface Round {
  readonly ours: Measured
  readonly floor: Measured
}

await inScratch(async (folder) => {
  const worker = await bundled('put.worker.ts', folder)
  const paths = Array.from({ length: BLOBS }, (_, i) => join(folder, `source-${i}`))
  for (const path of paths) await writeFile(path, randomBytes(BLOB_BYTES))

  const measure = async (mode: 'ours' | 'floor') => {
    const to = join(folder, mode)
    const figures = await measureIn(worker, [mode, to, ...paths])
    // Each round puts files that the store does not have yet.
    await rm(to, { recursive: true })
    return figures
  }
  const rounds: Round[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    rounds.push({ ours: await measure('ours'), floor: await measure('floor') })
  }
  const of = (figure: (round: Round) => number) => median(rounds.map(figure))

  tell({
    bench: 'put: time, relative to read, hash, write and fsync',
    ratio: of(({ ours, floor }) => ours('ms') / floor('ms')),
    bar: '<= 3',
    more: {
      ms_each: of(({ ours }) => ours('ms') / BLOBS),
      floor_ms_each: of(({ floor }) => floor('ms') / BLOBS),
    },
  })
  if (noMemoryFigures !== undefined) return tellSkipped('put: memory', noMemoryFigures)
  const peak = of(({ ours }) => ours('peak_bytes') / MIB)
  const floorPeak = of(({ floor }) => floor('peak_bytes') / MIB)
  tell({
    bench: 'put: MiB of memory beyond the floor',
    ratio: peak - floorPeak,
    bar: '<= 4',
    more: { peak_mib: peak, floor_peak_mib: floorPeak },
  })
})
