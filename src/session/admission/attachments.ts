import type { BlobStore } from '../../blobs/store.ts'
import { userParts } from '../../history/user-parts.ts'
import type { Clock } from '../../host/clock.ts'
import type { Ids } from '../../host/ids.ts'
import type { AttachmentError, AttachmentInput, MentionInput } from '../../model/attachment.ts'
import type { Part } from '../../model/conversation.ts'
import { failed, ok, type Result } from '../../model/errors.ts'
import type { MentionParts, ResolvedMentions } from '../../resources/mentions.ts'
import type {
  ResolvedAttachment,
  ResolverParts,
  AttachmentVerdict,
} from '../../resources/resolve-attachments.ts'
import { loadParts } from '../../request/load-parts.ts'
import { ResourceNames } from '../../turn/parts/resource-names.ts'
import type { RefusedAttachment } from './admit-options.ts'
import { nothingUsable, userMessage } from '../../turn/user-message.ts'

interface Place {
  readonly store: Pick<BlobStore, 'put' | 'stat' | 'get'>
  readonly clock: Clock
}

/** Checks attachments and stores the accepted ones, in input order. The resolver is loaded on first use. */
export async function resolveInputs(
  { store, clock }: Place,
  inputs: readonly AttachmentInput[],
  options: Pick<ResolverParts, 'signal' | 'hold' | 'redactor' | 'otherTypes'> = {},
): Promise<Result<readonly ResolvedAttachment[]>> {
  if (inputs.length === 0) return ok([])
  const { resolveAttachments } = await import('../../resources/resolve-attachments.ts')
  const keep: BlobStore['put'] = (bytes, type) => store.put(bytes, type)
  return resolveAttachments(inputs, { clock, keep, blobs: store, ...options })
}

/** Reads what a message mentions. The resolver is loaded on first use. */
export async function resolveNamed(
  inputs: readonly MentionInput[],
  parts: MentionParts,
): Promise<Result<ResolvedMentions>> {
  if (inputs.length === 0) return ok({ mentions: [], errors: [] })
  return (await import('../../resources/mentions.ts')).resolveMentions(inputs, parts)
}

/** What was refused, in input order. */
export function refusedOf(resolved: readonly ResolvedAttachment[]): readonly RefusedAttachment[] {
  return resolved.flatMap((one) => (one.ok ? [] : [{ given: one.given, error: one.error }]))
}

/**
 * Must run under the lock of the Session, before an Event names the blobs. If a queued Turn waited long, or the clock
 * jumped, a sweep may have deleted them; after this call no sweep deletes them.
 */
export async function renewInputs(
  store: Pick<BlobStore, 'renew'>,
  resolved: readonly ResolvedAttachment[],
  mentions: ResolvedMentions['mentions'] = [],
): Promise<Result<void>> {
  const attached = resolved.flatMap((one) =>
    !one.ok || one.facts.kind === 'link' ? [] : [{ blob: one.facts.blob, name: one.facts.name }],
  )
  const named = mentions.map(({ blob, path }) => ({ blob, name: path }))
  for (const { blob, name } of [...attached, ...named]) {
    const renewed = await store.renew(blob)
    if (!renewed.ok) return renewed
    if (renewed.value) continue
    const message = `${name} is no longer in the store: it was deleted as unused before its Turn started.`
    return failed('resource_missing', message, { blob, state: 'missing' }, [
      { action: 'Attach it again.' },
    ])
  }
  return ok(undefined)
}

/** Returns whether each attachment would be accepted. Stores and sends nothing. */
export async function checkInputs(
  clock: Clock,
  inputs: readonly AttachmentInput[],
): Promise<Result<readonly AttachmentVerdict[]>> {
  const { resolveAttachments, verdictOf } = await import('../../resources/resolve-attachments.ts')
  const resolved = await resolveAttachments(inputs, { clock })
  return resolved.ok ? ok(resolved.value.map(verdictOf)) : resolved
}

export interface ContentBlocks {
  /** Provider-neutral: the warning if any, the text, descriptors, then bytes in input order. */
  readonly contentBlocks: readonly Part[]
  readonly errors: readonly AttachmentError[]
  readonly promptMode: 'string' | 'blocks'
}

interface BlocksPlace {
  /** Keeps the bytes. */
  readonly store: BlobStore
  readonly clock: Clock
  readonly ids: Ids
  readonly signal?: AbortSignal | undefined
}

/**
 * Resolves a message and files to the parts that a model is shown, an error for each refused file, and the prompt mode.
 * File types come from the bytes, never from what a client claims. Fails when there is nothing to show, and when the
 * bytes cannot be stored.
 */
export async function contentBlocks(
  message: string,
  paths: readonly unknown[],
  { store, clock, ids, signal }: BlocksPlace,
): Promise<Result<ContentBlocks>> {
  const inputs = paths.map((path) => ({ from: 'path', path }) as const)
  const reading = signal === undefined ? {} : { signal }
  const resolved = await resolveInputs({ store, clock }, inputs, reading)
  if (!resolved.ok) return resolved
  const names = new ResourceNames(ids, () => [])
  const composed = userMessage(
    message,
    resolved.value,
    (facts, by) => names.name(facts, by),
    'http',
  )
  if (!composed.ok) return composed
  const data = composed.value
  const unusable = nothingUsable(data, resolved.value)
  if (unusable !== undefined) return unusable
  const item = { kind: 'user', seq: 0, parts: userParts(data, () => 'turn') } as const
  const { items, failure } = await loadParts([item], store)
  if (failure !== undefined) return { ok: false, error: failure }
  const blocks = items.flatMap((one) => ('parts' in one ? one.parts : []))
  const errors = data.attachment_errors ?? []
  return ok({ contentBlocks: blocks, errors, promptMode: data.prompt_mode })
}
