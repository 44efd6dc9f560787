import type { Folder } from '../../../src/host/files/files.ts'
import type { Result } from '../../../src/model/errors.ts'
import type { Frame } from '../../../src/model/tether/frame.ts'
import type { FrameLog } from '../../../src/tether/frames/frame-log.ts'
import type { ChildReport } from '../host/child-report.ts'
import { allFrames, openFrames, SMALL } from './frame-log-place.ts'
import { delta, done, presence, userMessage } from './frames.ts'
import { value } from '../log/story.ts'

/** What was submitted to frame logs and what became known; kept outside the disk. */
export class FrameJournal {
  /** Messages whose answer was submitted. */
  readonly ending = new Set<string>()
  readonly ended = new Set<string>()
  readonly submitted = new Set<string>()
  /** The number of each acknowledged message. */
  readonly accepted = new Map<string, number>()
  /** What each number that anyone saw means. */
  readonly seen = new Map<number, string>()
  /** Frames that were acknowledged as durable. */
  readonly durable = new Map<number, string>()
  readonly offences: string[] = []
  #highest = 0
  /** Numbers up to this one were seen before the log was opened. */
  #before = 0

  /** The log was opened. */
  begin(): void {
    this.#before = this.#highest
  }

  /** A number was issued, or a frame was read. */
  see(seq: number, name: string, how: 'issued' | 'read'): void {
    const known = this.seen.get(seq)
    if (known !== undefined && known !== name) this.offences.push(`${seq} is ${known} and ${name}`)
    if (how === 'issued' && seq <= this.#before)
      this.offences.push(`${seq} was issued after ${this.#before}`)
    this.seen.set(seq, name)
    this.#highest = Math.max(this.#highest, seq)
  }

  /** Takes a report of another process into account. */
  note({ how, seq, type, name, replyTo }: Extract<ChildReport, { what: 'frame' }>): void {
    const isEnd = type === 'assistant.done' && replyTo !== undefined
    if (how === 'submitted' && type === 'user.message') this.submitted.add(name)
    if (how === 'submitted' && isEnd) this.ending.add(replyTo)
    if (how === 'submitted') return
    this.see(seq, nameOf({ type, msg_id: name }), how)
    if (how === 'read') return
    if (!type.endsWith('.delta')) this.durable.set(seq, nameOf({ type, msg_id: name }))
    if (type === 'user.message') this.accepted.set(name, seq)
    if (isEnd) this.ended.add(replyTo)
  }

  /** Compares a log with everything that was acknowledged. */
  judge(frames: readonly Frame[], pending: readonly Frame[], firstAvailable: number): void {
    const found = new Map(frames.map((frame) => [frame.seq, nameOf(frame)]))
    let last = 0
    for (const { seq } of frames) {
      if (seq <= last) this.offences.push(`${seq} follows ${last}`)
      last = seq
    }
    for (const [seq, name] of found) this.see(seq, name, 'read')
    for (const [seq, name] of this.durable)
      if (seq >= firstAvailable && found.get(seq) !== name)
        this.offences.push(`${name} (${seq}) is lost`)
    const open = pending.map(({ msg_id }) => msg_id)
    for (const name of this.accepted.keys()) {
      if (this.ended.has(name) && open.includes(name)) this.offences.push(`${name} is open again`)
      if (!this.ending.has(name) && !open.includes(name)) this.offences.push(`${name} is not open`)
    }
    for (const name of open)
      if (!this.submitted.has(name)) this.offences.push(`${name} was never sent`)
    const order = pending.map(({ seq }) => seq)
    if (order.some((seq, i) => seq <= (order[i - 1] ?? 0)))
      this.offences.push('pending messages are not in order')
  }
}

function nameOf({ type, msg_id }: { readonly type: string; readonly msg_id: string }): string {
  return `${type} ${msg_id}`
}

/** The story on files in a folder. */
export function runFrameStory(
  folder: Folder,
  journal: FrameJournal,
  name: string,
  rounds = 8,
): Promise<void> {
  return runStoryOfFrames(() => openFrames(folder), journal, name, rounds)
}

/** Opens a log, checks it, and works with it for some rounds: several files, ranges and deletions. */
export async function runStoryOfFrames(
  open: () => Promise<Result<FrameLog>>,
  journal: FrameJournal,
  name: string,
  rounds: number,
): Promise<void> {
  const log = value(await open())
  journal.begin()
  await check(log, journal)
  for (let round = 0; round < rounds; round++) {
    const own = (what: string) => `${name}-${round}-${what}`
    await Promise.all([
      send(log, journal, own('a')),
      send(log, journal, own('b')),
      stream(log, journal, own('a')),
    ])
    await stream(log, journal, own('a'))
    await Promise.all([end(log, journal, own('a')), send(log, journal, own('a'))])
    if (round % 2 === 1) await end(log, journal, `${name}-${round - 1}-b`)
    for (const frame of value(await log.poll({ before_seq: log.newest + 1 })).frames)
      journal.see(frame.seq, nameOf(frame), 'read')
  }
  await check(log, journal)
  await log.close()
}

async function check(log: FrameLog, journal: FrameJournal): Promise<void> {
  if (log.damage !== undefined) journal.offences.push(log.damage.error.message)
  journal.judge(await allFrames(log, 200), log.pending(), log.firstAvailable)
  for (const [name, seq] of journal.accepted) {
    const again = value(await log.append(userMessage(name)))
    if (again.seq !== seq || again.repeated !== true)
      journal.offences.push(`${name} was stored twice`)
  }
}

async function send(log: FrameLog, journal: FrameJournal, name: string): Promise<void> {
  journal.submitted.add(name)
  const frame = userMessage(name)
  const { seq, repeated } = value(await log.append(frame))
  if (repeated !== true) journal.see(seq, nameOf(frame), 'issued')
  journal.durable.set(seq, nameOf(frame))
  journal.accepted.set(name, seq)
}

async function stream(log: FrameLog, journal: FrameJournal, name: string): Promise<void> {
  for (let i = 0; i < SMALL.reserve / 2; i++) {
    const frame = delta(`${name}-d${i}-${journal.seen.size}`, name)
    journal.see(value(await log.append(frame)).seq, nameOf(frame), 'issued')
  }
  const thinking = presence(`${name}-p-${journal.seen.size}`, name)
  const { seq } = value(await log.append(thinking))
  journal.see(seq, nameOf(thinking), 'issued')
  journal.durable.set(seq, nameOf(thinking))
}

async function end(log: FrameLog, journal: FrameJournal, name: string): Promise<void> {
  journal.ending.add(name)
  const frame = done(`${name}-end`, name)
  const { seq } = value(await log.append(frame))
  journal.ended.add(name)
  journal.see(seq, nameOf(frame), 'issued')
  journal.durable.set(seq, nameOf(frame))
}
