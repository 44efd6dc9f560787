import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { turnResult, type TurnResult } from '../../../src/history/results/turn-result.ts'
import type { WholeEvent } from '../../../src/model/events/event.ts'
import type { SessionId, TurnId } from '../../../src/model/ids.ts'
import { openReader } from '../../../src/log/reader.ts'
import { verifyLog } from '../../../src/log/verify.ts'
import { Harness } from '../../../src/session/harness.ts'
import { LiveHistory } from '../../../src/request/live-history.ts'
import { bundleScript } from '../../support/host/bundle-script.ts'
import { openParts } from '../../support/session/harness-parts.ts'
import { value } from '../../support/log/story.ts'
import { startChild } from '../support/child.ts'
import { Ledger } from '../../support/host/child-report.ts'
import { answersIn, killsIn, MESSAGE, type KeyAnswer } from './key-kill-scene.ts'
import { actionsIn, prepareWorkspace, type Action } from './turn-kill-scene.ts'

/** The numbers of the steps at which the first processes are killed; two more processes follow and complete. */
export type KillSteps = readonly number[]

/** `new`: the first process creates the Session. `resumed`: the Session exists and has a Turn. */
export type Origin = 'new' | 'resumed'

export interface KeyTrial {
  /** The names of the steps; fewer than requested if a process completed. */
  readonly kills: readonly string[]
  /** Whether the message was in the Log after the last kill. */
  readonly recorded: boolean
  readonly evidence: KeyEvidence
  readonly violations: readonly string[]
}

/** What is known after a trial. */
export interface KeyEvidence {
  /** The Turns that have the message after the last kill. */
  readonly before: readonly TurnId[]
  readonly events: readonly WholeEvent[]
  readonly answers: readonly KeyAnswer[]
  readonly actions: readonly Action[]
  /** The processes that were not killed. */
  readonly survivors: readonly number[]
}

export class KeyKillRuns {
  readonly #folder: string
  readonly #script: string
  #count = 0

  private constructor(folder: string, script: string) {
    this.#folder = folder
    this.#script = script
  }

  static async prepare(folder: string): Promise<KeyKillRuns> {
    const own = await mkdtemp(join(folder, 'key-kill-'))
    const script = await bundleScript(new URL('key-kill-child.ts', import.meta.url), own)
    return new KeyKillRuns(own, script)
  }

  /** Kills in turn at every step of the process, or at one of `each`. */
  async everyStep(origin: Origin, each = 1): Promise<KeyTrial[]> {
    const trials: KeyTrial[] = []
    let at = 1 - each
    let isOver = false
    const lane = async () => {
      while (!isOver) {
        at += each
        const trial = await this.trial(origin, [at])
        trials.push(trial)
        isOver ||= trial.kills.length === 0
      }
    }
    await Promise.all([lane(), lane()])
    return trials
  }

