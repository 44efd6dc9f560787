import type { BlobStore } from '../blobs/store.ts'
import { sha256 } from '../encoding/hash.ts'
import type { BlobPart } from '../model/conversation.ts'
import type { Clock } from '../host/clock.ts'
import { patience, whileWaiting } from '../host/wait.ts'
import { failed, ok, type Result } from '../model/errors.ts'
import type { EventData } from '../model/events/event.ts'
import { blobMediaType, blobSha256, type BlobKey } from '../model/ids.ts'
import { LIMITS } from '../model/limits.ts'
import type { VariantMade } from '../model/variant-made.ts'
import type { VariantMaker } from '../resources/variants/variant-maker.ts'
import type { Variant } from '../resources/variants/variant.ts'

type Projections = NonNullable<EventData<'provider_request'>['projected']>

/** The limits for an image, as far as they are known. */
export interface ImageCaps {
  readonly max_side?: number
  readonly max_base64_bytes?: number
}

/** Creates variants, until the signal aborts. */
export interface VariantWork {
  readonly maker: VariantMaker
  readonly signal: AbortSignal
  readonly clock: Clock
}

/** There is no such variant, or its blob is missing. */
export type NoForm = 'none' | 'gone'

/**
 * Variants of Resources for models that do not accept the original. A variant of an earlier request is used again, byte
 * for byte, even if it could not be created now; without `work` none is created. All variants of one Turn share a
 * time limit.
 */
export class Variants {
  readonly #store: BlobStore
  readonly #work: VariantWork | undefined
  /** Time spent so far. A Turn may last for hours; only this is limited. */
  #spentMs = 0
  readonly #storedVariants = new Map<string, StoredVariant>()
  readonly #failures = new Map<string, string>()

  constructor(store: BlobStore, work: VariantWork | undefined) {
    this.#store = store
    this.#work = work
  }

  /** Whether variants can be created at all. */
  get makes(): boolean {
    return this.#work !== undefined && !this.#work.signal.aborted
  }

  /** Why variants could not be created, for people. */
  get failures(): readonly string[] {
    return [...this.#failures.values()]
  }

  /** Adds the recorded variants of a request. */
  learn(projected: Projections): void {
    for (const { variant, made } of projected) {
      if (variant === undefined || made?.of === undefined) continue
      this.#storedVariants.set(keyOf(made.of, made), { key: variant, params: made })
    }
  }

  /** The same image within limits. */
  smaller(part: BlobPart, caps: ImageCaps): Promise<BlobPart | NoForm> {
    return this.#form(part, { format: 'image', ...caps }, (maker, bytes) =>
      maker.image(bytes, caps),
    )
  }

  /** The text of a PDF instead of the PDF. */
  words(part: BlobPart): Promise<BlobPart | NoForm> {
    return this.#form(part, { format: 'text' }, (maker, bytes) => maker.pdfText(bytes))
  }

  async #form(part: BlobPart, params: VariantParams, make: Make): Promise<BlobPart | NoForm> {
    const name = keyOf(blobSha256(part.blob), params)
    const known = this.#storedVariants.get(name)
    const bytes = known === undefined ? undefined : await this.#store.get(known.key)
    if (known !== undefined && bytes?.ok === true) return asForm(part, known, bytes.value)
    const created = this.#failures.has(name) ? undefined : await this.#create(part, make)
    if (created === undefined) return known === undefined ? 'none' : 'gone'
    if (!created.ok) {
      const what = part.handle ?? 'A stored file'
      this.#failures.set(name, `${what} could not be made to fit: ${created.error.message}`)
      return known === undefined ? 'none' : 'gone'
    }
    // A variant that is created again is used only if it equals the one that was sent before.
    if (known !== undefined && known.key !== created.value.form.key) return 'gone'
    this.#storedVariants.set(name, created.value.form)
    return asForm(part, created.value.form, created.value.bytes)
  }

  /** `undefined` if no variant can be created, or after an abort. */
  async #create(part: BlobPart, make: Make): Promise<Result<NewVariant> | undefined> {
    if (this.#work === undefined || part.bytes === undefined || !this.makes) return undefined
    const { maker, signal, clock } = this.#work
    const left = LIMITS.turn_attachment_ms - this.#spentMs
    const started = clock.monotonicMs()
    if (left <= 0) return failed('timeout', 'There was no time left for it in this Turn.')
    const limit = patience(clock, left, signal)
    const { bytes: original } = part
    const variant = await whileWaiting(limit, () => make(maker, original)).finally(() =>
      limit.end(),
    )
    this.#spentMs += clock.monotonicMs() - started
    if (variant === undefined)
      return signal.aborted ? undefined : failed('timeout', 'It took too long.')
    if (!variant.ok) return variant
    const { bytes, media_type, params: made } = variant.value
    const key = await this.#store.put([bytes], media_type)
    return key.ok
      ? ok({ form: { key: key.value, params: { ...made, of: blobSha256(part.blob) } }, bytes })
      : key
  }
}

type Make = (maker: VariantMaker, bytes: Buffer) => Promise<Result<Variant>>

interface NewVariant {
  readonly form: StoredVariant
  readonly bytes: Buffer
}

interface StoredVariant {
  readonly key: BlobKey
  readonly params: VariantMade
}

type VariantParams = Pick<VariantMade, 'format' | 'max_side' | 'max_base64_bytes'>

/** The same bytes under the same limits have one variant, whatever its format. */
function keyOf(of: string, { format, max_side, max_base64_bytes }: VariantParams): string {
  const sort = format === 'text' ? 'text' : 'image'
  return sha256(JSON.stringify([of, sort, max_side ?? 0, max_base64_bytes ?? 0]))
}

function asForm(part: BlobPart, { key, params: made }: StoredVariant, bytes: Buffer): BlobPart {
  const { charset: _charset, width: _width, height: _height, variant, ...same } = part
  const { width, height } = made
  return {
    ...same,
    blob: key,
    media_type: blobMediaType(key),
    ...(width === undefined || height === undefined ? {} : { width, height }),
    variant: { of: variant?.of ?? blobSha256(part.blob), params: made },
    bytes,
  }
}
