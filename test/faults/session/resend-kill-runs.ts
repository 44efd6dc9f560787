import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { openReader } from '../../../src/log/reader.ts'
import { verifyLog } from '../../../src/log/verify.ts'
import type { WholeEvent } from '../../../src/model/events/event.ts'
import type { SessionId } from '../../../src/model/ids.ts'
import { LiveHistory } from '../../../src/request/live-history.ts'
import { verifyRequests } from '../../../src/session/queries/verify-requests.ts'
import { bundleScript } from '../../support/host/bundle-script.ts'
import { value } from '../../support/log/story.ts'
import { startChild } from '../support/child.ts'
import { continuationOffences, isContinued } from '../support/continued-judge.ts'
import {
  actionsIn,
  nextRequest,
  openScene,
  prepareWorkspace,
  type Action,
  type Deaths,
  type Moment,
} from './turn-kill-scene.ts'

/** What is known after all processes of a message. */
export interface ResendEvidence {
  readonly events: readonly WholeEvent[]
  readonly actions: readonly Action[]
}

export interface ResendTrial {
  /** False if the last process that should die completed. */
  readonly died: boolean
  readonly evidence: ResendEvidence
  readonly violations: readonly string[]
}

/** Killed at the first piece of an answer, before anything was shown. */
const SILENT = { at: 'answer', n: 1 } as const
const MOMENTS = ['line', 'answer', 'run', 'ran', 'write', 'half', 'written'] as const
const KEY = 'm1'
const LAST = { at: 'never', n: 1 } as const

/** One message that is given to process after process, all but the last of which are killed. */
export class ResendKillRuns {
  readonly #folder: string
  readonly #script: string
  #count = 0

  private constructor(folder: string, script: string) {
    this.#folder = folder
    this.#script = script
  }

  static async prepare(folder: string): Promise<ResendKillRuns> {
    const own = await mkdtemp(join(folder, 'resend-kill-'))
    const script = await bundleScript(new URL('turn-kill-child.ts', import.meta.url), own)
    return new ResendKillRuns(own, script)
  }

  async clear(): Promise<void> {
    await rm(this.#folder, { recursive: true })
  }

  /** At every moment of the first process, and then of one that continues; without `full`, at the first of each kind. */
  async kill(full: boolean): Promise<{ violations: string[]; trials: number; resent: number }> {
    const sum = { violations: [] as string[], trials: 0, resent: 0 }
    for (const before of [[], [SILENT], [SILENT, SILENT]] satisfies Deaths[])
      for (const at of MOMENTS)
        for (let n = 1, most = full ? Infinity : QUICK; n <= most; n += 1) {
          const trial = await this.trial([...before, { at, n }])
          if (!trial.died) most = n
          sum.trials += 1
          sum.violations.push(...trial.violations)
          sum.resent += trial.evidence.events.filter(isContinued).length
        }
    return sum
  }

  async trial(deaths: Deaths, careless = false): Promise<ResendTrial> {
    const root = join(this.#folder, `${this.#count++}`)
    await mkdir(root, { mode: 0o700 })
    await prepareWorkspace(root)
    let session: SessionId | undefined
    let died = true
    const run = async (moment: Moment, by: number) => {
      const order = { root, by, text: nextRequest(0), session, moment, twice: false, key: KEY }
      const child = startChild(this.#script, { ...order, careless }, { note: () => {} })
      const { code, signal, complaint } = await child.ended
      const opened = child.reports.find(({ what }) => what === 'opened')
      session ??= opened?.what === 'opened' ? opened.session : undefined
      if (signal !== 'SIGKILL' && code !== 0) throw new Error(complaint)
      return signal === 'SIGKILL'
    }
    for (const [by, moment] of deaths.entries()) died = await run(moment, by)
    await run(LAST, deaths.length)
    if (session === undefined) throw new Error('no process created a Session')
    const { evidence, damage } = await evidenceIn(root, session)
    const found = [...damage, ...resendOffences(evidence)]
    if (found.length === 0) await rm(root, { recursive: true })
    const where = `${root}, ${deaths.map(({ at, n }) => `${at} ${n}`).join(', then ')}`
    return { died, evidence, violations: found.map((text) => `${where}: ${text}`) }
  }
}

const QUICK = 2

/** Why the message did not run once and end once, or was sent again although it must not be, or was not. */
export function resendOffences({ events, actions }: ResendEvidence): string[] {
  // The write of a Turn and its message may be cut between the two. Then there was no message.
  const turns = events.flatMap(({ type, turn_id }, at) =>
    type === 'turn_started' && events[at + 1]?.type === 'user_message' ? [turn_id] : [],
  )
  const own = events.filter(({ turn_id }) => turn_id !== undefined && turn_id === turns[0])
  const ends = own.filter(({ type }) => type === 'turn_ended')
  const resent = own.filter((e) => e.type === 'notice' && e.data.code === 'resent_after_crash')
  const again = actions.flatMap((action, at) => {
    const before = actions.slice(0, at)
    const isAgain = before.some(({ what, of }) => what === 'sent' && of === action.of)
    return action.what === 'sent' && isAgain ? [before] : []
  })
  const ran = new Map<string, number>()
  for (const { what, of } of actions) if (what === 'start') ran.set(of, (ran.get(of) ?? 0) + 1)
  const offence = (isWrong: boolean, what: string) => (isWrong ? [what] : [])
  const isShown = actions.some(({ what }) => what === 'shown')
  return [
    ...offence(turns.length !== 1, `${turns.length} Turns`),
    ...offence(ends.length !== 1, `${ends.length} ends`),
    ...offence(again.length > resent.length, `sent again ${again.length} times without a notice`),
    ...offence(
      again.some((before) => before.some(({ what }) => what === 'shown')),
      'sent again after it was shown',
    ),
    ...offence(
      again.some((before) => before.some(({ what }) => what === 'start')),
      'sent again after a tool ran',
    ),
    ...[...ran].flatMap(([key, times]) => offence(times > 1, `ran ${times} times: ${key}`)),
    ...continuationOffences(own, isShown),
  ]
}

async function evidenceIn(
  root: string,
  session: SessionId,
): Promise<{ readonly evidence: ResendEvidence; readonly damage: readonly string[] }> {
  const { parts, close } = await openScene(root, { by: -1 })
  const verdict = value(await verifyLog(parts.log.place, session))
  const { damage, torn_bytes, foreign } = verdict
  const isWhole = damage === undefined && torn_bytes === 0 && !foreign
  const reader = value(await openReader(parts.log.place, session))
  const history = new LiveHistory(parts.log.store)
  await history.add(value(await reader.lines()).lines)
  await reader.close()
  const { mismatches } = value(await verifyRequests(parts, history.events))
  await close()
  return {
    evidence: { events: history.events, actions: await actionsIn(root) },
    damage: [
      ...(isWhole ? [] : ['the Log is not whole']),
      ...mismatches.map(({ seq, what }) => `request ${seq} has another ${what}`),
    ],
  }
}
