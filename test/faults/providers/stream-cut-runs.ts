import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Provider } from '../../../src/providers/provider.ts'
import type { VendorDialect } from '../../support/providers/vendor-schemas.ts'
import { cutAnswer, type CutAnswer } from './stream-cut-answer.ts'
import { cutOffences, type Cut, type Evidence } from './stream-cut-judge.ts'
import { openCutScene } from './stream-cut-scene.ts'

export interface CutRun {
  readonly dialect: VendorDialect
  readonly cuts: readonly Cut[]
  /** After this many of them comes a Turn with a complete answer. */
  readonly wholeAfter?: number
  /** The parent of everything created; it is removed, except where a violation was found. */
  readonly folder: string
  /** Makes a mistake on purpose. */
  readonly planted?: (provider: Provider) => Provider
  readonly note?: (evidence: Evidence) => void
}

/** A Session is abandoned after this many cuts, and a place after this many Sessions, because both grow. */
const CUTS_A_SESSION = 24
const SESSIONS_A_PLACE = 20

/** Turns whose answers are cut, each followed by one whose answer is not, over real sockets and on a real disk. */
export async function runCuts(run: CutRun): Promise<string[]> {
  const { dialect, cuts, wholeAfter = 1, folder, planted, note = () => {} } = run
  const answer = cutAnswer(dialect)
  const violations: string[] = []
  const alike = [0, 1].map((retries) => cuts.filter((cut) => cut.retries === retries))
  for (const some of alike.flatMap((own) => inGroups(own, CUTS_A_SESSION * SESSIONS_A_PLACE))) {
    const root = await mkdtemp(join(folder, 'stream-cut-'))
    const retries = some[0]?.retries ?? 0
    const scene = await openCutScene(root, { answer, retries, wholeAfter, planted })
    const found: string[] = []
    for (const group of inGroups(some, CUTS_A_SESSION)) {
      const { turns, wrong } = await scene.session(group)
      found.push(...turns.flatMap(cutOffences), ...wrong)
      turns.forEach(note)
    }
    found.push(...(await scene.close()))
    if (found.length === 0) await rm(root, { recursive: true })
    violations.push(...found.map((text) => `${root}: ${text}`))
  }
  return violations
}

/** How far beyond the first output to try cuts with retries: there must be none. */
const BEYOND = 200

/** Every byte, in both ways. */
export function allCuts(dialect: VendorDialect): Cut[] {
  const answer = cutAnswer(dialect)
  const places = Array.from({ length: answer.bytes.length + 1 }, (_, at) => at)
  return places.flatMap((at) => HOW.flatMap((how) => tries(answer, at, how)))
}

/** Every `step`th byte, alternating between both ways, and around each byte that completes output. */
export function someCuts(dialect: VendorDialect, step: number, first: number): Cut[] {
  const answer = cutAnswer(dialect)
  const { bytes, steps } = answer
  const count = Math.ceil((bytes.length - first) / step)
  const places = Array.from({ length: count }, (_, i) => first + i * step)
  const edges = [...steps.flatMap((at) => [at - 1, at]), bytes.length]
  return [
    ...places.flatMap((at, i) => tries(answer, at, i % 2 === 0 ? 'broken' : 'ended')),
    ...edges.flatMap((at) => HOW.flatMap((how) => tries(answer, at, how))),
  ]
}

const HOW = ['broken', 'ended'] as const

function tries({ firstShown }: CutAnswer, bytes: number, how: Cut['how']): Cut[] {
  const once: Cut = { bytes, how, retries: 0 }
  return bytes < firstShown + BEYOND ? [once, { ...once, retries: 1 }] : [once]
}

function inGroups<T>(all: readonly T[], size: number): T[][] {
  const count = Math.ceil(all.length / size)
  return Array.from({ length: count }, (_, i) => all.slice(i * size, (i + 1) * size))
}
