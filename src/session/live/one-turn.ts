import { turnResult, type TurnResult } from '../../history/turn-result.ts'
import { ok, type Result } from '../../model/errors.ts'
import type { AdmitOptions, Session } from './session.ts'
import type { Seen } from './subscribe.ts'

/** What a person asks, and what goes with it. */
export interface Message extends Pick<AdmitOptions, 'attachments' | 'views' | 'piped'> {
  readonly text: string
}

/** Admits a message, hands all that happens to `show` until the Turn has ended, and returns its result. */
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
  const { turn, done } = admitted.value
  const showing = (async () => {
    for await (const seen of watching) {
      await show(seen)
      if (isEnd(seen, turn)) break
    }
  })()
  const outcome = await done
  // The last Event is handed out before `done`; a Turn without one ends the watching here.
  if (!outcome.ok) watching.close()
  await showing
  return outcome.ok ? ok(turnResult(session.events, turn)) : outcome
}

function isEnd(seen: Seen, turn: string): boolean {
  if (seen.kind !== 'line') return false
  const { event } = seen.line.logged
  return event.type === 'turn_ended' && event.turn_id === turn
}
