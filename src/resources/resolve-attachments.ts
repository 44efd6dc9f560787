import type { BlobStore } from '../blobs/store.ts'
import { sha256 } from '../encoding/hash.ts'
import type { Redactor } from '../encoding/redaction.ts'
import type { Clock } from '../host/clock.ts'
import type { ConfinedFiles } from '../host/files/confined-files.ts'
import { outsideFiles, type OutsideFiles } from '../host/files/outside-file.ts'
import type { AttachmentCode, AttachmentError, AttachmentInput } from '../model/attachment.ts'
import type { ResourceFacts, ResourceKind } from '../model/descriptor.ts'
import { failed, ok, type Result } from '../model/errors.ts'
import { BLOB_EXTENSIONS, BlobKey, blobSha256 } from '../model/ids.ts'
import { LIMITS } from '../model/limits.ts'
import { definedFields } from '../model/fields/defined-fields.ts'
import { shownName } from './attachment-name.ts'
import { examine, type ExaminedFile, type FileReading } from './examine.ts'
import { patience, whileWaiting } from '../host/wait.ts'
import { refusalOf, timedOut } from './refusal.ts'
import { readInput, type ReadInput } from './attachment-source.ts'
import { declaredOf, linkLabel } from './link.ts'
import { namedBlob } from './named-blob.ts'

export interface ResolverParts {
  readonly clock: Clock
  /** Where accepted bytes are stored. Absent to get verdicts only: nothing is stored, and verdicts still contain blob keys. */
  readonly keep?: BlobStore['put']
  /** Receives the buffers of stored bytes, which are not written to afterwards. */
  readonly hold?: (key: BlobKey, bytes: Buffer) => void
  /** The store that blob inputs name. Without it, they are refused. */
  readonly blobs?: Pick<BlobStore, 'stat' | 'get'>
  /** For callers confined to one workspace, such as the tools of a model: paths are relative to this workspace. */
  readonly workspaceFiles?: ConfinedFiles
  /** `store`: files of other types become kind `file`. `refuse` by default. */
  readonly otherTypes?: 'refuse' | 'store'
  readonly signal?: AbortSignal
  /** Bytes attached earlier that count towards the same budget. */
  readonly takenBytes?: number
  /** Defaults to the local file system. */
  readonly files?: OutsideFiles
  /** Removes keys from names before they are shortened. */
  readonly redactor?: Redactor
}

export type ResolvedAttachment =
  | { readonly ok: true; readonly facts: ResourceFacts }
  /** `given` is what the client sent; it is returned to that client only. */
  | { readonly ok: false; readonly given: string; readonly error: AttachmentError }

/**
 * Checks each attachment in input order and stores the bytes of those that are accepted. Claims of the client decide nothing:
 * bytes are read once, and the bytes that were checked are the bytes that are stored. The same inputs in the same order give the
 * same results. Fails as a whole only if the store fails or `signal` aborts.
 */
export async function resolveAttachments(
  inputs: readonly AttachmentInput[],
  parts: ResolverParts,
): Promise<Result<readonly ResolvedAttachment[]>> {
  const reading = readingFor(parts)
  const all = patience(parts.clock, LIMITS.turn_attachment_ms, parts.signal)
  const resolved: ResolvedAttachment[] = []
  try {
    for (const [index, input] of inputs.entries()) {
      const one = await resolveOne(input, index, reading, parts, all.signal)
      if (!one.ok) return one
      resolved.push(one.value)
    }
    return ok(resolved)
  } finally {
    all.end()
  }
}

/** The result for a client that checks attachments before sending them. */
export interface AttachmentVerdict {
  readonly accepted: boolean
  readonly code?: AttachmentCode
  readonly reason?: string
  readonly kind?: ResourceKind
  readonly sizeBytes?: number
  readonly mediaType?: string
  /** Of an image. */
  readonly pixels?: { readonly width: number; readonly height: number }
  readonly limit?: number
  readonly actual?: number
}

