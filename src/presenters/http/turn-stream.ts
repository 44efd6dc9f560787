import { resourcesOf, sinceLastTurn } from '../../history/results/turn-notices.ts'
import { ok } from '../../model/errors.ts'
import type { TurnId } from '../../model/ids.ts'
import { definedFields } from '../../model/fields/defined-fields.ts'
import type { AdmittedTurn } from '../../session/admission/admit-options.ts'
import type { Session } from '../../session/session.ts'
import type { SessionUpdate } from '../../session/watch/session-stream.ts'
import type { AttachedSession } from './attached-session.ts'
import { liveResponse, type LiveOutput, type StreamMessage } from './exchange/live-response.ts'
import type { ServerParts } from './server-parts.ts'
import { endMessages, lostEnd, UpdateTranslation, waitingMessages } from './translate-updates.ts'
import { startOfTurn } from './translation-start.ts'

/** A Turn that runs, or has run, for a client. */
export interface ServedTurn {
  readonly session: AttachedSession
  readonly admission: AdmittedTurn
  /** Begun before the Turn. */
  readonly following: Following
  /** About the model that the client chose. */
  readonly warning: string | undefined
  readonly onDisconnect: 'continue' | 'interrupt'
}

/** What happens in a Session from a moment on. */
export interface Following {
  readonly updates: AsyncIterable<SessionUpdate>
  stop(): void
}

/** Follows a Session from now on. Begun before a Turn is admitted, it reads nothing from the Log, which the Turn is writing. */
export function followFromNow(session: Session): Following {
  return followFrom(session, session.nextSeq)
}

function followFrom(session: Session, seq: number): Following {
  const stopping = new AbortController()
  const updates = session.stream({ after_seq: seq - 1, signal: stopping.signal })
  // It subscribes when the first update is requested.
  const first = updates.next()
  return { updates: firstThenRest(first, updates), stop: () => stopping.abort() }
}

async function* firstThenRest<T>(
  first: Promise<IteratorResult<T, void>>,
  rest: AsyncGenerator<T, void>,
): AsyncGenerator<T, void> {
  const { done, value } = await first
  if (done === true) return
  yield value
  yield* rest
}

/**
 * The stream of one Turn. It ends with `process:exit`. A client that leaves earlier does not end the Turn, unless it asked for
 * that; the workspace stays open until the Turn has ended.
 */
export function turnResponse(
  parts: Pick<ServerParts, 'clock' | 'redactor' | 'onDefect'>,
  signal: AbortSignal,
  served: ServedTurn,
): Response {
  const { session: attached, admission, following, onDisconnect } = served
  let isOver = false
  const over = admission.done.then(
    () => void (isOver = true),
    () => void (isOver = true),
  )
  const disconnected = () => {
    // After its end, another client's Turn may run.
    if (onDisconnect === 'interrupt' && !isOver) attached.session.interrupt()
  }
  const waiting = () => waitingMessages(attached.session.questions)
  return liveResponse(parts, { signal, onDisconnect: disconnected, waiting }, async (output) => {
    try {
      await sendTurn(output, served)
    } finally {
      following.stop()
      await attached.leave(over)
    }
  })
}

async function sendTurn(
  output: LiveOutput,
  { session: attached, admission, following, warning }: ServedTurn,
): Promise<void> {
  const { session } = attached
  const { turn, done, refused = [], repeated } = admission
  const begun = session.events.findLast((e) => e.type === 'turn_started' && e.turn_id === turn)
  const { provider, model } = session.state
  const isNew = repeated !== true && begun !== undefined
  if (!isNew) following.stop()
  // For a new Turn nothing is awaited here: its first delta may come at any moment.
  const start = isNew ? ok({ seq: begun.seq, provider, model }) : await startOfTurn(attached, turn)
  if (!start.ok) return output.send(lostEnd(start.error))
  const translation = new UpdateTranslation({
    ...start.value,
    about: {
      ...definedFields({ warning }),
      ...(repeated === true ? { repeated } : {}),
    },
    sentAttachments: refused.map(({ given }) => given),
    unreportedEvents: sinceLastTurn(session.events, start.value.seq),
    resourceOf: resourcesOf(() => session.events),
  })
  // A Turn without an end in the Log would leave the stream waiting.
  const lost = done.then(
    ({ ok: hasEnd }) => !hasEnd,
    () => true,
  )
  const updates = isNew ? following : followFrom(session, start.value.seq)
  void lost.then((isLost) => isLost && updates.stop())
  output.signal.addEventListener('abort', () => updates.stop())
  if (output.signal.aborted) updates.stop()
  const replayed = isNew ? 0 : session.nextSeq
  for await (const update of fromEvent(start.value.seq, updates)) {
    if (update.kind === 'failed') return output.send(lostEnd(update.error))
    const messages = translation.messages(update)
    if (!isAbout(update, turn)) continue
    output.send(ofTurn(messages))
    if (update.kind === 'event' && update.raw.type === 'turn_ended') return
    if (update.kind === 'event' && update.raw.seq < replayed) await output.room()
  }
  if (output.signal.aborted) return
  const outcome = await done
  output.send(outcome.ok ? endMessages(outcome.value) : lostEnd(outcome.error))
}

/** Without what happened before that Event, while the Turn was waiting. */
async function* fromEvent(
  seq: number,
  { updates }: Following,
): AsyncGenerator<SessionUpdate, void> {
  let isReached = false
  for await (const update of updates) {
    isReached ||= update.kind === 'failed' || (update.kind === 'event' && update.raw.seq >= seq)
    if (isReached) yield update
  }
}

function isAbout(update: SessionUpdate, turn: TurnId): boolean {
  if (update.kind === 'event') return update.raw.turn_id === turn
  return update.kind !== 'ephemeral' || (update.ephemeral.turn_id ?? turn) === turn
}

/** Events of the Log without an event of their own are for those who watch the Session. The last message has the number. */
function ofTurn(messages: readonly StreamMessage[]): readonly StreamMessage[] {
  const kept = messages.filter(({ event }) => event !== 'log:event')
  const id = messages.at(-1)?.id
  if (id === undefined) return kept
  return kept.map((message, at) => (at === kept.length - 1 ? { ...message, id } : message))
}
