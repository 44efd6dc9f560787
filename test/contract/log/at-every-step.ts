import { PowerCut } from '../../support/host/crash-disk.ts'
import type { EngineUnderTest, MakeEngine } from './stores-under-test.ts'

/** Writes until the power is cut, and returns how to look at what is left. */
export type Judge = (engine: EngineUnderTest) => Promise<(next: EngineUnderTest) => Promise<void>>

/** Runs `judge` with a power cut at every step, and lets it look at what a boot and another process find. */
export async function atEveryStep(make: MakeEngine, judge: Judge): Promise<void> {
  const whole = await make()
  if (whole.crash === undefined) return
  await judge(whole)
  const steps = whole.crash.steps()
  for (let cutAt = 1; cutAt <= steps; cutAt++) {
    for (const how of ['afterCrash', 'afterKill'] as const) {
      const engine = await make(cutAt, cutAt)
      const look = await judge(engine)
      if (engine.crash !== undefined) await look(engine.crash[how]())
    }
  }
}

/** Runs `work` until it is done or the power is cut. */
export async function untilCut(work: () => Promise<void>): Promise<void> {
  await work().catch((error: unknown) => {
    if (!(error instanceof PowerCut)) throw error
  })
}
