import type { EventDraft, WholeEvent } from '../model/events/event.ts'
import { notice } from '../model/events/notice.ts'
import type { ComposedRequest } from '../request/compose-request.ts'
import type { Unfit } from '../request/fit-parts.ts'

/** Reports once to the person, too, what the model is not shown because it does not accept it. */
export function unfitNotices(
  { unfit, unmade }: ComposedRequest,
  events: readonly WholeEvent[],
): EventDraft[] {
  if (unfit.length === 0) return []
  const reported = new Set(
    events.flatMap((event) => (event.type === 'notice' ? [event.data.text] : [])),
  )
  const texts = [...notShown(unfit), ...unmade].filter((text) => !reported.has(text))
  return texts.map((text) => notice('resource_not_shown', text))
}

/** One sentence per reason. */
function notShown(unfit: readonly Unfit[]): string[] {
  const reasons = [...new Set(unfit.map(({ why }) => why))]
  return reasons.map((why) => {
    const handles = unfit.flatMap((one) => (one.why === why ? [one.handle ?? 'a stored file'] : []))
    return `Not shown to the model: ${[...new Set(handles)].join(', ')}: ${why}.`
  })
}

/**
 * Resources that should be shown but cannot be. Once these Events are recorded, the request follows from Events alone
 * again.
 */
export function lossDrafts({ lost, unmade }: ComposedRequest): EventDraft[] {
  const gone = lost.map(({ resource, why }): EventDraft => {
    return { type: 'resource_retired', data: { resource_id: resource, why } }
  })
  const payloads = lost.filter(({ why }) => why !== 'no_variant')
  const notices = payloads.map(({ handle, why }) => {
    if (why === 'holds_key') {
      return notice(why, `${handle} is not sent to the model: it contains a key that Hawser uses.`)
    }
    const state = why === 'payload_damaged' ? 'damaged' : 'missing'
    return notice(why, `The payload of ${handle} is ${state}, so the model is not shown it.`)
  })
  return [...gone, ...notices, ...unmade.map((text) => notice('resource_not_shown', text))]
}
