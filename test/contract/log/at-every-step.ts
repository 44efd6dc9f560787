import { PowerCut } from '../../support/host/crash-disk.ts'
import { need, type EngineUnderTest, type MakeEngine } from './stores-under-test.ts'

/** Writes until the power is cut, and returns how to look at what is left. */
export type Judge = (engine: EngineUnderTest) => Promise<(next: EngineUnderTest) => Promise<void>>

/**
 * Runs `judge` with a power cut at every step, and after the last one in several ways, and lets it look at what a boot and another
 * process find.
 */
export async function atEveryStep(make: MakeEngine, judge: Judge): Promise<void> {
  const whole = await make()
  await judge(whole)
  const steps = need(whole.crash).steps()
  const cuts = Array.from({ length: steps }, (_, at) => [at + 1, at + 1] as const)
  const ends = Array.from({ length: 6 }, (_, seed) => [steps + 100, seed] as const)
  for (const [cutAt, seed] of [...cuts, ...ends]) {
    for (const how of ['afterCrash', 'afterKill'] as const) {
      const engine = await make(cutAt, seed)
      const look = await judge(engine)
      await look(need(engine.crash)[how]())
    }
  }
}

/** Runs `work` until it is done or the power is cut. */
export async function untilCut(work: () => Promise<void>): Promise<void> {
  await work().catch((error: unknown) => {
    if (!(error instanceof PowerCut)) throw error
  })
}
