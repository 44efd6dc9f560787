import { ok } from '../../model/errors.ts'
import type { TurnId } from '../../model/ids.ts'
import type { AdmittedTurn } from '../../session/admission/admit-options.ts'
import type { SessionUpdate } from '../../session/watch/session-stream.ts'
import type { AttachedSession } from './attached-session.ts'
import { liveResponse, type LiveOutput } from './live-response.ts'
import type { ServerParts } from './server-parts.ts'
import { endMessages, lostEnd, UpdateTranslation, type StreamMessage } from './translate-updates.ts'
import { startOfTurn } from './translation-start.ts'

/** A Turn that runs, or has run, for a client. */
export interface ServedTurn {
  readonly attached: AttachedSession
  readonly admitted: AdmittedTurn
  /** About the model that the client chose. */
  readonly warning: string | undefined
  readonly onDisconnect: 'continue' | 'interrupt'
}

/**
 * The stream of one Turn. It ends with `process:exit`. A client that leaves earlier does not end the Turn, unless it asked for
 * that; the workspace stays open until the Turn has ended.
 */
export function turnResponse(
  parts: Pick<ServerParts, 'clock' | 'onDefect'>,
  signal: AbortSignal,
  served: ServedTurn,
): Response {
  const { attached, admitted, onDisconnect } = served
  let isOver = false
  const over = admitted.done.then(
    () => void (isOver = true),
    () => void (isOver = true),
  )
  const disconnected = () => {
    // After its end, another client's Turn may run.
    if (onDisconnect === 'interrupt' && !isOver) attached.session.interrupt()
  }
  return liveResponse(parts, { signal, disconnected }, async (output) => {
    try {
      await sendTurn(output, served)
    } finally {
      await attached.leave(over)
    }
  })
}

async function sendTurn(
  output: LiveOutput,
  { attached, admitted, warning }: ServedTurn,
): Promise<void> {
  const { session } = attached
  const { turn, done, refused = [], repeated } = admitted
  // A Turn without an end in the Log would leave the stream waiting.
  const lost = new AbortController()
  void done.then(
    (outcome) => outcome.ok || lost.abort(),
    () => lost.abort(),
  )
  const begun = session.events.findLast((e) => e.type === 'turn_started' && e.turn_id === turn)
  const { provider, model } = session.state
  // For a new Turn nothing is awaited here: its first delta may come at any moment.
  const start =
    repeated !== true && begun !== undefined
      ? ok({ seq: begun.seq, provider, model })
      : await startOfTurn(attached, turn)
  if (!start.ok) return output.send(lostEnd(start.error))
  const replayed = session.nextSeq
  const translation = new UpdateTranslation({
    ...start.value,
    about: {
      ...(warning === undefined ? {} : { warning }),
      ...(repeated === true ? { repeated } : {}),
    },
    given: refused.map(({ given }) => given),
  })
  const stop = AbortSignal.any([output.signal, lost.signal])
  for await (const update of session.stream({ after_seq: start.value.seq - 1, signal: stop })) {
    if (update.kind === 'failed') return output.send(lostEnd(update.error))
    const messages = translation.messages(update)
    if (!isAbout(update, turn)) continue
    output.send(messages.filter(isOfTurn))
    if (update.kind === 'event' && update.raw.type === 'turn_ended') return
    if (update.kind === 'event' && update.raw.seq < replayed) await output.room()
  }
  if (output.signal.aborted) return
  const outcome = await done
  output.send(outcome.ok ? endMessages(outcome.value.ended) : lostEnd(outcome.error))
}

function isAbout(update: SessionUpdate, turn: TurnId): boolean {
  if (update.kind === 'event') return update.raw.turn_id === turn
  return update.kind !== 'notice' || (update.notice.turn_id ?? turn) === turn
}

/** The client knows its own message, and other Events of the Log are for those who watch the Session. */
function isOfTurn({ event }: StreamMessage): boolean {
  return event !== 'log:event' && event !== 'user:message'
}
