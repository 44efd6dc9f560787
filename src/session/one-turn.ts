import type { Result } from '../model/errors.ts'
import type { AdmitOptions, TurnResult } from './admission/admit-options.ts'
import type { Session } from './session.ts'
import type { WatcherUpdate } from './watch/subscribe.ts'

/**
 * Admits a message, passes every Event and notice to `show` until the Turn ends, and returns the result of the Turn.
 */
export async function oneTurn(
  session: Session,
  text: string,
  options: AdmitOptions,
  show: (update: WatcherUpdate) => void | Promise<void>,
): Promise<Result<TurnResult>> {
  const watching = session.subscribe()
  const admitted = await session.admit(text, options)
  if (!admitted.ok) {
    watching.close()
    return admitted
  }
  const { turn, done } = admitted.value
  const showing = (async () => {
    for await (const update of watching) {
      await show(update)
      if (isEnd(update, turn)) break
    }
  })()
  const result = await done
  // The last Event is delivered before `done` resolves. A Turn that ends without an Event ends the subscription here.
  if (!result.ok) watching.close()
  await showing
  return result
}

function isEnd(update: WatcherUpdate, turn: string): boolean {
  if (update.kind !== 'line') return false
  const { event } = update.line.logged
  return event.type === 'turn_ended' && event.turn_id === turn
}
