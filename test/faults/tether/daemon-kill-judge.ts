import { isDeepStrictEqual } from 'node:util'
import type { WholeEvent } from '../../../src/model/events/event.ts'
import type { Frame } from '../../../src/model/tether/frame.ts'
import { continuationOffences } from '../support/continued-judge.ts'

/** What the sender knows of a message. */
export interface AcceptedMessage {
  readonly conversation: string
  /** The number in each 202 that it got. */
  readonly numbers: readonly number[]
}

/** What clients saw, and what is on the disk afterwards. */
export interface DaemonEvidence {
  readonly pollers: readonly (readonly Frame[])[]
  /** The frame log, in its order. */
  readonly stored: readonly Frame[]
  readonly accepted: ReadonlyMap<string, AcceptedMessage>
  /** Of the Logs of all Sessions. */
  readonly events: readonly WholeEvent[]
  /** The names that the commands of the messages wrote. */
  readonly effects: readonly string[]
}

/** Why numbers were lost, repeated or went backwards, or a message did not run once and end once. Empty if all is well. */
export function daemonOffences(evidence: DaemonEvidence): string[] {
  const { pollers, stored, accepted } = evidence
  return [
    ...disorder('the frame log', stored),
    ...repeatedFrames(stored),
    ...pollers.flatMap((seen, at) => pollerOffences(`poller ${at + 1}`, seen, stored)),
    ...ambiguousNumbers(pollers),
    ...[...accepted].flatMap(([name, message]) => messageOffences(name, message, evidence)),
    ...unknownMessages(evidence),
  ]
}

function disorder(who: string, frames: readonly Frame[]): string[] {
  return frames.flatMap(({ seq }, at) => {
    const before = frames[at - 1]?.seq ?? 0
    return seq > before ? [] : [`${who}: ${seq} follows ${before}`]
  })
}

/** A frame is in the log under one number. */
function repeatedFrames(stored: readonly Frame[]): string[] {
  const numbers = new Map<string, number>()
  return stored.flatMap((frame) => {
    const name = nameOf(frame)
    const before = numbers.get(name)
    numbers.set(name, frame.seq)
    return before === undefined ? [] : [`${name} is ${before} and ${frame.seq}`]
  })
}

/** A poller has every stored frame, and besides them only deltas. */
function pollerOffences(who: string, seen: readonly Frame[], stored: readonly Frame[]): string[] {
  const known = new Map(seen.map((frame) => [frame.seq, frame]))
  const numbers = new Map(stored.map((frame) => [frame.seq, frame]))
  const missed = stored.flatMap((frame) => {
    const own = known.get(frame.seq)
    if (own === undefined) return [`${who}: ${frame.seq} is missing`]
    return isDeepStrictEqual(own, frame) ? [] : [`${who}: ${frame.seq} differs from the frame log`]
  })
  const lost = seen.flatMap(({ seq, type }) =>
    numbers.has(seq) || type.endsWith('.delta') ? [] : [`${who}: ${seq} is not in the frame log`],
  )
  return [...disorder(who, seen), ...missed, ...lost]
}

/** A number means one frame, also that of a delta. */
function ambiguousNumbers(pollers: readonly (readonly Frame[])[]): string[] {
  const known = new Map<number, Frame>()
  return pollers.flat().flatMap((frame) => {
    const before = known.get(frame.seq)
    known.set(frame.seq, frame)
    return before === undefined || isDeepStrictEqual(before, frame)
      ? []
      : [`${frame.seq} is ${nameOf(before)} and ${nameOf(frame)}`]
  })
}

function messageOffences(
  name: string,
  { conversation, numbers }: AcceptedMessage,
  { stored, events, effects, pollers }: DaemonEvidence,
): string[] {
  const sent = stored.filter(({ type, msg_id }) => type === 'user.message' && msg_id === name)
  const ends = stored.filter(
    ({ type, in_reply_to, session }) =>
      in_reply_to === name &&
      session.id === conversation &&
      (type === 'assistant.done' || type === 'error'),
  )
  const statuses = ends.map((end) =>
    end.type === 'assistant.done'
      ? end.payload.status
      : `${end.type} ${JSON.stringify(end.payload)}`,
  )
  const turns = events.flatMap((one) =>
    one.type === 'turn_started' && one.data.source.message_key === name ? [one.turn_id] : [],
  )
  const own = events.filter(({ turn_id }) => turn_id !== undefined && turn_id === turns[0])
  const ended = own.flatMap((one) => (one.type === 'turn_ended' ? [one.data.status] : []))
  const ran = effects.filter((one) => one === name).length
  const [number = 0] = sent.map(({ seq }) => seq)
  const offence = (isWrong: boolean, what: string) => (isWrong ? [`${name}: ${what}`] : [])
  return [
    ...offence(sent.length !== 1, `is ${sent.length} times in the frame log`),
    ...offence(
      numbers.some((one) => one !== number),
      `has the number ${number}, and was accepted as ${numbers.join(', ')}`,
    ),
    ...offence(ends.length !== 1, `${ends.length} terminal frames`),
    ...offence((ends[0]?.seq ?? Infinity) <= number, 'ended before it was sent'),
    ...offence(turns.length !== 1, `${turns.length} Turns`),
    ...offence(ended.length !== 1, `${ended.length} ends in the Log`),
    ...offence(statuses[0] !== ended[0], `the frame says ${statuses[0]}, the Log ${ended[0]}`),
    ...offence(ran > 1, `ran ${ran} times`),
    ...offence(isShownBefore(name, stored, pollers), 'went on after it was shown'),
    ...continuationOffences(own, isMarked(name, stored)).map((what) => `${name}: ${what}`),
    ...offence(ended[0] === 'completed' && ran !== 1, 'completed without its effect'),
  ]
}

/** A client saw a piece of its answer before it continued. */
function isShownBefore(
  name: string,
  stored: readonly Frame[],
  pollers: readonly (readonly Frame[])[],
): boolean {
  const went = stored.flatMap((frame) =>
    frame.type === 'event.ack' && frame.in_reply_to === name && frame.payload.status === 'continued'
      ? [frame.seq]
      : [],
  )
  return pollers
    .flat()
    .some(
      ({ type, in_reply_to, seq }) =>
        type.endsWith('.delta') && in_reply_to === name && seq < Math.max(0, ...went),
    )
}

/** A piece of its answer may have been seen. */
function isMarked(name: string, stored: readonly Frame[]): boolean {
  return stored.some(
    (frame) =>
      frame.type === 'status.presence' &&
      frame.in_reply_to === name &&
      frame.payload.state === 'answering',
  )
}

/** Nothing is in the log, or ran, that was not sent. */
function unknownMessages({ stored, accepted, events }: DaemonEvidence): string[] {
  const sent = stored.flatMap((one) => (one.type === 'user.message' ? [one.msg_id] : []))
  const ran = events.flatMap((one) =>
    one.type === 'turn_started' ? [one.data.source.message_key ?? 'a Turn without a key'] : [],
  )
  return [...sent, ...ran].flatMap((name) =>
    accepted.has(name) ? [] : [`${name} was never accepted`],
  )
}

function nameOf({ type, session, msg_id }: Frame): string {
  return `${type} ${session.id} ${msg_id}`
}
