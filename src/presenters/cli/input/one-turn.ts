import { runsLater, type RunsLater } from '../../../history/runs-later.ts'
import type { Descriptor } from '../../../model/descriptor.ts'
import type { Result } from '../../../model/errors.ts'
import type { WholeEvent } from '../../../model/events/event.ts'
import type { AdmitOptions, Session } from '../../../session/live/session.ts'
import type { Seen } from '../../../session/live/subscribe.ts'
import { EXIT, exitCodeOf } from '../world/exit-code.ts'

type Ended = WholeEvent<'turn_ended'>['data']

/** What became of one Turn, as a script wants to know it. */
export interface TurnResult {
  readonly turn_id: string
  readonly status: Ended['status']
  /** The answer: what the model said after its last call. */
  readonly text: string
  /** What the agent attached to its answer. */
  readonly resources: readonly Descriptor[]
  readonly usage: Ended['usage_total']
  readonly error?: NonNullable<Ended['error']>
  /** The answer is not whole, and why. */
  readonly cut?: NonNullable<Ended['cut']>
  /** Files that its calls made or changed and that run later, as in CI or a build. */
  readonly runs_later?: readonly RunsLater[]
  /** Calls that were denied because nobody could be asked. */
  readonly denied: number
  readonly exit_code: number
}

/** What a person asks, and what goes with it. */
export interface Message extends Pick<AdmitOptions, 'attachments' | 'views' | 'piped'> {
  readonly text: string
}

/** Admits a message, shows everything to `show` until the Turn has ended, and says what became of it. */
export async function oneTurn(
  session: Session,
  { text, ...enclosed }: Message,
  show: (seen: Seen) => void | Promise<void>,
): Promise<Result<TurnResult>> {
  const watching = session.subscribe()
  const admitted = await session.admit(text, enclosed)
  if (!admitted.ok) {
    watching.close()
    return admitted
  }
  const shown = (async () => {
    for await (const seen of watching) {
      await show(seen)
      if (isEnd(seen, admitted.value.turn)) break
    }
  })()
  const outcome = await admitted.value.done
  // The last Event was told before `done`; a Turn without one ends the watching here.
  if (!outcome.ok) watching.close()
  await shown
  return outcome.ok ? { ok: true, value: resultOf(session, admitted.value.turn) } : outcome
}

function isEnd(seen: Seen, turn: string): boolean {
  if (seen.kind !== 'line') return false
  const { event } = seen.line.logged
  return event.type === 'turn_ended' && event.turn_id === turn
}

function resultOf(session: Session, turn_id: string): TurnResult {
  const from = session.events.findLastIndex(
    (event) => event.type === 'turn_started' && event.turn_id === turn_id,
  )
  const events = session.events.slice(Math.max(0, from))
  const ended = events.findLast((event) => event.type === 'turn_ended')
  const lastCall = events.findLastIndex(({ type }) => type === 'tool_result')
  const said = events
    .slice(lastCall + 1)
    .flatMap((event) => (event.type === 'assistant_message' ? [event.data.text] : []))
  const resources = events.flatMap((event) =>
    event.type === 'resource_ingested' && event.data.origin === 'egress'
      ? [event.data.descriptor]
      : [],
  )
  const denied = events.filter(
    (event) => event.type === 'permission_decision' && event.data.by === 'nobody',
  ).length
  const { status = 'failed', usage_total, error, cut } = ended?.data ?? {}
  const text = said.join('\n')
  const later = runsLater(events)
  return {
    turn_id,
    status,
    text,
    resources,
    usage: usage_total ?? NOTHING,
    ...(error === undefined ? {} : { error }),
    ...(cut === undefined ? {} : { cut }),
    ...(later.length === 0 ? {} : { runs_later: later }),
    denied,
    exit_code: exitOf({ status, error, cut }, text, denied),
  }
}

const NOTHING: Ended['usage_total'] = {
  input: 0,
  cached_read: 0,
  cache_write: 0,
  output: 0,
  reasoning: 0,
  calls: 0,
}

function exitOf(
  { status, error, cut }: Pick<Ended, 'status' | 'error' | 'cut'>,
  text: string,
  denied: number,
): number {
  if (status === 'interrupted') return EXIT.interrupted
  // Of an error of the model only this is worth a code of its own: a person can do something about it.
  if (error?.kind === 'auth' || error?.kind === 'not_configured') return exitCodeOf(error.kind)
  if (status !== 'completed') return EXIT.failed
  // What the model wanted to do did not happen, or nothing was answered at all.
  if (cut !== undefined && (cut.lost_calls > 0 || text === '')) return EXIT.failed
  return denied > 0 ? EXIT.nobodyToAsk : EXIT.done
}
