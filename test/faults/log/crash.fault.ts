import { PLANTED_BUGS } from '../../support/host/planted-bugs.ts'
import { crashOnce, crashTwice, killOnce, killThenCrash, storySteps } from './crash-runs.ts'
import { chosenSeed, report } from '../support/report.ts'

const seed = chosenSeed()
const steps = await storySteps()
const SEEDS_A_STEP = 40
const DOUBLE_CRASHES = 5000

await report('power cut at every step, crash disk', seed, steps * SEEDS_A_STEP, (i) =>
  crashOnce(seed + i, 1 + (i % steps)),
)
await report('kill at every step, crash disk', seed, steps * 5, (i) =>
  killOnce(seed + i, 1 + (i % steps)),
)
await report('power cut after a kill at every step, crash disk', seed, steps * 20, (i) =>
  killThenCrash(seed + i, 1 + (i % steps)),
)
await report('power cut again during recovery, crash disk', seed, DOUBLE_CRASHES, (i) =>
  crashTwice(seed + i, steps),
)
for (const bug of PLANTED_BUGS) {
  let first = 0
  for (let i = 1; i <= 1000 && first === 0; i++) {
    if ((await crashTwice(seed + i, steps, bug)).length > 0) first = i
  }
  const violations = first === 0 ? 1 : 0
  console.log(JSON.stringify({ test: `planted ${bug} is caught`, n: first, violations, seed }))
}
