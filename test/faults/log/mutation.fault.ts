import { mutateIndexOnce, mutateOnce, originalLog } from './mutation-runs.ts'
import { chosenSeed, report } from '../support/report.ts'

const seed = chosenSeed()
const original = await originalLog()

await report('mutated Logs', seed, 10_000, (i) => mutateOnce(original, seed + i))
await report('mutated indexes', seed, 3000, (i) => mutateIndexOnce(original, seed + i))
