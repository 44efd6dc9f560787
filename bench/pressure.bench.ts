// A Session of 1,000 Turns at a window of 200,000 tokens, with tools, images and Skills: what its window costs it, and what a
// model can still answer after ten checkpoints.
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { bundled } from './bundled.ts'
import { measureIn } from './child.ts'
import { full, tell } from './figure.ts'
import { inScratch } from './scratch.ts'

const MIB = 1024 * 1024
const TURNS = full ? 1_000 : 100

await inScratch(async (folder) => {
  const worker = await bundled('pressure.worker.ts', folder)
  const place = async (name: string) => {
    await mkdir(join(folder, name))
    return join(folder, name)
  }
  const measured = await measureIn(worker, ['turns', await place('turns'), `${TURNS}`])
  tell({
    bench: `pressure: Turns of ${TURNS} that were lost to the window`,
    ratio: measured('lost'),
    bar: '<= 0',
    more: {
      refused: measured('refused'),
      recovered: measured('recovered'),
      checkpoints: measured('checkpoints'),
    },
  })
  tell({
    bench: 'pressure: share of all input that is cached, checkpoints included',
    ratio: measured('cached'),
    bar: '>= 0.9',
    more: {},
  })
  tell({
    bench: `pressure: time of Turn ${TURNS} relative to its floor, relative to that of Turn 10`,
    ratio: measured('late_ratio') / measured('early_ratio'),
    bar: '<= 1.3',
    more: {
      cpu_ratio: measured('late_cpu_ratio') / measured('early_cpu_ratio'),
      ms_at_10: measured('early_ms'),
      [`ms_at_${TURNS}`]: measured('late_ms'),
    },
  })
  tell({
    bench: `pressure: peak memory of Turn ${TURNS}, relative to the first full window`,
    ratio: measured('late_bytes') / measured('first_bytes'),
    bar: '<= 1.3',
    more: {
      mib: measured('late_bytes') / MIB,
      mib_at_first: measured('first_bytes') / MIB,
      mib_at_10: measured('early_bytes') / MIB,
      relative_to_10: measured('late_bytes') / measured('early_bytes'),
    },
  })
  tell({
    bench: `pressure: memory that is kept at Turn ${TURNS}, relative to the first full window`,
    ratio: measured('late_kept') / measured('first_kept'),
    bar: '<= 1.3',
    more: {
      kept_mib: measured('late_kept') / MIB,
      kept_mib_at_first: measured('first_kept') / MIB,
      kept_mib_at_10: measured('early_kept') / MIB,
      request_bytes: measured('late_request'),
      request_bytes_at_10: measured('early_request'),
    },
  })
  tell({
    bench: 'pressure: most that a tenth of the Turns adds to the Log, relative to the least',
    ratio: measured('log_growth'),
    bar: '<= 1.3',
    more: { log_mib: measured('log_bytes') / MIB },
  })
  const found = await measureIn(worker, ['recall', await place('recall')])
  tell({
    bench:
      'pressure: facts of 100 that the next request or one search answers after ten checkpoints',
    ratio: found('answerable'),
    bar: '>= 95',
    more: {
      from_request: found('from_request'),
      by_search: found('by_search'),
      retained_tokens: found('retained_tokens'),
    },
  })
})
