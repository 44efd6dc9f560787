import type { WholeEvent } from '../../../src/model/events/event.ts'

const CONTINUED = new Set(['resent_after_crash', 'continued_after_crash'])
const MOST = 2

/** What no Turn has before its model has answered. */
const ANSWERED = new Set<WholeEvent['type']>([
  'assistant_message',
  'reasoning',
  'tool_call',
  'tool_result',
  'provider_usage',
])

export function isContinued(event: WholeEvent): boolean {
  return event.type === 'notice' && CONTINUED.has(event.data.code)
}

/** Why a Turn must not have gone on as it did after crashes, or should have; `shown`: something of its answer may have been. */
export function continuationOffences(own: readonly WholeEvent[], shown: boolean): string[] {
  const times = own.filter(isContinued).length
  const last = own.findLastIndex(isContinued)
  const isAnswered = own.some(({ type }) => ANSWERED.has(type))
  const requests = own.flatMap((event) => (event.type === 'provider_request' ? [event.data] : []))
  const end = own.findLast((event) => event.type === 'turn_ended')
  const isCrashed = end?.type === 'turn_ended' && end.data.crash_recovered === true
  const resent = own.flatMap((event, at) => {
    const before = own.slice(0, at).findLast(({ type }) => type === 'provider_request')
    const next = own.slice(at).find(({ type }) => type === 'provider_request')
    if (event.type !== 'notice' || event.data.code !== 'resent_after_crash') return []
    if (before?.type !== 'provider_request') return ['sent again, but never sent before']
    if (next?.type !== 'provider_request') return []
    return next.data.request_sha256 === before.data.request_sha256 ? [] : ['sent again differently']
  })
  const attempts = requests.flatMap(({ call_index, attempt }, at) => {
    const earlier = requests.slice(0, at).filter((one) => one.call_index === call_index)
    return attempt === earlier.length ? [] : [`attempt ${attempt} is number ${earlier.length}`]
  })
  return [
    ...(times > MOST ? [`went on ${times} times`] : []),
    ...(own.slice(0, Math.max(last, 0)).some(({ type }) => ANSWERED.has(type))
      ? ['went on after an answer']
      : []),
    ...resent,
    ...attempts,
    ...(isCrashed && !isAnswered && times < MOST && !shown ? ['should have gone on'] : []),
  ]
}
