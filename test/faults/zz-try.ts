import { mkdtemp } from 'node:fs/promises'
import { runCuts, someCuts } from './stream-cut-runs.ts'
const f = await mkdtemp('/dev/shm/hawser-cut-')
const t = performance.now(), c = process.cpuUsage()
await Promise.all((['messages','responses','chat'] as const).map(async (d) => {
  const cuts = someCuts(d, 17, 3)
  const { violations, evidence } = await runCuts({dialect: d, cuts, folder: f})
  const u = process.cpuUsage(c)
  console.log(d, cuts.length, violations.length, violations.slice(0,6), Math.round(performance.now()-t), Math.round((u.user+u.system)/1000))
  console.log(evidence.filter(e => e.cut.how==='broken' && e.turn.shown[0]?.text !== e.answer.after(e.cut.bytes).text && e.cut.retries===0).length, 'lost of', evidence.filter(e=>e.cut.how==='broken').length)
}))