export function verdictOf(resolved: ResolvedAttachment): AttachmentVerdict {
  if (!resolved.ok) {
    const { code, reason, limit, actual } = resolved.error
    return {
      accepted: false,
      code,
      reason,
      ...definedFields({ limit, actual }),
    }
  }
  const { facts } = resolved
  return facts.kind === 'link'
    ? { accepted: true, kind: facts.kind }
    : {
        accepted: true,
        kind: facts.kind,
        sizeBytes: facts.size_bytes,
        mediaType: facts.media_type,
        ...pixelsOf(facts),
      }
}

function pixelsOf(facts: ResourceFacts): Pick<AttachmentVerdict, 'pixels'> {
  if (facts.kind !== 'image') return {}
  const { width, height } = facts
  return width === undefined || height === undefined ? {} : { pixels: { width, height } }
}

function readingFor({
  workspaceFiles,
  otherTypes = 'refuse',
  files = outsideFiles,
  takenBytes = 0,
}: ResolverParts): FileReading {
  return { files, workspaceFiles, otherTypes, takenBytes, memory: undefined }
}

async function resolveOne(
  input: AttachmentInput,
  index: number,
  reading: FileReading,
  parts: ResolverParts,
  all: AbortSignal,
): Promise<Result<ResolvedAttachment>> {
  const wanted = await wantedFrom(input, reading, parts)
  const one = patience(parts.clock, LIMITS.attachment_ms, all)
  const examined = await whileWaiting(one, () => examine(wanted, reading, one)).finally(() =>
    one.end(),
  )
  if (parts.signal?.aborted === true)
    return failed('interrupted', 'Interrupted before all attachments were read.')
  // An abandoned read may still write to it.
  if (examined === undefined) reading.memory = undefined
  const found = examined ?? timedOut(all.aborted)
  const described = notCopied(input, wanted, found, reading)
  if (described !== undefined) return ok({ ok: true, facts: described })
  if ('code' in found) {
    const known = parts.redactor?.text(wanted.name) ?? wanted.name
    const name = known === '' ? `attachment ${index + 1}` : shownName(known)
    return ok({ ok: false, given: wanted.given, error: refusalOf(name, found) })
  }
  if ('facts' in found) return ok({ ok: true, facts: found.facts })
  const stored = await keep(found, parts)
  if (!stored.ok) return stored
  reading.takenBytes += found.bytes.length
  if (parts.hold !== undefined) {
    parts.hold(stored.value, found.bytes)
    reading.memory = undefined
  }
  return ok({ ok: true, facts: attachmentFacts(found, stored.value) })
}

/** The facts of a link to a local file that cannot be copied, for presenters that describe such links. */
function notCopied(
  input: AttachmentInput,
  { name, is }: ReadInput,
  found: Awaited<ReturnType<typeof examine>>,
  { otherTypes }: FileReading,
): ResourceFacts | undefined {
  if (!('code' in found) || input.from !== 'link' || !('path' in is)) return undefined
  if (otherTypes !== 'store') return undefined
  const { code: not_copied } = found
  return { kind: 'link', name: linkLabel(name), not_copied, ...is.labels, ...declaredOf(input) }
}

async function wantedFrom(
  input: AttachmentInput,
  { workspaceFiles }: FileReading,
  { blobs }: ResolverParts,
): Promise<ReadInput> {
  if (input.from !== 'blob') return readInput(input, workspaceFiles !== undefined)
  const bytes = await namedBlob(input, blobs)
  if (!('code' in bytes)) return readInput({ from: 'bytes', name: input.name, bytes }, false)
  return { given: input.blob, name: input.name, is: { refusal: bytes } }
}

async function keep(
  { bytes, media_type }: ExaminedFile,
  parts: ResolverParts,
): Promise<Result<BlobKey>> {
  if (parts.keep !== undefined) return parts.keep([bytes], media_type)
  return ok(BlobKey.parse(`${sha256(bytes)}.${BLOB_EXTENSIONS[media_type]}`))
}

function attachmentFacts(
  { name, bytes, media_type, probe, labels }: ExaminedFile,
  blob: BlobKey,
): ResourceFacts {
  const content_sha256 = blobSha256(blob)
  return { ...probe, name, media_type, size_bytes: bytes.length, content_sha256, blob, ...labels }
}
