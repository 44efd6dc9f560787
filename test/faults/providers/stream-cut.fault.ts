import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { VENDOR_DIALECTS } from '../../support/providers/dialects.ts'
import { memoryFolder } from '../../support/host/memory-folder.ts'
import { runFault, type Figure } from '../support/figure.ts'
import { cutAnswer } from './stream-cut-answer.ts'
import { bytewiseOffences, parserOffences, PARSERS } from './stream-cut-parser.ts'
import { endIsDone, PLANTED_PARSERS } from './stream-cut-planted.ts'
import { allCuts, runCuts, someCuts } from './stream-cut-runs.ts'

const STEP = 17
/** So that there are cuts after a complete answer and cuts after a cut. */
const WHOLE_AFTER = 2

await runFault(
  'answer cut at every byte',
  async () => undefined,
  async ({ seed, full }) => {
    const folder = await mkdtemp(join(await memoryFolder(), 'hawser-stream-cut-'))
    const turns = await cutTurns(folder, seed, full)
    const planted = [...caughtParsers(), await caughtProvider(folder)]
    if (turns.violations.length === 0) await rm(folder, { recursive: true })
    return [...VENDOR_DIALECTS.map(inTheParser), turns, ...planted]
  },
)

function inTheParser(dialect: (typeof VENDOR_DIALECTS)[number]): Figure {
  const answer = cutAnswer(dialect)
  const parser = PARSERS[dialect]
  const violations = [...parserOffences(answer, parser), ...bytewiseOffences(answer, parser)]
  return {
    test: `${dialect}: parser, cut after every byte`,
    n: answer.bytes.length + 1,
    violations,
  }
}

async function cutTurns(folder: string, seed: number, full: boolean): Promise<Figure> {
  const runs = await Promise.all(
    VENDOR_DIALECTS.map(async (dialect) => {
      const cuts = full ? allCuts(dialect) : someCuts(dialect, STEP, seed % STEP)
      const violations = await runCuts({ dialect, cuts, folder, wholeAfter: WHOLE_AFTER })
      return { violations, cuts }
    }),
  )
  const cuts = runs.flatMap((run) => run.cuts)
  return {
    test: full ? 'Turns with an answer cut after every byte' : 'Turns with a cut answer',
    n: cuts.length,
    violations: runs.flatMap(({ violations }) => violations),
    more: {
      broken: cuts.filter(({ how }) => how === 'broken').length,
      ended: cuts.filter(({ how }) => how === 'ended').length,
      retried: cuts.filter(({ retries }) => retries > 0).length,
    },
  }
}

function caughtParsers(): Figure[] {
  return Object.entries(PLANTED_PARSERS).map(([name, plant]) => {
    const missed = VENDOR_DIALECTS.filter(
      (dialect) => parserOffences(cutAnswer(dialect), plant(PARSERS[dialect]), 1).length === 0,
    )
    const violations = missed.map((dialect) => `not caught in ${dialect}`)
    return { test: `planted ${name} is caught`, n: VENDOR_DIALECTS.length, violations }
  })
}

async function caughtProvider(folder: string): Promise<Figure> {
  const missed: string[] = []
  for (const dialect of VENDOR_DIALECTS) {
    const own = await mkdtemp(join(folder, 'planted-'))
    const cuts = someCuts(dialect, 400, 100)
    const found = await runCuts({ dialect, cuts, folder: own, planted: endIsDone })
    await rm(own, { recursive: true })
    if (found.length === 0) missed.push(`not caught in ${dialect}`)
  }
  return { test: 'planted end_is_done is caught', n: VENDOR_DIALECTS.length, violations: missed }
}
