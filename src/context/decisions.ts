import { shorten } from '../encoding/quote.ts'
import { decision, setting } from '../prompt/words/checkpoint.ts'
import type { SessionResources } from '../history/session-resources.ts'
import type { EventData, WholeEvent } from '../model/events/event.ts'
import { uploadedResource } from '../model/permission-subject.ts'
import { ruleSubject } from '../model/rule.ts'
import { mainArgument } from './main-argument.ts'

const ARGUMENT_BYTES = 120
const REASON_BYTES = 240

/** What a person decided in these Events, as sentences: permission answers and settings. Each once, the newest last. Pure. */
export function decisionsIn(
  events: readonly WholeEvent[],
  resources: SessionResources,
  earlier: readonly string[] = [],
): string[] {
  const calls = new Map<string, string | undefined>()
  const sentences = new Set(earlier)
  for (const event of events) {
    if (event.type === 'tool_call')
      calls.set(event.data.call_id, mainArgument(event.data.arguments))
    for (const sentence of sentencesOf(event, calls, resources)) {
      sentences.delete(sentence)
      sentences.add(sentence)
    }
  }
  return [...sentences]
}

function sentencesOf(
  event: WholeEvent,
  calls: ReadonlyMap<string, string | undefined>,
  resources: SessionResources,
): string[] {
  if (event.type === 'session_settings') return settingsOf(event.data)
  if (event.type !== 'permission_decision' || event.data.by !== 'person') return []
  const { decision: answer, scope, reason } = event.data
  const why = reason === undefined ? {} : { reason: shorten(reason, REASON_BYTES) }
  return [decision({ decision: answer, scope, ...why, ...subjectOf(event.data, calls, resources) })]
}

/** The title is for people only. */
function settingsOf(data: EventData<'session_settings'>): string[] {
  return SETTINGS.flatMap(([key, name]) => {
    const value = data[key]
    return value === undefined ? [] : [setting(name, value)]
  })
}

const SETTINGS = [
  ['mode', 'mode'],
  ['permission_mode', 'permission'],
  ['provider', 'provider'],
  ['model', 'model'],
  ['effort', 'effort'],
] as const

/** A model knows Resources by their handles. */
function subjectOf(
  { subject, rule, call_id }: EventData<'permission_decision'>,
  calls: ReadonlyMap<string, string | undefined>,
  resources: SessionResources,
): { readonly what: string; readonly argument?: string } {
  const resource = uploadedResource(subject)
  if (resource !== undefined)
    return { what: 'sending', argument: resources.byId(resource)?.descriptor.handle ?? 'a file' }
  if (rule !== undefined && rule.kind !== 'upload')
    return { what: subject, argument: shorten(ruleSubject(rule), ARGUMENT_BYTES) }
  const argument = call_id === undefined ? undefined : calls.get(call_id)
  // A subject of another kind has the id of a call after a colon.
  const what = subject.split(':')[0] ?? subject
  return argument === undefined ? { what } : { what, argument: shorten(argument, ARGUMENT_BYTES) }
}
