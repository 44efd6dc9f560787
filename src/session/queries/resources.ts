import { linkFacts } from '../../prompt/words/resources.ts'
import { NO_STATE } from '../../history/history.ts'
import type { BlobStore } from '../../blobs/store.ts'
import { SessionResources, type SessionResource } from '../../history/session-resources.ts'
import type { Descriptor } from '../../model/descriptor.ts'
import { causeOf, failed, ok, type Failed, type Result } from '../../model/errors.ts'
import type { WholeEvent } from '../../model/events/event.ts'
import type { SessionId } from '../../model/ids.ts'
import type { Variant } from '../../resources/variants/variant.ts'
import { variantMaker } from '../../resources/variants/variant-maker.ts'
import { listSessions } from './list.ts'
import { readLog } from '../reading/read-log.ts'
import { eventsOf } from '../reading/whole-session.ts'
import type { LiveSession } from '../live/live-session.ts'
import type { SessionParts } from '../live/session-parts.ts'

/** One Resource of a Session and its state. */
export interface ListedResource {
  readonly descriptor: Descriptor
  /** Number of the Turn that attached it, from 1. */
  readonly turn: number
  readonly turn_id: string | undefined
  readonly ts: string
  readonly by: 'person' | 'agent'
  /** `retired`: no longer shown by its attachment, but a view can still show it. */
  readonly state: 'live' | 'retired' | 'dropped' | 'quarantined'
  readonly payload: Payload
  /** Number of requests that contained its bytes. */
  readonly shown: number
  readonly views: number
}

/** Whether the stored bytes are intact; a link has none. */
type Payload = 'present' | 'missing' | 'damaged' | 'none'

export async function listResources(
  log: SessionParts['log'],
  session: LiveSession,
): Promise<Result<readonly ListedResource[]>> {
  const events = await eventsOf(log, session, LISTED, namesResource)
  if (!events.ok) return events
  const listed: ListedResource[] = []
  for (const resource of new SessionResources({ state: NO_STATE, events: events.value }).all) {
    const payload = await payloadOf(log.store, resource.descriptor)
    if (!payload.ok) return payload
    listed.push({ ...historyOf(resource, events.value), payload: payload.value })
  }
  return ok(listed)
}

const LISTED = [
  'turn_started',
  'user_message',
  'provider_request',
  'resource_ingested',
  'resource_view',
  'resource_retired',
  'resource_dropped',
  'resource_quarantined',
] as const

/** Most messages and requests name no Resource, and need not be kept in memory. */
function namesResource({ type, data }: WholeEvent): boolean {
  if (type === 'user_message') return (data.resources ?? []).length > 0
  return type !== 'provider_request' || (data.projected ?? []).length > 0
}

/** Permanently excludes the bytes of a Resource from requests. Text about it stays. */
export async function dropResource(session: LiveSession, handle: string): Promise<Result<void>> {
  const found = await session.resourceNamed(handle)
  if (!found.ok) return found
  if (found.value === undefined) return unknownHandle(session)
  if (found.value.goneBy === 'dropped') return ok(undefined)
  const { resource_id } = found.value.descriptor
  return session.between(({ record }) =>
    record([{ type: 'resource_dropped', data: { resource_id, by: 'person' } }]),
  )
}

/** The original bytes of a Resource. */
export async function resourceBytes(
  { store }: SessionParts['log'],
  session: LiveSession,
  handle: string,
): Promise<Result<Buffer>> {
  const found = await session.resourceNamed(handle)
  if (!found.ok) return found
  if (found.value === undefined) return unknownHandle(session)
  const { descriptor } = found.value
  if (descriptor.kind !== 'link') return store.get(descriptor.blob)
  const [target = '', why = ''] = linkFacts(descriptor)
  return failed('unsupported_type', `${descriptor.handle} is a link to ${target}: ${why}.`)
}

/** A smaller form of an image. */
export async function thumbnail(
  { log, model }: Pick<SessionParts, 'log' | 'model'>,
  session: LiveSession,
  handle: string,
  max_side: number,
): Promise<Result<Variant>> {
  const found = await session.resourceNamed(handle)
  if (!found.ok) return found
  if (found.value === undefined) return unknownHandle(session)
  const { descriptor } = found.value
  if (descriptor.kind !== 'image') {
    return failed('unsupported_type', `${descriptor.handle} is not an image.`)
  }
  const bytes = await log.store.get(descriptor.blob)
  if (!bytes.ok) return bytes
  return (model.variants ?? variantMaker).image(bytes.value, { max_side })
}

/** A payload that does not match its descriptor. */
export interface BadPayload {
  readonly session: SessionId
  readonly handle: string
  readonly name: string
  readonly state: 'missing' | 'damaged'
}

/**
 * Every payload of the Sessions of this workspace that can no longer be shown. Each is read once, however often it is
 * named.
 */
export async function badPayloads(
  log: SessionParts['log'],
): Promise<Result<readonly BadPayload[]>> {
  const bad: BadPayload[] = []
  const known = new Map<string, Payload>()
  for (const { id } of await listSessions(log.place)) {
    const resources = new SessionResources()
    const read = await readLog(log, id, { types: ADDING }, ({ event }) => {
      if (event !== undefined) resources.add(event)
    })
    // `listSessions` reports unreadable Logs.
    if (!read.ok) continue
    for (const { descriptor } of resources.all) {
      if (descriptor.kind === 'link') continue
      const { blob, handle, name } = descriptor
      const payload = known.has(blob) ? ok(known.get(blob)) : await payloadOf(log.store, descriptor)
      if (!payload.ok) return payload
      const state = payload.value ?? 'present'
      known.set(blob, state)
      if (state === 'missing' || state === 'damaged') bad.push({ session: id, handle, name, state })
    }
  }
  return ok(bad)
}

const ADDING = ['user_message', 'resource_ingested'] as const

async function payloadOf(store: BlobStore, descriptor: Descriptor): Promise<Result<Payload>> {
  if (descriptor.kind === 'link') return ok('none')
  const blob = await store.open(descriptor.blob)
  if (blob.ok) {
    await blob.value.close()
    return ok('present')
  }
  const cause = causeOf(blob.error)
  return cause?.type === 'payload' ? ok(cause.state) : blob
}

function historyOf(
  { descriptor, seq, turn: turn_id, by, goneBy }: SessionResource,
  events: readonly WholeEvent[],
): Omit<ListedResource, 'payload'> {
  const { resource_id } = descriptor
  const before = events.filter((event) => event.seq <= seq)
  const shown = events.filter(
    (event) =>
      event.type === 'provider_request' &&
      event.data.projected?.some((one) => one.resource_id === resource_id) === true,
  )
  const about = events.filter(
    (event) => 'resource_id' in event.data && event.data.resource_id === resource_id,
  )
  const retired = about.some(({ type }) => type === 'resource_retired')
  return {
    descriptor,
    turn: before.filter(({ type }) => type === 'turn_started').length,
    turn_id,
    ts: before.at(-1)?.ts ?? '',
    by,
    state: goneBy ?? (retired ? 'retired' : 'live'),
    shown: shown.length,
    views: about.filter(({ type }) => type === 'resource_view').length,
  }
}

function unknownHandle({ events, id }: LiveSession): Failed {
  const handles = new SessionResources(events).all.map(({ descriptor }) => descriptor.handle)
  return failed('not_found', 'No Resource with that handle in this Session.', { handles }, [
    { action: 'List the Resources of the Session.', command: `hawser resources ${id}` },
  ])
}
