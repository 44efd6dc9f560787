// One Turn that reads a small file 2,000 times. The work of the harness from the end of an answer to the next request must not
// grow with the length of the Turn. The floor only reads, joins and syncs the same amount.
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { bundled } from './bundled.ts'
import { measureIn, type Measured } from './child.ts'
import { full, median, tell } from './figure.ts'
import { inScratch } from './scratch.ts'

const MIB = 1024 * 1024
const LATE = full ? 2_000 : 200
const ROUNDS = full ? 7 : 1

await inScratch(async (folder) => {
  const worker = await bundled('turn.worker.ts', folder)
  const rounds: Measured[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const root = join(folder, 'round')
    await mkdir(root)
    rounds.push(await measureIn(worker, [root, `${LATE}`]))
    await rm(root, { recursive: true })
  }
  const of = (figure: (measured: Measured) => number) => median(rounds.map(figure))

  tell({
    bench: `turn: time of tool round trip ${LATE}, relative to round trip 50`,
    ratio: of((measured) => measured('late_ms') / measured('early_ms')),
    bar: '<= 1.3',
    more: {
      ms_at_50: of((measured) => measured('early_ms')),
      [`ms_at_${LATE}`]: of((measured) => measured('late_ms')),
      // The time spent waiting for the disk does not grow, and could hide what does.
      cpu_ratio: of((measured) => measured('late_cpu_ms') / measured('early_cpu_ms')),
      cpu_ms_at_50: of((measured) => measured('early_cpu_ms')),
    },
  })
  tell({
    bench: 'turn: time of round trip 20, relative to its reads, joins and syncs',
    ratio: of((measured) => measured('soon_ms') / measured('soon_floor_ms')),
    bar: '<= 1.8',
    more: {
      ms_at_20: of((measured) => measured('soon_ms')),
      floor_ms: of((measured) => measured('soon_floor_ms')),
      syncs: of((measured) => measured('syncs')),
    },
  })
  tell({
    bench: `turn: time of round trip ${LATE}, relative to its reads, joins and syncs`,
    ratio: of((measured) => measured('late_ms') / measured('late_floor_ms')),
    bar: '<= 1.8',
    more: {
      [`ms_at_${LATE}`]: of((measured) => measured('late_ms')),
      floor_ms: of((measured) => measured('late_floor_ms')),
    },
  })
  tell({
    bench: 'turn: Log bytes per round trip',
    ratio: of((measured) => measured('log_bytes')),
    bar: '<= 2600',
    more: {},
  })
  // The next request needs all Events and every item as bytes, and two bodies are kept: together less than twice what
  // the Log grows by. Keeping one more copy of each result would exceed the bar; keeping each request, by far.
  tell({
    bench: 'turn: bytes kept in memory, relative to bytes in the Log',
    ratio: of((measured) => measured('kept_bytes') / measured('log_bytes')),
    bar: '<= 2',
    more: {
      kept_bytes_a_round_trip: of((measured) => measured('kept_bytes')),
      peak_mib: of((measured) => measured('peak_bytes') / MIB),
    },
  })
})
