import { beforeAll, expect, test } from 'vitest'
import { freshFolder } from '../../support/host/folder.ts'
import { MOST_GROWTH, noiseOffences, type NoiseRecord } from './stream-noise-judge.ts'
import { NoiseRuns, PLANTED } from './stream-noise-runs.ts'
import type { ChildReport } from '../../support/host/child-report.ts'

let runs: NoiseRuns

beforeAll(async () => {
  runs = await NoiseRuns.prepare(await freshFolder())
})

test('noise harms no process: each Turn ends once, the next one works, and memory stays small', async () => {
  const { violations } = await runs.make({ seed: 1, count: 4, each: 4 })
  expect(violations).toEqual([])
})

const CAUGHT = { hoard: /it grew by \d+ MB/, reject: /ended with exit code 1/ } as const

test.each(PLANTED)('a child with the mistake %s is caught', async (planted) => {
  const run = { seed: 1, count: 1, each: 1, noises: ['cut'], planted }
  const { violations } = await runs.make(run)
  expect(violations).toContainEqual(expect.stringMatching(CAUGHT[planted]))
})

const CORRECT: NoiseRecord = {
  noise: {},
  reports: [
    { what: 'turn', status: 'completed' },
    { what: 'turn', status: 'failed', kind: 'invalid_response' },
    { what: 'memory', before: 1_000, peak: 2_000, after: 1_500 },
    { what: 'turn', status: 'completed' },
    { what: 'done' },
  ],
  ending: { code: 0, signal: null, complaint: '' },
  ends: [1, 1, 1],
  requests: [],
}

test('the judge finds no fault in a correct child', () => {
  expect(noiseOffences(CORRECT)).toEqual([])
  expect(noiseOffences({ ...CORRECT, noise: { ends: ['failed invalid_response'] } })).toEqual([])
})

const DEFECTS: [string, RegExp, NoiseRecord][] = [
  ['it crashed', /exit code 7/, { ...CORRECT, ending: { ...CORRECT.ending, code: 7 } }],
  [
    'it complained',
    /it complained/,
    { ...CORRECT, ending: { ...CORRECT.ending, complaint: 'a leak' } },
  ],
  ['a Turn has no end', /1,0,1 ends/, { ...CORRECT, ends: [1, 0, 1] }],
  ['a Turn has two ends', /1,2,1 ends/, { ...CORRECT, ends: [1, 2, 1] }],
  ['a Turn ended as a defect', /failed internal/, turned(1, 'failed', 'internal')],
  ['a Turn ended otherwise', /as failed/, { ...CORRECT, noise: { ends: ['completed'] } }],
  ['the next Turn failed', /the Turn after/, turned(3, 'failed', 'invalid_response')],
  ['it grew', /it grew by 51 MB/, grown(MOST_GROWTH + 1_000_000)],
  ['the Log proves nothing', /another/, { ...CORRECT, reports: [...CORRECT.reports, unproven()] }],
  ['a request was wrong', /no key/, { ...CORRECT, requests: ['no key'] }],
]

test.each(DEFECTS)('the judge finds that %s', (_, offence, record) => {
  expect(noiseOffences(record)).toContainEqual(expect.stringMatching(offence))
})

function turned(at: number, status: string, kind: string): NoiseRecord {
  return { ...CORRECT, reports: CORRECT.reports.with(at, { what: 'turn', status, kind }) }
}

function grown(bytes: number): NoiseRecord {
  return {
    ...CORRECT,
    reports: CORRECT.reports.with(2, { what: 'memory', before: 0, peak: bytes, after: 0 }),
  }
}

function unproven(): ChildReport {
  return { what: 'unproven', text: 'request 7 has another request_sha256' }
}
