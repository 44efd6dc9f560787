import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Harness } from '../../../src/session/harness.ts'
import { wait } from '../../../src/host/wait.ts'
import { systemClock } from '../../../src/host/clock.ts'
import { ok } from '../../../src/model/errors.ts'
import { bundleScript } from '../../support/host/bundle-script.ts'
import { random, type Random } from '../../support/host/random.ts'
import { value } from '../../support/log/story.ts'
import { buildPdf } from '../../support/resources/build-pdf.ts'
import { picture } from '../../support/resources/drawing.ts'
import {
  laterHarness,
  leftAfterAll,
  unlikeWritten,
  unmentionedBlobs,
} from '../../support/session/family-check.ts'
import { openParts } from '../../support/session/harness-parts.ts'
import { startChild, type Child } from '../support/child.ts'

const PROCESSES = 3
const BEGIN = { provider: 'rehearsal', model: 'rehearsal', permissionMode: 'auto' } as const

export interface FamilyRace {
  readonly seed: number
  readonly rounds: number
  /** Of each process in a round. */
  readonly acts: number
  /** The most time until one of the processes of a round is killed; `undefined` kills none. */
  readonly killWithinMs: number | undefined
  readonly folder: string
}

export interface FamilyRaces {
  readonly violations: string[]
  /** How many acts were done, by name. */
  readonly done: Readonly<Record<string, number>>
  readonly refused: number
  readonly killed: number
}

/** Processes fork, rewind, write to, delete and sweep the Sessions of one workspace at the same time. */
export async function raceFamilies(race: FamilyRace): Promise<FamilyRaces> {
  const { seed, rounds, folder } = race
  const chance = random(seed)
  const root = await mkdtemp(join(folder, 'families-'))
  const script = await bundleScript(new URL('family-race-child.ts', import.meta.url), root)
  const sum = {
    violations: [] as string[],
    done: {} as Record<string, number>,
    refused: 0,
    killed: 0,
  }
  for (let round = 0; round < rounds; round += 1) {
    const place = join(root, `round-${round}`)
    await mkdir(place, { mode: 0o700 })
    await prepare(place)
    const children = Array.from({ length: PROCESSES }, () =>
      startChild(script, { root: place, seed: chance.below(1_000_000), acts: race.acts }),
    )
    const victim = await raceOnce(children, chance, race.killWithinMs)
    sum.violations.push(...(await offencesOf(children, victim)))
    if (victim !== undefined && (await victim.ended).signal === 'SIGKILL') sum.killed += 1
    for (const report of children.flatMap(({ reports }) => reports)) {
      if (report.what !== 'act') continue
      if (report.isDone) sum.done[report.name] = (sum.done[report.name] ?? 0) + 1
      else sum.refused += 1
    }
    const judged = await judge(place)
    sum.violations.push(...judged.map((text) => `round ${round}: ${text}`))
    if (judged.length === 0) await rm(place, { recursive: true })
  }
  if (sum.violations.length === 0) await rm(root, { recursive: true })
  return sum
}

/** A Session with two Turns, of each kind of Resource one. */
async function prepare(place: string): Promise<void> {
  const { parts, close } = await openParts(place)
  const session = value(await new Harness(parts).create(BEGIN))
  const attachments = [
    { from: 'bytes', name: 'harbour.png', bytes: picture(7) },
    { from: 'bytes', name: 'tides.pdf', bytes: buildPdf(['high water at noon']) },
    { from: 'bytes', name: 'crew.txt', bytes: Buffer.from('Jan\nPiet\n') },
  ] as const
  value(await value(await session.admit('What do you see?', { attachments })).done)
  value(await value(await session.admit('Write "one" to f0.txt')).done)
  await session.close()
  await close()
}

/** Starts all at once. Returns the process that was killed, if it was not done before. */
async function raceOnce(
  children: readonly Child[],
  chance: Random,
  killWithinMs: number | undefined,
): Promise<Child | undefined> {
  await Promise.all(children.map((child) => child.waitFor(({ what }) => what === 'ready')))
  for (const child of children) child.send('go')
  if (killWithinMs === undefined) {
    await Promise.all(children.map(({ ended }) => ended))
    return undefined
  }
  const victim = chance.pick(children)
  await wait(systemClock, chance.below(killWithinMs))
  await victim.kill()
  await Promise.all(children.map(({ ended }) => ended))
  return victim
}

async function offencesOf(
  children: readonly Child[],
  victim: Child | undefined,
): Promise<string[]> {
  const offences: string[] = []
  for (const child of children) {
    const { code, signal, complaint } = await child.ended
    if (child !== victim && (code !== 0 || complaint !== ''))
      offences.push(`a process ended with ${code ?? signal}: ${complaint}`)
    for (const report of child.reports) if (report.what === 'offence') offences.push(report.text)
  }
  return offences
}

async function judge(place: string): Promise<string[]> {
  const { parts, close } = await openParts(place)
  try {
    const harness = new Harness(parts)
    const before = await unlikeWritten(harness)
    if (before.length > 0) return before
    // What a killed process left is repaired by the next writer.
    for (const { id } of await harness.list()) {
      const session = value(await harness.open(id))
      value(await session.between(async () => ok(undefined)))
      await session.close()
    }
    value(await laterHarness(parts).gc({ dryRun: false }))
    const after = [...(await unlikeWritten(harness)), ...(await unmentionedBlobs(parts))]
    return after.length > 0 ? after : await leftAfterAll(parts)
  } finally {
    await close()
  }
}
