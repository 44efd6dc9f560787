import { IdFilter } from '../encoding/id-filter.ts'
import type { WholeEvent } from '../model/events/event.ts'
import { LOSSES } from '../model/events/loss.ts'
import type { ResourceId } from '../model/ids.ts'
import { utf8Bytes } from '../model/shape.ts'
import { historyOf, type ResumeState } from './history.ts'
import { appendedTexts } from './instructions.ts'
import { keysAfter } from './message-keys.ts'
import { watchesAfter } from './open-watch.ts'
import { carriedCommands } from './person-commands.ts'
import { namedProvider, providerAfter } from './provider-name.ts'
import { SessionResources } from './session-resources.ts'
import { surfaceAfter } from './surface-record.ts'
import { withheldBy } from './withheld-upload.ts'

/** With more, the state would be in a blob, and a checkpoint must not depend on one. */
export const STATE_BYTES = 60 * 1024
const RESOURCES_BYTES = 32 * 1024
const NOTICES_BYTES = 4 * 1024
const COMMANDS_BYTES = 8 * 1024
const MOST_REQUESTS = 4
const KEYS_NAME_BYTES = sizeOf('message_keys') + 2

/**
 * What later Turns need of the Events before number `from_seq`, once a checkpoint replaces them. Continues the state of
 * the checkpoint in force. Only open watches may make it longer than `STATE_BYTES`; no checkpoint can be made then. Pure.
 */
export function stateBefore(all: readonly WholeEvent[], from_seq: number): ResumeState {
  const { state, events: raw } = historyOf(all)
  const before = { state, events: raw.filter(({ seq }) => seq < from_seq) }
  const { events } = before
  const resources = earlierResources(before)
  const surface = surfaceAfter(before)
  const late_context =
    events.findLast((event) => event.type === 'late_context')?.data ?? state.late_context
  const appended = appendedTexts(before)
  const provider = providerAfter(before)
  const watches = watchesAfter(state, events)
  const requests = lastRequests(before)
  const call_ids = callIds(before)
  const commands = carriedCommands(state, events, COMMANDS_BYTES)
  const rest: ResumeState = {
    handle_counter: resources.last,
    resources: newest(resources.all, RESOURCES_BYTES),
    resources_count: resources.count,
    turns: (state.turns ?? 0) + events.filter(({ type }) => type === 'turn_started').length,
    ...(provider === undefined ? {} : { provider }),
    ...(surface === undefined ? {} : { surface }),
    ...(late_context === undefined ? {} : { late_context }),
    ...(appended.length === 0 ? {} : { appended }),
    notices: newest([...new Set([...state.notices, ...onceTexts(events)])], NOTICES_BYTES),
    ...(requests.length === 0 ? {} : { requests }),
    ...(call_ids === undefined ? {} : { call_ids }),
    ...(watches.length === 0 ? {} : { watches }),
    ...(commands.length === 0 ? {} : { commands }),
  }
  const message_keys = keysAfter(before, STATE_BYTES - sizeOf(rest) - KEYS_NAME_BYTES)
  return message_keys === undefined ? rest : { ...rest, message_keys }
}

/** Whether a checkpoint with this state is possible. */
export function stateFits(state: ResumeState): boolean {
  return sizeOf(state) <= STATE_BYTES
}

interface Before {
  readonly state: ResumeState
  readonly events: readonly WholeEvent[]
}

type EarlierResource = ResumeState['resources'][number]
type EarlierRequest = NonNullable<ResumeState['requests']>[number]

function earlierResources(before: Before) {
  const known = new SessionResources(before)
  const fates = fatesAfter(before)
  const all = known.all.map(({ descriptor, seq, turn, by, goneBy }): EarlierResource => {
    const fate = goneBy ?? fates.get(descriptor.resource_id)
    return {
      descriptor,
      seq,
      ...(turn === undefined ? {} : { turn_id: turn }),
      by,
      ...(fate === undefined ? {} : { fate }),
    }
  })
  const { resources, resources_count = resources.length } = before.state
  return { all, last: known.last, count: resources_count + all.length - resources.length }
}

/** Which Resources were never shown, although a message or a view should have shown them. The first reason stays. */
function fatesAfter({ state, events }: Before): ReadonlyMap<ResourceId, 'denied' | 'withheld'> {
  const fates = new Map<ResourceId, 'denied' | 'withheld'>()
  for (const { descriptor, fate } of state.resources)
    if (fate === 'denied' || fate === 'withheld') fates.set(descriptor.resource_id, fate)
  const shown = new Set<ResourceId>()
  const note = (resource: ResourceId | undefined, fate: 'denied' | 'withheld') => {
    if (resource !== undefined && !shown.has(resource) && !fates.has(resource))
      fates.set(resource, fate)
  }
  for (const { type, data } of events) {
    if (type === 'provider_request')
      for (const { resource_id } of data.projected ?? []) shown.add(resource_id)
    if (type === 'permission_decision') note(withheldBy(data), 'denied')
    if (type === 'resource_retired' && LOSSES.some((loss) => loss === data.why))
      note(data.resource_id, data.why === 'upload_denied' ? 'denied' : 'withheld')
  }
  return fates
}

/** The last request to each of the models that were used last, the newest first. */
function lastRequests({ state, events }: Before): EarlierRequest[] {
  let { provider = '', surface } = state
  const last = new Map((state.requests ?? []).toReversed().map((one) => [keeperOf(one), one]))
  for (const event of events) {
    provider = namedProvider(event) ?? provider
    if (event.type === 'prompt_surface') surface = event.data
    if (event.type !== 'provider_request' || surface === undefined) continue
    const { dialect, model, request_sha256, request_bytes } = event.data
    const request = {
      seq: event.seq,
      provider,
      dialect,
      model,
      request_sha256,
      request_bytes,
      surface: surface.blob,
      ...(surface.words_sha256 === undefined ? {} : { words_sha256: surface.words_sha256 }),
    }
    last.delete(keeperOf(request))
    last.set(keeperOf(request), request)
  }
  return [...last.values()].toReversed().slice(0, MOST_REQUESTS)
}

function keeperOf({ provider, dialect, model }: EarlierRequest): string {
  return JSON.stringify([provider, dialect, model])
}

function callIds({ state, events }: Before): string | undefined {
  const ids = events.flatMap((event) => (event.type === 'tool_call' ? [event.data.call_id] : []))
  if (ids.length === 0) return state.call_ids
  const filter = new IdFilter(state.call_ids)
  for (const id of ids) filter.add(id)
  return filter.toBase64()
}

/** The texts of notices that are given once for each Resource, or for each model. */
function onceTexts(events: readonly WholeEvent[]): string[] {
  return events.flatMap((event) =>
    event.type === 'notice' && ONCE.has(event.data.code) ? [event.data.text] : [],
  )
}

const ONCE: ReadonlySet<string> = new Set(['resource_reduced', 'window_unknown'])

/** The last values that fit, in order. */
function newest<T>(values: readonly T[], bytes: number): T[] {
  let left = bytes
  const kept = values.toReversed().findIndex((value) => (left -= sizeOf(value) + 1) < 0)
  return kept === -1 ? [...values] : values.slice(values.length - kept)
}

function sizeOf(value: unknown): number {
  return utf8Bytes(JSON.stringify(value))
}
