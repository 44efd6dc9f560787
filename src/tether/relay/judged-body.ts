import type { OpenPost } from '../../host/net/http-post.ts'
import { BodyJudge } from './judge.ts'
import { refusal, type RefusedCall } from './refusal.ts'
import type { RelayRules } from './rules.ts'

/** A complete request. */
export interface CompleteRequest {
  readonly post: OpenPost
  readonly model: string
  readonly requestBytes: number
}

export interface JudgedBodyOptions {
  readonly rules: RelayRules
  /** The `content-length` that the guest sent, if it sent one. */
  readonly contentLength: string | undefined
  /** Why a call to this model is not allowed now. Asked before the first byte is sent and before the last. */
  readonly refusalOf: (model: string) => RefusedCall | undefined
  /** Opens the request to the provider. */
  readonly open: (length: number) => OpenPost
}

/** How much is sent at a time. */
const PIECE_BYTES = 128 * 1024

const WRONG_LENGTH = refusal('denied', 'The relay refused a body of another length than declared.')

/**
 * Sends a body to the provider while it arrives and is judged. Until all of it is judged, the provider has neither a complete
 * request nor a complete JSON object, and no byte of a body whose model is unknown: the piece in which the object ends, and all
 * after it, are sent last. A body without a declared length is sent when its length is known.
 */
export class JudgedBody {
  readonly #options: JudgedBodyOptions
  readonly #judge: BodyJudge
  readonly #contentLength: number | undefined
  #chunks: Buffer[] = []
  #heldBytes = 0
  #bytes = 0
  #post: OpenPost | undefined
  #refusal: RefusedCall | undefined

  constructor(options: JudgedBodyOptions) {
    this.#options = options
    this.#judge = new BodyJudge(options.rules)
    const { contentLength = '' } = options
    this.#contentLength = /^[0-9]{1,9}$/.test(contentLength) ? Number(contentLength) : undefined
  }

  get refusal(): RefusedCall | undefined {
    return this.#refusal
  }

  /** False if the body is refused, whatever follows. */
  take(chunk: Buffer): boolean {
    this.#bytes += chunk.length
    this.#refusal = this.#judge.push(chunk)
    this.#chunks.push(chunk)
    this.#heldBytes += chunk.length
    if (this.#heldBytes > PIECE_BYTES) this.#sendAllButLast()
    return this.#refusal === undefined
  }

  /** The body is complete. */
  end(): CompleteRequest | RefusedCall {
    const refused = this.#judge.end() ?? this.#wrongLength()
    const { model } = this.#judge
    if (refused !== undefined || model === undefined) return refused ?? WRONG_LENGTH
    // Other calls may have ended while the body arrived.
    const late = this.#options.refusalOf(model)
    if (late !== undefined) return late
    const post = (this.#post ??= this.#options.open(this.#bytes))
    post.end(this.#chunks)
    this.#chunks = []
    return { post, model, requestBytes: this.#bytes }
  }

  /** Breaks the connection to the provider, so that it never has a complete request. */
  abort(): void {
    this.#post?.destroy()
  }

  #sendAllButLast(): void {
    const { model, isWhole } = this.#judge
    const last = this.#chunks.at(-1)
    if (this.#refusal !== undefined || isWhole || last === undefined) return
    if (this.#contentLength === undefined || model === undefined) return
    if (this.#post === undefined) {
      this.#refusal = this.#options.refusalOf(model)
      if (this.#refusal !== undefined) return
      this.#post = this.#options.open(this.#contentLength)
    }
    this.#post.send(this.#chunks.slice(0, -1))
    this.#chunks = [last]
    this.#heldBytes = last.length
  }

  #wrongLength(): RefusedCall | undefined {
    const isRight = this.#contentLength === undefined || this.#contentLength === this.#bytes
    return isRight ? undefined : WRONG_LENGTH
  }
}
