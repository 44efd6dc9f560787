import type { Frame } from '../../../src/model/tether/frame.ts'
import type { DaemonEvidence } from './daemon-kill-judge.ts'

/** Defects that the judge must find in evidence that has none, and what it says of them. */
export const PLANTED: Readonly<
  Record<string, readonly [RegExp, (evidence: DaemonEvidence) => DaemonEvidence]>
> = {
  skipped_frame: [/poller 1: \d+ is missing/, (one) => reader(one, (seen) => without(seen, 3))],
  repeated_frame: [
    /poller 1: (\d+) follows \1$/,
    (one) =>
      reader(one, (seen) => seen.flatMap((frame, at) => (at === 3 ? [frame, frame] : [frame]))),
  ],
  backward_number: [
    /poller 1: \d+ follows \d+/,
    (one) => reader(one, (seen) => [...without(seen, 3), ...seen.slice(3, 4)]),
  ],
  unstored_frame: [
    /poller 1: \d+ is not in the frame log/,
    (one) => ({ ...one, stored: without(one.stored, 3) }),
  ],
  number_issued_twice: [
    /\d+ is .+ other and /,
    (one) =>
      reader(one, (seen) =>
        seen.map((frame, at) => (at === 3 ? { ...frame, msg_id: 'other' } : frame)),
      ),
  ],
  frame_with_two_numbers: [
    /is \d+ and \d+$/,
    (one) => ({ ...one, stored: [...one.stored, ...renumbered(one, one.stored.slice(0, 1))] }),
  ],
  second_end: [
    /m0: 2 terminal frames/,
    (one) => ({ ...one, stored: [...one.stored, ...renumbered(one, endsOf(one, 'm0'))] }),
  ],
  no_end: [
    /m0: 0 terminal frames/,
    (one) => ({ ...one, stored: one.stored.filter((frame) => !endsOf(one, 'm0').includes(frame)) }),
  ],
  second_turn: [
    /m0: 2 Turns/,
    (one) => ({ ...one, events: [...one.events, ...one.events.filter(isStart)] }),
  ],
  no_turn: [
    /m0: 0 Turns/,
    (one) => ({ ...one, events: one.events.filter((event) => !isStart(event)) }),
  ],
  ran_twice: [/m0: ran 2 times/, (one) => ({ ...one, effects: ['m0', 'm0'] })],
  other_number: [
    /m0: has the number \d+, and was accepted as/,
    (one) => ({
      ...one,
      accepted: new Map(
        [...one.accepted].map(([name, message]) => [
          name,
          { ...message, numbers: [...message.numbers, 1_000_000] },
        ]),
      ),
    }),
  ],
  lost_message: [
    /m0: is 0 times in the frame log/,
    (one) => ({ ...one, stored: one.stored.filter(({ msg_id }) => msg_id !== 'm0') }),
  ],
  sent_again_after_a_tool: [
    /m0: went on after an answer/,
    (one) => ({ ...one, events: one.events.flatMap((event) => [event, ...continuedAfter(event)]) }),
  ],
  unknown_message: [/m0 was never accepted/, (one) => ({ ...one, accepted: new Map() })],
}

function reader(
  evidence: DaemonEvidence,
  change: (seen: readonly Frame[]) => readonly Frame[],
): DaemonEvidence {
  const [first = [], ...others] = evidence.pollers
  return { ...evidence, pollers: [change(stored(first)), ...others] }
}

/** Without deltas, so that the changed frame is one that must not be missed. */
function stored(seen: readonly Frame[]): readonly Frame[] {
  return seen.filter(({ type }) => !type.endsWith('.delta'))
}

function without(frames: readonly Frame[], at: number): readonly Frame[] {
  return frames.filter((_, index) => index !== at)
}

function renumbered({ stored: known }: DaemonEvidence, frames: readonly Frame[]): Frame[] {
  const last = known.at(-1)?.seq ?? 0
  return frames.map((frame, at) => ({ ...frame, seq: last + 1 + at }))
}

function endsOf({ stored: known }: DaemonEvidence, name: string): readonly Frame[] {
  return known.filter(
    ({ type, in_reply_to }) =>
      in_reply_to === name && (type === 'assistant.done' || type === 'error'),
  )
}

function isStart({ type }: DaemonEvidence['events'][number]): boolean {
  return type === 'turn_started'
}

/** As a harness would record it that continues a Turn after a tool ran. */
function continuedAfter(event: DaemonEvidence['events'][number]): DaemonEvidence['events'] {
  if (event.type !== 'tool_result') return []
  return [{ ...event, type: 'notice', data: { code: 'resent_after_crash', text: '' } }]
}
