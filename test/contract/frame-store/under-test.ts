import { expect } from 'vitest'
import type { Result } from '../../../src/model/errors.ts'
import { InstanceId } from '../../../src/model/ids.ts'
import type { FrameEntry, NamedEntry } from '../../../src/tether/frames/frame-entry.ts'
import type {
  CarriedMessages,
  FrameRetention,
  FrameStore,
  OpenFrames,
} from '../../../src/tether/frames/frame-store.ts'
import type { DiskFaults } from '../../support/host/crash-disk.ts'
import type { VirtualClock } from '../../support/host/virtual-clock.ts'
import { value } from '../../support/log/story.ts'
import type { FrameProgram } from './frame-program.ts'

/** A new, empty store, and what no caller can do to it. */
export interface FramesUnderTest {
  /** The store as a process sees it. */
  readonly store: FrameStore
  /** The same storage as another process sees it. */
  readonly other: FrameStore
  readonly clock: VirtualClock
  /** Changes a stored frame. */
  damage(instance: InstanceId, seq: number): Promise<void>
  /** The holder loses the frames without noticing. */
  seize(instance: InstanceId): Promise<void>
  /** What a store on a disk of the machine cannot do. */
  readonly ends?: Ends
  /** Starts a real process that uses the same frames. */
  readonly program?: () => FrameProgram
  /** What is cut off is kept in this storage, so some end must cut something off. */
  readonly tears?: true
  /** Another new, empty store of this kind. */
  renew(): Promise<FramesUnderTest>
  close(): Promise<void>
}

/** How processes and machines end. */
export interface Ends {
  /** The faults of the calls that follow. */
  injectFaults(faults: DiskFaults): void
  /** Ends all processes by a power cut or a kill; the next one sees this. */
  after(how: 'power' | 'kill', seed: number): FramesUnderTest
  readonly steps: () => number
}

export interface FrameCase {
  readonly title: string
  /** It needs `ends`. */
  readonly crashes?: true
  /** It needs `program`. */
  readonly processes?: true
  readonly run: (under: FramesUnderTest) => Promise<void>
}

export const ONE = InstanceId.parse(`ins_${'1'.repeat(26)}`)
export const TWO = InstanceId.parse(`ins_${'2'.repeat(26)}`)

/** Everything stays. */
export const AMPLE: FrameRetention = { fileBytes: 1e9, mostBytes: 2e9, mostAgeMs: 1e15 }
/** Few frames fill a step, and few steps are kept. */
export const SCARCE: FrameRetention = { fileBytes: 600, mostBytes: 2_400, mostAgeMs: 80_000 }

/** Frames that are open, and what was restored. */
export interface Held {
  readonly frames: OpenFrames
  readonly after: number
  readonly ended: CarriedMessages['ended']
  readonly carried: readonly NamedEntry[]
  readonly restored: readonly NamedEntry[]
}

export interface HoldOptions {
  readonly instance?: InstanceId
  readonly retention?: FrameRetention
  readonly messages?: () => CarriedMessages
}

const held = new Set<OpenFrames>()

/** Closes everything that a case left open. */
export async function closeHeld(): Promise<void> {
  for (const frames of held) await frames.close()
  held.clear()
}

export async function tryHold(
  store: FrameStore,
  { instance = ONE, retention = AMPLE, messages = () => NO_MESSAGES }: HoldOptions = {},
): Promise<Result<Held>> {
  let after: number | undefined
  let ended: CarriedMessages['ended'] | undefined
  const carried: NamedEntry[] = []
  const restored: NamedEntry[] = []
  const opened = await store.open(instance, {
    retention,
    messages,
    restore: {
      begin: (seq) => {
        expect(after, 'begin is called once').toBeUndefined()
        after = seq
      },
      ended: (all) => {
        expect([after !== undefined, ended], 'ended is called once').toEqual([true, undefined])
        ended = all
      },
      message: (one) => {
        expect(one.seq, 'messages are in order').toBeGreaterThan(carried.at(-1)?.seq ?? 0)
        carried.push(one)
      },
      frame: (one) => {
        expect(one.seq, 'frames are in order').toBeGreaterThan(
          restored.at(-1)?.seq ?? after ?? Infinity,
        )
        restored.push(one)
      },
    },
  })
  if (!opened.ok) return opened
  held.add(opened.value)
  if (after === undefined) throw new Error('begin was not called')
  return { ok: true, value: { frames: opened.value, after, ended: ended ?? [], carried, restored } }
}

export async function hold(store: FrameStore, options: HoldOptions = {}): Promise<Held> {
  return value(await tryHold(store, options))
}

const NO_MESSAGES: CarriedMessages = { waiting: [], ended: [] }

/** A frame with this number. */
export function entry(seq: number, words = `frame ${seq}`): NamedEntry {
  const session = { channel: 'host', id: 'default' }
  const frame = {
    v: 1,
    type: 'status.presence',
    session,
    msg_id: `m${seq}`,
    payload: { words },
    seq,
  }
  return {
    seq,
    type: frame.type,
    channel: session.channel,
    session: session.id,
    msgId: frame.msg_id,
    replyTo: undefined,
    text: JSON.stringify(frame),
  }
}

/** Appends frames with these numbers as one batch. */
export async function add(frames: OpenFrames, ...numbers: readonly number[]): Promise<void> {
  value(await frames.append({ first: numbers[0] ?? 0, entries: numbers.map((seq) => entry(seq)) }))
}

/** All frames above a number, by readings of a small budget. */
export async function readAll(frames: OpenFrames, after = 0, budget = 100): Promise<FrameEntry[]> {
  const found: FrameEntry[] = []
  for (let from = Math.max(after, frames.firstAvailable - 1); ;) {
    const visit = (one: FrameEntry) => found.push(one) > 0
    const { complete } = value(await frames.readAfter(from, Infinity, budget, visit))
    if (complete) return found
    const last = found.at(-1)?.seq ?? from
    if (last === from) throw new Error('a reading visited nothing')
    from = last
  }
}

export function seqs(entries: readonly { readonly seq: number }[]): number[] {
  return entries.map(({ seq }) => seq)
}
