import { transientsAt } from '../../history/transients.ts'
import type { Descriptor } from '../../model/descriptor.ts'
import { failed, ok, type Result } from '../../model/errors.ts'
import type { EventDraft, WholeEvent } from '../../model/events/event.ts'
import { notice } from '../../model/events/notice.ts'
import type { ResourceId } from '../../model/ids.ts'
import { uploadSubject } from '../../model/permission-subject.ts'
import type { Claim } from '../../policy/claim.ts'
import type { Offer } from '../../policy/rules.ts'
import { decideUpload } from '../../policy/upload.ts'
import type { TurnParts } from '../parts/turn-parts.ts'
import { verdictDraft } from '../parts/verdict.ts'

/** Whether bytes may be sent to the model, and if not, why. */
export interface UploadAnswer {
  readonly isAllowed: boolean
  readonly reason: string
}

/**
 * Decides about the attached bytes that this Turn shows, by the current rules, which may have changed since an earlier
 * Turn. Denied bytes are withheld from now on; those shown before are retired.
 */
export async function permitUploads(parts: TurnParts): Promise<Result<void>> {
  if (UNSEEN.every((upload) => decideUpload(upload, parts.person.upload).answer === 'allow'))
    return ok(undefined)
  const { log, model } = parts
  const events = log.events()
  const { lifetimeOf } = transientsAt(events, log.turn, model.surface.params.replay)
  const allowed = allowedIn(events)
  const shown = shownIn(events)
  for (const event of events) {
    if (event.type !== 'user_message') continue
    for (const descriptor of event.data.resources ?? []) {
      const { resource_id } = descriptor
      if (lifetimeOf(event.turn_id, resource_id) === undefined) continue
      const once = allowed.has(uploadSubject(resource_id))
      const answer = await uploadDecision(parts, descriptor, { once })
      if (!answer.ok) return answer
      const recorded = await record(log, descriptor, answer.value, shown.has(resource_id))
      if (!recorded.ok) return recorded
    }
  }
  return ok(undefined)
}

/** Decides about one view of a Resource. If the rules say ask, every view is asked about. */
export async function permitUpload(
  parts: TurnParts,
  descriptor: Descriptor,
  call_id?: string,
): Promise<Result<UploadAnswer>> {
  const answer = await uploadDecision(parts, descriptor, { once: false, call_id })
  if (!answer.ok) return answer
  const { draft, isAllowed, reason } = answer.value
  const recorded = draft === undefined ? ok(undefined) : await parts.log.commit([draft])
  return recorded.ok ? ok({ isAllowed, reason }) : recorded
}

/** The retirement is recorded first: whichever of these Events survive, nothing denied is shown. */
async function record(
  { commit }: TurnParts['log'],
  { resource_id, handle }: Descriptor,
  { draft, isAllowed, reason }: UploadDecision,
  wasShown: boolean,
): Promise<Result<void>> {
  if (draft === undefined) return ok(undefined)
  if (isAllowed) return commit([draft])
  const retired: EventDraft = {
    type: 'resource_retired',
    data: { resource_id, why: 'upload_denied' },
  }
  const text = `Not sent to the model: ${handle}: ${reason}.`
  return commit([...(wasShown ? [retired] : []), draft, notice('upload_denied', text)])
}

/** If the rules allow even these, no rule can deny anything. */
const UNSEEN = (['image', 'pdf', 'text'] as const).map((kind) => ({ kind, size_bytes: Infinity }))

interface UploadDecision extends UploadAnswer {
  /** The decision to record; absent if the rules alone allow it, or a consent is already recorded. */
  readonly draft?: EventDraft
}

/** Asks if necessary. An interrupt is not an answer. With `once`, a person has already consented. */
async function uploadDecision(
  parts: Pick<TurnParts, 'log' | 'tools' | 'person'>,
  descriptor: Descriptor,
  { once, call_id }: { readonly once: boolean; readonly call_id?: string | undefined },
): Promise<Result<UploadDecision>> {
  if (descriptor.kind === 'link' || descriptor.kind === 'file')
    return ok({ isAllowed: false, reason: 'it has nothing that could be shown' })
  const { handle, name, kind, size_bytes } = descriptor
  const { answer, reason } = decideUpload({ kind, size_bytes }, parts.person.upload)
  if (answer === 'allow' || (answer === 'ask' && once)) return ok({ isAllowed: true, reason })
  const upload = { handle, name, kind, size_bytes }
  const claim: Claim = { tool: 'upload', effect: 'none', paths: [], network: false, upload }
  const { mode, rules = [] } = await parts.tools.posture(claim)
  const { resource_id, content_sha256: args_sha256 } = descriptor
  const about = { call_id, subject: uploadSubject(resource_id), args_sha256, mode }
  const isGranted = rules.some(({ rule }) => rule.kind === 'upload' && rule.answer === 'allow')
  const settled =
    answer === 'deny'
      ? ok({ isAllowed: false, scope: 'once', by: 'policy' } as const)
      : isGranted
        ? ok({ isAllowed: true, scope: 'session', by: 'person' } as const)
        : await parts.person.ask({ about, claim, reason, offers: [OFFER] })
  if (!settled.ok) return settled
  const draft = verdictDraft(about, settled.value)
  const { isAllowed, by } = settled.value
  if (!parts.person.signal.aborted) return ok({ isAllowed, reason, draft })
  // A question always ends in a decision. Policy needs none if nothing is sent any more.
  const recorded = by === 'policy' ? ok(undefined) : await parts.log.commit([draft])
  return recorded.ok ? failed('interrupted', 'The Turn was interrupted.') : recorded
}

/** A yes for the rest of this process. */
const OFFER: Offer = { rule: { kind: 'upload', answer: 'allow' }, scopes: ['session'] }

/** The Resources that a person allowed for the current provider; a change of provider requires new consent. */
function allowedIn(events: readonly WholeEvent[]): ReadonlySet<string> {
  const allowed = new Set<string>()
  for (const { type, data } of events) {
    if (type === 'session_settings' && data.provider !== undefined) allowed.clear()
    if (type !== 'permission_decision') continue
    if (data.decision === 'allowed') allowed.add(data.subject)
    else allowed.delete(data.subject)
  }
  return allowed
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
