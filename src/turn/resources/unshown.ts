import { lossReason } from '../../prompt/words/resources.ts'
import { historyOf } from '../../history/history.ts'
import type { EventDraft, WholeEvent } from '../../model/events/event.ts'
import { notice } from '../../model/events/notice.ts'
import type { ComposedRequest } from '../../request/compose-request.ts'

type LostResource = ComposedRequest['losses'][number]

/** The Events that record which bytes cannot be shown. With them, the request follows from Events alone again. */
export function lossDrafts({
  losses,
  variantFailures,
}: Pick<ComposedRequest, 'losses' | 'variantFailures'>): EventDraft[] {
  const gone = losses.map(({ resource, why, figures }): EventDraft => {
    const estimate = figures === undefined ? {} : { estimate: figures }
    return { type: 'resource_retired', data: { resource_id: resource, why, ...estimate } }
  })
  const unreported = losses.filter(
    (one) => ownNotice(one) === undefined && one.why !== 'no_variant',
  )
  return [
    ...gone,
    ...losses.flatMap((one) => ownNotice(one) ?? []),
    ...[...notShown(unreported), ...variantFailures].map((text) =>
      notice('resource_not_shown', text),
    ),
  ]
}

/** One notice to the person for each Resource that the model sees in a smaller form. */
export function reducedNotices(
  { reductions }: Pick<ComposedRequest, 'reductions'>,
  events: readonly WholeEvent[],
): EventDraft[] {
  if (reductions.length === 0) return []
  const noticed = new Set([
    ...historyOf(events).state.notices,
    ...events.flatMap((event) => (event.type === 'notice' ? [event.data.text] : [])),
  ])
  const texts = reductions.map(
    (one) => `Shown to the model in a smaller form, because of its limits: ${one}.`,
  )
  return texts.filter((text) => !noticed.has(text)).map((text) => notice('resource_reduced', text))
}

/** The separate notice for a payload that is missing, damaged or contains a key. */
function ownNotice({ handle, why }: LostResource): EventDraft | undefined {
  const text = OWN[why]
  return text === undefined ? undefined : notice(why, text(handle))
}

const OWN: Readonly<Partial<Record<LostResource['why'], (handle: string) => string>>> = {
  holds_key: (handle) => `${handle} is not sent to the model: it contains a key that Hawser uses.`,
  payload_damaged: (handle) =>
    `The payload of ${handle} is damaged, so it is not shown to the model.`,
  payload_missing: (handle) =>
    `The payload of ${handle} is missing, so it is not shown to the model.`,
}

/** One sentence for each reason. */
function notShown(lost: readonly LostResource[]): string[] {
  const reasons = [...new Set(lost.map(lossReason))]
  return reasons.map((reason) => {
    const handles = lost.flatMap((one) => (lossReason(one) === reason ? [one.handle] : []))
    return `Not shown to the model: ${[...new Set(handles)].join(', ')}: ${reason}.`
  })
}
