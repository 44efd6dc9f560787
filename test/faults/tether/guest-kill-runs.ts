import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { systemClock } from '../../../src/host/clock.ts'
import type { LongProcess } from '../../../src/host/sandbox/sandbox.ts'
import { wait } from '../../../src/host/wait.ts'
import type { WholeEvent } from '../../../src/model/events/event.ts'
import { openReader } from '../../../src/log/reader.ts'
import { verifyLog } from '../../../src/log/verify.ts'
import { LiveHistory } from '../../../src/request/live-history.ts'
import { listSessions } from '../../../src/session/queries/list.ts'
import { MessageBook } from '../../../src/tether/server/message-book.ts'
import type { FrameToHost } from '../../../src/model/tether/frame.ts'
import { guestProgram } from '../../support/cli/guest-bundle.ts'
import { instanceFolders, startGuest } from '../../support/tether/guest-program.ts'
import { envelope } from '../../support/tether/host-end.ts'
import { openPartsAt } from '../../support/session/harness-parts.ts'
import { value } from '../../support/log/story.ts'
import type { Random } from '../../support/host/random.ts'
import { continuationOffences } from '../support/continued-judge.ts'

/** The messages of a trial; each appends its name to a file, so that a command that runs twice is seen. */
const MESSAGES = ['m1', 'm2', 'm3'] as const

const textOf = (name: string) => `Run \`echo ${name} >> effects.txt\``

export interface GuestTrial {
  /** What each killed guest had sent last. */
  readonly killedAt: readonly string[]
  readonly violations: readonly string[]
  readonly evidence: GuestEvidence
}

/** What is known after a trial. */
export interface GuestEvidence {
  readonly frames: readonly FrameToHost[]
  readonly events: readonly WholeEvent[]
  /** The names in the file, in order. */
  readonly effects: readonly string[]
}

export class GuestKillRuns {
  readonly #folder: string
  readonly #random: Random
  /** How many frames a guest sends that is not killed. */
  #frames = 60
  #count = 0

  private constructor(folder: string, random: Random) {
    this.#folder = folder
    this.#random = random
  }

  static async prepare(folder: string, random: Random): Promise<GuestKillRuns> {
    return new GuestKillRuns(await mkdtemp(join(folder, 'guest-kill-')), random)
  }

