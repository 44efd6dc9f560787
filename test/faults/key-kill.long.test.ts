import { beforeAll, expect, test } from 'vitest'
import { freshFolder } from '../support/folder.ts'
import { KeyKillRuns, type KeyTrial } from './key-kill-runs.ts'

let runs: KeyKillRuns

beforeAll(async () => {
  runs = await KeyKillRuns.prepare(await freshFolder())
})

/** Expects no violation, and kills of every kind, before and after the message was recorded. */
function expectOnce(trials: readonly KeyTrial[]): void {
  expect(trials.flatMap(({ violations }) => violations)).toEqual([])
  const killed = trials.filter(({ kills }) => kills.length > 0)
  expect(new Set(killed.map(({ recorded }) => recorded))).toEqual(new Set([true, false]))
  const steps = new Set(killed.flatMap(({ kills }) => kills))
  for (const step of STEPS) expect(steps).toContain(step)
}

const STEPS = [
  'log: before write',
  'log: half of write',
  'log: after write',
  'log: after sync data',
  'head: after rename',
  'blob: before sync folder',
  'answer',
  'run',
  'ran',
  'line',
  'admitted',
  'done',
]

test('a message with a key runs once in a new Session, wherever its process is killed', async () => {
  expectOnce(await runs.everyStep('new'))
}, 900_000)

test('a message with a key runs once in a resumed Session, wherever its process is killed', async () => {
  expectOnce(await runs.everyStep('resumed'))
}, 900_000)
