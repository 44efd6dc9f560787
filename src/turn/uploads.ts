import { transientsAt, uploadSubject } from '../history/transients.ts'
import type { Descriptor } from '../model/descriptor.ts'
import { ok, type Result } from '../model/errors.ts'
import type { EventDraft, WholeEvent } from '../model/event.ts'
import type { ResourceId } from '../model/ids.ts'
import type { Claim } from '../policy/claim.ts'
import { decideUpload } from '../policy/upload.ts'
import type { TurnParts } from './turn-parts.ts'

/** Whether bytes may go to the model, and why not. */
export interface UploadAnswer {
  readonly allowed: boolean
  readonly reason: string
}

/**
 * Decides about the bytes that messages brought and that are about to be shown for the first time. What is not permitted is
 * withheld from then on; what was shown before, under other rules, is retired.
 */
export async function permitUploads(parts: TurnParts): Promise<Result<void>> {
  if (UNSEEN.every((upload) => decideUpload(upload, parts.upload).answer === 'allow'))
    return ok(undefined)
  const events = parts.events()
  const { lifetimeOf } = transientsAt(events, parts.turn, parts.surface.params.replay)
  const decided = decidedIn(events)
  const shown = shownIn(events)
  for (const event of events) {
    if (event.type !== 'user_message') continue
    for (const descriptor of event.data.resources ?? []) {
      const { resource_id } = descriptor
      if (decided.has(uploadSubject(resource_id))) continue
      if (lifetimeOf(event.turn_id, resource_id) === undefined) continue
      const answer = await permitUpload(parts, descriptor)
      if (!answer.ok) return answer
      if (answer.value.allowed || !shown.has(resource_id)) continue
      const retired = await parts.commit([
        { type: 'resource_retired', data: { resource_id, why: 'upload_denied' } },
      ])
      if (!retired.ok) return retired
    }
  }
  return ok(undefined)
}

/** Where even these go, no rule stops anything. */
const UNSEEN = (['image', 'pdf', 'text'] as const).map((kind) => ({ kind, size_bytes: Infinity }))

/** Decides about one Resource, asks where that is needed, and records every answer that was not plain from the rules. */
export async function permitUpload(
  parts: TurnParts,
  descriptor: Descriptor,
  call_id?: string,
): Promise<Result<UploadAnswer>> {
  if (descriptor.kind === 'link' || descriptor.kind === 'file')
    return ok({ allowed: false, reason: 'it has nothing that could be shown' })
  const { handle, name, kind, size_bytes } = descriptor
  const { answer, reason } = decideUpload({ kind, size_bytes }, parts.upload)
  if (answer === 'allow') return ok({ allowed: true, reason })
  const claim: Claim = {
    tool: 'upload',
    effect: 'none',
    paths: [],
    network: false,
    upload: { handle, name, kind, size_bytes },
  }
  const { mode, granted } = await parts.posture(claim)
  const given =
    answer === 'deny'
      ? ({ allowed: false, scope: 'once', by: 'policy' } as const)
      : granted.has(GRANT)
        ? ({ allowed: true, scope: 'session', by: 'person' } as const)
        : await parts.ask({ call_id, claim, reason, mayGrant: true })
  const recorded = await parts.commit([decision(descriptor, { call_id, mode, ...given })])
  return recorded.ok ? ok({ allowed: given.allowed, reason }) : recorded
}

/** A yes for the rest of this process. */
const GRANT = 'upload:none'

type Decided = Extract<EventDraft, { type: 'permission_decision' }>['data']

function decision(
  descriptor: Extract<Descriptor, { content_sha256: string }>,
  {
    call_id,
    mode,
    allowed,
    scope,
    by,
  }: Pick<Decided, 'mode' | 'scope' | 'by'> & {
    readonly call_id: string | undefined
    readonly allowed: boolean
  },
): EventDraft {
  return {
    type: 'permission_decision',
    data: {
      ...(call_id === undefined ? {} : { call_id }),
      subject: uploadSubject(descriptor.resource_id),
      args_sha256: descriptor.content_sha256,
      mode,
      decision: allowed ? 'allowed' : 'denied',
      scope,
      by,
    },
  }
}

function decidedIn(events: readonly WholeEvent[]): ReadonlySet<string> {
  return new Set(
    events.flatMap((event) => (event.type === 'permission_decision' ? [event.data.subject] : [])),
  )
}

function shownIn(events: readonly WholeEvent[]): ReadonlySet<ResourceId> {
  return new Set(
    events.flatMap((event) =>
      event.type === 'provider_request'
        ? (event.data.projected ?? []).map(({ resource_id }) => resource_id)
        : [],
    ),
  )
}
