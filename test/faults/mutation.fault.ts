import { mutateOnce, originalLog } from './mutation-runs.ts'
import { chosenSeed, report } from './report.ts'

const seed = chosenSeed()
const original = await originalLog()

await report('mutated Logs', seed, 10_000, (i) => mutateOnce(original, seed + i))