  async clear(): Promise<void> {
    await rm(this.#folder, { recursive: true })
  }

  /** A quarter of the guests is killed while they start, the others some time after one of their frames. */
  #moment(): { readonly frames: number; readonly ms: number } {
    return this.#random.below(4) === 0
      ? { frames: 0, ms: this.#random.below(600) }
      : { frames: 1 + this.#random.below(this.#frames), ms: this.#random.below(60) }
  }

  /** Kills guests of one Instance at random moments, then lets one finish every message. */
  async trial(kills: number): Promise<GuestTrial> {
    const root = join(this.#folder, `${this.#count++}`)
    await mkdir(root, { mode: 0o700 })
    const book = new MessageBook(
      MESSAGES.map((name) => {
        const payload = { text: textOf(name) }
        return { ...envelope(name, 'default'), type: 'user.message', payload }
      }),
    )
    const frames: FrameToHost[] = []
    const killedAt: string[] = []
    const violations: string[] = []
    let arrived = () => {}
    const onFrame = (frame: FrameToHost) => {
      frames.push(frame)
      arrived()
    }
    const program = await guestProgram()
    while (killedAt.length < kills && book.unendedMessages.length > 0) {
      const moment = this.#moment()
      const before = frames.length
      let killed: Promise<void> | undefined
      const isDue = () =>
        frames.length >= before + moment.frames || book.unendedMessages.length === 0
      const launched = ({ pid, ending }: LongProcess) => {
        const due = new Promise<void>((resolve) => {
          arrived = () => void (isDue() && resolve())
          arrived()
        })
        killed = Promise.race([due, ending])
          .then(() => wait(systemClock, moment.ms))
          .then(() => void process.kill(pid, 'SIGKILL'))
      }
      const started = await startGuest({ root, program, book, onFrame, onLaunch: launched })
      await killed?.catch(() => {})
      if (started.ok) await started.value.host.ended
      else if (started.error.kind !== 'wake_failed') violations.push(started.error.message)
      killedAt.push(frames.length === before ? 'nothing' : (frames.at(-1)?.type ?? 'nothing'))
      if (violations.length > 0) break
    }
    const last = value(await startGuest({ root, program, book, onFrame }))
    await last.until(() => book.unendedMessages.length === 0)
    if (kills === 0) this.#frames = frames.length
    const { reason } = await last.host.stop()
    if (reason !== undefined) violations.push(`the last guest ended: ${reason.message}`)
    const evidence = await evidenceIn(root, frames)
    violations.push(...guestOffences(evidence), ...(await damageIn(root)))
    if (violations.length === 0) await rm(root, { recursive: true })
    const where = `${root}, killed after ${killedAt.join(', ')}`
    const named = violations.map((text) => `${where}: ${text}`)
    return { killedAt, evidence, violations: named }
  }
}

/** Why the messages did not run once and end once; empty if they did. */
export function guestOffences({ frames, events, effects }: GuestEvidence): string[] {
  return MESSAGES.flatMap((name) => {
    const turns = events.flatMap((e) =>
      e.type === 'turn_started' && e.data.source.message_key === name ? [e.turn_id] : [],
    )
    const own = events.filter(({ turn_id }) => turn_id === turns[0])
    const ends = own.flatMap((e) => (e.type === 'turn_ended' ? [e.data.status] : []))
    const results = own.flatMap((e) => (e.type === 'tool_result' ? [e.data.outcome] : []))
    const done = frames.filter(
      ({ type, in_reply_to }) =>
        in_reply_to === name && (type === 'assistant.done' || type === 'error'),
    )
    const told = done.flatMap((e) => (e.type === 'assistant.done' ? [e.payload.status] : []))
    const ran = effects.filter((one) => one === name).length
    const offence = (isWrong: boolean, what: string) => (isWrong ? [`${name}: ${what}`] : [])
    return [
      ...offence(turns.length !== 1, `${turns.length} Turns`),
      ...offence(ends.length !== 1, `${ends.length} ends in the Log`),
      ...offence(done.length !== 1, `${done.length} terminal frames`),
      ...offence(told[0] !== ends[0], `the frame says ${told[0]}, the Log ${ends[0]}`),
      ...offence(ran > 1, `ran ${ran} times`),
      ...offence(isShownBefore(name, frames), 'went on after it was shown'),
      ...continuationOffences(own, isShown(name, frames)).map((what) => `${name}: ${what}`),
      ...offence(results.includes('ok') && ran !== 1, 'its command has a result and no effect'),
      ...offence(ends[0] === 'completed' && ran !== 1, 'completed without its effect'),
    ]
  })
}

function isShown(name: string, frames: readonly FrameToHost[]): boolean {
  return frames.some(({ type, in_reply_to }) => type.endsWith('.delta') && in_reply_to === name)
}

/** A piece of its answer was passed on before it continued. */
function isShownBefore(name: string, frames: readonly FrameToHost[]): boolean {
  const went = frames.findLastIndex(
    (frame) =>
      frame.type === 'event.ack' &&
      frame.in_reply_to === name &&
      frame.payload.status === 'continued',
  )
  return isShown(name, frames.slice(0, Math.max(went, 0)))
}

async function evidenceIn(root: string, frames: readonly FrameToHost[]): Promise<GuestEvidence> {
  const text = await readFile(join(root, 'workspace/effects.txt'), 'utf8').catch(() => '')
  const effects = text.split('\n').filter((line) => line !== '')
  const { parts, close } = await logsIn(root)
  const events: WholeEvent[] = []
  for (const { id } of await listSessions(parts.log.place)) {
    const reader = value(await openReader(parts.log.place, id))
    const history = new LiveHistory(parts.log.store)
    await history.add(value(await reader.lines()).lines)
    events.push(...history.events)
    await reader.close()
  }
  await close()
  return { frames, events, effects }
}

/** One intact Session, which is not foreign to the guest. */
async function damageIn(root: string): Promise<string[]> {
  const { parts, close } = await logsIn(root)
  const listed = await listSessions(parts.log.place)
  const found = listed.length === 1 ? [] : [`${listed.length} Sessions`]
  for (const { id } of listed) {
    const { damage, torn_bytes, foreign } = value(await verifyLog(parts.log.place, id))
    if (damage !== undefined || torn_bytes > 0 || foreign) found.push(`${id} is not whole`)
  }
  await close()
  return found
}

async function logsIn(root: string) {
  const { workspace, ownHome } = await instanceFolders(root)
  return openPartsAt(workspace, ownHome, {}, 'inst_1')
}
