// A long Log without an index is read once, in constant memory. The floor parses the lines without checking them.
import { stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { indexName, logName } from '../src/log/files/names.ts'
import { diskPlace } from '../test/support/log/disk-place.ts'
import { bundled } from './bundled.ts'
import { measureIn, type Measured } from './child.ts'
import { full, median, tell, tellSkipped } from './figure.ts'
import { writeLongLog } from './long-log.ts'
import { noMemoryFigures } from './memory.ts'
import { inScratch, SESSIONS } from './scratch.ts'

const MIB = 1024 * 1024
const LOG_BYTES = (full ? 200 : 20) * MIB
const ROUNDS = full ? 11 : 3

interface Round {
  readonly ours: Measured
  readonly floor: Measured
}

await inScratch(async (folder) => {
  const worker = await bundled('scan.worker.ts', folder)
  const session = await writeLongLog(await diskPlace(folder), LOG_BYTES)
  const sessions = join(folder, SESSIONS)
  await unlink(join(sessions, indexName(session)))
  const { size } = await stat(join(sessions, logName(session)))

  const rounds: Round[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const ours = await measureIn(worker, ['ours', folder, session])
    const floor = await measureIn(worker, ['floor', folder, session])
    if (ours('lines') !== floor('lines')) throw new Error('lines are missing')
    rounds.push({ ours, floor })
  }
  const of = (figure: (round: Round) => number) => median(rounds.map(figure))

  tell({
    bench: 'scan: time, relative to a bare parse',
    ratio: of(({ ours, floor }) => ours('ms') / floor('ms')),
    bar: '<= 2',
    more: {
      ms: of(({ ours }) => ours('ms')),
      floor_ms: of(({ floor }) => floor('ms')),
      cpu_ratio: of(({ ours, floor }) => ours('cpu_ms') / floor('cpu_ms')),
      mb_per_s: of(({ ours }) => size / 1000 / ours('ms')),
      lines: of(({ ours }) => ours('lines')),
      bytes: size,
    },
  })
  tell({
    bench: 'scan: bytes read beyond the Log',
    ratio: of(({ ours }) => ours('bytes_read') - size),
    bar: '<= 65536',
    more: {},
  })
  if (noMemoryFigures !== undefined) return tellSkipped('scan: memory', noMemoryFigures)
  tell({
    bench: 'scan: MiB of memory beyond a bare parse',
    ratio: of(({ ours, floor }) => growth(ours) - growth(floor)),
    bar: '<= 64',
    more: {
      growth_mib: of(({ ours }) => growth(ours)),
      floor_growth_mib: of(({ floor }) => growth(floor)),
    },
  })
})

function growth(figure: Measured): number {
  return (figure('peak_bytes') - figure('before_bytes')) / MIB
}
