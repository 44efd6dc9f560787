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

type Projected = NonNullable<EventData<'provider_request'>['projected']>

/** What an image may have at most, as far as anybody knows. */
export interface ImageCaps {
  readonly max_side?: number
  readonly max_base64_bytes?: number
}

/** What makes forms, for as long as somebody waits. */
export interface VariantWork {
  readonly maker: VariantMaker
  readonly signal: AbortSignal
  readonly clock: Clock
}

/** There is no such form, or there was one that is gone. */
export type NoForm = 'none' | 'gone'

/**
 * Forms of Resources that a model takes where it does not take the original. One that an earlier request used is used again,
 * byte for byte, also where nobody could make it any more; without `work` nothing is ever made. All that are made for one Turn
 * together take a limited time.
 */
export class Variants {
  readonly #store: BlobStore
  readonly #work: VariantWork | undefined
  /** What making took so far. A Turn may last for hours; only this is limited. */
  #spentMs = 0
  readonly #known = new Map<string, Form>()
  readonly #failures = new Map<string, string>()

  constructor(store: BlobStore, work: VariantWork | undefined) {
    this.#store = store
    this.#work = work
  }

  /** Whether forms can be made here at all. */
  get makes(): boolean {
    return this.#work !== undefined && !this.#work.signal.aborted
  }

  /** Why something could not be made, in words for people. */
  get failures(): readonly string[] {
    return [...this.#failures.values()]
  }

  /** Takes over what a request was recorded with. */
  learn(projected: Projected): void {
    for (const { variant, made } of projected) {
      if (variant === undefined || made?.of === undefined) continue
      this.#known.set(keyOf(made.of, made), { key: variant, made })
    }
  }

  /** The same image within limits. */
  smaller(part: BlobPart, caps: ImageCaps): Promise<BlobPart | NoForm> {
    return this.#form(part, { format: 'image', ...caps }, (maker, bytes) =>
      maker.image(bytes, caps),
    )
  }

  /** The words of a PDF instead of the PDF. */
  words(part: BlobPart): Promise<BlobPart | NoForm> {
    return this.#form(part, { format: 'text' }, (maker, bytes) => maker.pdfText(bytes))
  }

  async #form(part: BlobPart, wish: Wish, make: Make): Promise<BlobPart | NoForm> {
    const name = keyOf(blobSha256(part.blob), wish)
    const known = this.#known.get(name)
    const bytes = known === undefined ? undefined : await this.#store.get(known.key)
    if (known !== undefined && bytes?.ok === true) return asForm(part, known, bytes.value)
    const made = this.#failures.has(name) ? undefined : await this.#made(part, make)
    if (made === undefined) return known === undefined ? 'none' : 'gone'
    if (!made.ok) {
      const what = part.handle ?? 'A stored file'
      this.#failures.set(name, `${what} could not be made to fit: ${made.error.message}`)
      return known === undefined ? 'none' : 'gone'
    }
    // Made anew, it counts only if it is what was sent before.
    if (known !== undefined && known.key !== made.value.form.key) return 'gone'
    this.#known.set(name, made.value.form)
    return asForm(part, made.value.form, made.value.bytes)
  }

  /** `undefined` where nothing is made, or nobody waits any longer. */
  async #made(part: BlobPart, make: Make): Promise<Result<Made> | undefined> {
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
    const { bytes, media_type, made } = variant.value
    const key = await this.#store.put([bytes], media_type)
    return key.ok
      ? ok({ form: { key: key.value, made: { ...made, of: blobSha256(part.blob) } }, bytes })
      : key
  }
}

type Make = (maker: VariantMaker, bytes: Buffer) => Promise<Result<Variant>>

interface Made {
  readonly form: Form
  readonly bytes: Buffer
}

interface Form {
  readonly key: BlobKey
  readonly made: VariantMade
}

type Wish = Pick<VariantMade, 'format' | 'max_side' | 'max_base64_bytes'>

/** The same bytes under the same limits have one form, whatever it was encoded as. */
function keyOf(of: string, { format, max_side, max_base64_bytes }: Wish): string {
  const sort = format === 'text' ? 'text' : 'image'
  return sha256(JSON.stringify([of, sort, max_side ?? 0, max_base64_bytes ?? 0]))
}

function asForm(part: BlobPart, { key, made }: Form, bytes: Buffer): BlobPart {
  const { charset: _charset, width: _width, height: _height, variant, ...same } = part
  const { width, height } = made
  return {
    ...same,
    blob: key,
    media_type: blobMediaType(key),
    ...(width === undefined || height === undefined ? {} : { width, height }),
    variant: { of: variant?.of ?? blobSha256(part.blob), made },
    bytes,
  }
}
