import type { BlobStore } from '../blobs/store.ts'
import { sha256 } from '../encoding/hash.ts'
import type { BlobPart } from '../model/conversation.ts'
import type { Result } from '../model/errors.ts'
import type { EventData } from '../model/event.ts'
import { blobMediaType, type BlobKey } from '../model/ids.ts'
import type { VariantMade } from '../model/provider-events.ts'
import type { VariantMaker } from '../resources/variant-maker.ts'
import type { Variant } from '../resources/variant.ts'

type Projected = NonNullable<EventData<'provider_request'>['projected']>

/** What an image may have at most, as far as anybody knows. */
export interface ImageCaps {
  readonly max_side?: number
  readonly max_base64_bytes?: number
}

/**
 * Forms of Resources that a model takes where it does not take the original. One that an earlier request used is used again,
 * byte for byte, also where nobody could make it any more; only without a `maker` nothing is ever made.
 */
export class Variants {
  readonly #store: BlobStore
  readonly #maker: VariantMaker | undefined
  readonly #known = new Map<string, Form>()
  readonly #failures = new Map<string, string>()

  constructor(store: BlobStore, maker: VariantMaker | undefined) {
    this.#store = store
    this.#maker = maker
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

  /** The same image within limits; `undefined` when there is no such form of it. */
  smaller(part: BlobPart, caps: ImageCaps): Promise<BlobPart | undefined> {
    return this.#form(part, { format: 'image', ...caps }, (maker, bytes) =>
      maker.image(bytes, caps),
    )
  }

  /** The words of a PDF instead of the PDF. */
  words(part: BlobPart): Promise<BlobPart | undefined> {
    return this.#form(part, { format: 'text' }, (maker, bytes) => maker.pdfText(bytes))
  }

  async #form(
    part: BlobPart,
    wish: Wish,
    make: (maker: VariantMaker, bytes: Buffer) => Promise<Result<Variant>>,
  ): Promise<BlobPart | undefined> {
    const of = part.blob.slice(0, SHA_256_HEX)
    const name = keyOf(of, wish)
    const known = this.#known.get(name)
    if (known !== undefined) return this.#recorded(part, known)
    if (this.#maker === undefined || part.bytes === undefined || this.#failures.has(name))
      return undefined
    const variant = await make(this.#maker, part.bytes)
    const key = variant.ok
      ? await this.#store.put([variant.value.bytes], variant.value.media_type)
      : variant
    if (!variant.ok || !key.ok) {
      const why = key.ok ? '' : key.error.message
      this.#failures.set(name, `${part.handle ?? 'A stored file'} could not be made to fit: ${why}`)
      return undefined
    }
    const form = { key: key.value, made: { ...variant.value.made, of } }
    this.#known.set(name, form)
    return asForm(part, form, variant.value.bytes)
  }

  async #recorded(part: BlobPart, form: Form): Promise<BlobPart | undefined> {
    const bytes = await this.#store.get(form.key)
    return bytes.ok ? asForm(part, form, bytes.value) : undefined
  }
}

interface Form {
  readonly key: BlobKey
  readonly made: VariantMade
}

type Wish = Pick<VariantMade, 'format' | 'max_side' | 'max_base64_bytes'>

/** A blob's key begins with the hash of its bytes. */
const SHA_256_HEX = 64

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
    variant: { of: variant?.of ?? part.blob.slice(0, SHA_256_HEX), made },
    bytes,
  }
}