  /** Deletes all files of the runs. */
  async clear(): Promise<void> {
    await rm(this.#folder, { recursive: true })
  }

  async trial(origin: Origin, killSteps: KillSteps): Promise<KeyTrial> {
    const root = join(this.#folder, `${this.#count++}`)
    await mkdir(root, { mode: 0o700 })
    await prepareWorkspace(root)
    const ledger = new Ledger()
    const violations: string[] = []
    let session = origin === 'new' ? undefined : await oldSession(root)
    const run = async (by: number, killAt?: number) => {
      const order = { root, by, session, killAt }
      const child = startChild(this.#script, order, { note: (report) => ledger.note(report) })
      const { code, signal, complaint } = await child.ended
      if (signal !== 'SIGKILL' && code !== 0) violations.push(`process ${by} failed: ${complaint}`)
      const opened = child.reports.find(({ what }) => what === 'opened')
      session ??= opened?.what === 'opened' ? opened.session : undefined
      if (session === undefined) throw new Error(`no Session was created: ${complaint}`)
      return session
    }
    let before: TurnId[] = []
    for (const [by, killAt] of killSteps.entries()) {
      before = turnsWithMessage(await eventsIn(root, await run(by, killAt)))
    }
    const survivors = [killSteps.length, killSteps.length + 1]
    for (const by of survivors) await run(by)
    if (session === undefined) throw new Error('no process created a Session')
    const events = await eventsIn(root, session)
    const [answers, actions] = [await answersIn(root), await actionsIn(root)]
    const evidence = { before, events, answers, actions, survivors }
    violations.push(
      ...keyOffences(evidence),
      ...[...(ledger.sessions.get(session) ?? [])]
        .filter(([seq]) => !events.some((event) => event.seq === seq))
        .map(([seq]) => `line ${seq} was durable and is lost`),
      ...(await damageIn(root, session)),
    )
    const kills = await killsIn(root)
    const where = `${root}, ${origin}, killed at ${kills.join(', then ')}`
    if (violations.length === 0) await rm(root, { recursive: true })
    const named = violations.map((text) => `${where}: ${text}`)
    return { kills, recorded: before.length > 0, evidence, violations: named }
  }
}

/** Why the message did not run exactly once; empty if it did. */
export function keyOffences(evidence: KeyEvidence): string[] {
  const { before, events, answers, actions, survivors } = evidence
  const having = turnsWithMessage(events)
  const [only] = having
  const started = events.flatMap((e) => (e.type === 'turn_started' ? [e.turn_id] : []))
  const endsOf = (turn: TurnId | undefined) =>
    events.flatMap((e) => (e.type === 'turn_ended' && e.turn_id === turn ? [e.data] : []))
  const effects = actions.filter(({ what }) => what === 'start').length
  return [
    ...(having.length === 1 ? [] : [`${having.length} Turns have the message`]),
    ...(before.every((turn) => turn === only) ? [] : ['the recorded Turn is not the one that ran']),
    ...started.flatMap((turn) =>
      endsOf(turn).length === 1 ? [] : [`${turn} has ${endsOf(turn).length} ends`],
    ),
    ...(effects > 1 ? [`the tool ran ${effects} times`] : []),
    ...survivors.flatMap((by, at) => {
      const answer = answers.find((one) => one.by === by)
      const isFirst = at === 0 && before.length === 0
      const ended = only === undefined ? undefined : turnResult(events, only)
      return answerOffences(by, answer, { turn: only, ended, isFirst })
    }),
  ]
}

interface Expected {
  readonly turn: TurnId | undefined
  readonly ended: TurnResult | undefined
  /** No Turn has the message yet, so this process runs it. */
  readonly isFirst: boolean
}

function answerOffences(
  by: number,
  answer: KeyAnswer | undefined,
  { turn, ended, isFirst }: Expected,
): string[] {
  if (answer === undefined) return [`process ${by} has no answer`]
  const isEnd = isDeepStrictEqual(answer.ended, JSON.parse(JSON.stringify(ended ?? null)))
  return [
    ...(answer.turn === turn ? [] : [`process ${by} names another Turn`]),
    ...(isEnd ? [] : [`process ${by} names another end`]),
    ...(answer.repeated === !isFirst ? [] : [`process ${by}: repeated is ${answer.repeated}`]),
    ...(isFirst && ended?.status !== 'completed' ? ['the message did not run to its end'] : []),
  ]
}

/** Turns that have the message with the key. */
function turnsWithMessage(events: readonly WholeEvent[]): TurnId[] {
  const keyed = new Set(
    events.flatMap((e) =>
      e.type === 'turn_started' && e.data.source.message_key === MESSAGE.key ? [e.turn_id] : [],
    ),
  )
  return events.flatMap(({ type, turn_id }) =>
    type === 'user_message' && turn_id !== undefined && keyed.has(turn_id) ? [turn_id] : [],
  )
}

async function oldSession(root: string): Promise<SessionId> {
  const { parts, close } = await openParts(root)
  const options = { provider: 'rehearsal', model: 'rehearsal', permissionMode: 'auto' } as const
  const session = value(await new Harness(parts).create(options))
  value(await value(await session.admit('Hello', { messageKey: 'message 0' })).done)
  await session.close()
  await close()
  return session.id
}

/** All whole lines, without repairing anything. */
async function eventsIn(root: string, session: SessionId): Promise<readonly WholeEvent[]> {
  const { parts, close } = await openParts(root)
  const reader = value(await openReader(parts.log.place, session))
  const history = new LiveHistory(parts.log.store)
  const { lines } = value(await reader.lines())
  await history.add(lines)
  await reader.close()
  await close()
  return history.events
}

async function damageIn(root: string, session: SessionId): Promise<string[]> {
  const { parts, close } = await openParts(root)
  const verdict = value(await verifyLog(parts.log.place, session))
  await close()
  const { damage, torn_bytes, foreign, unknown } = verdict
  const isWhole = damage === undefined && torn_bytes === 0 && !foreign && unknown === 0
  return isWhole ? [] : [`not whole after use: ${JSON.stringify(verdict)}`]
}
