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
  readonly declared: string | undefined
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
  readonly #declared: number | undefined
  #held: Buffer[] = []
  #heldBytes = 0
  #bytes = 0
  #post: OpenPost | undefined
  #refused: RefusedCall | undefined

  constructor(options: JudgedBodyOptions) {
    this.#options = options
    this.#judge = new BodyJudge(options.rules)
    const { declared = '' } = options
    this.#declared = /^[0-9]{1,9}$/.test(declared) ? Number(declared) : undefined
  }

  get refused(): RefusedCall | undefined {
    return this.#refused
  }

  /** False if the body is refused, whatever follows. */
  take(chunk: Buffer): boolean {
    this.#bytes += chunk.length
    this.#refused = this.#judge.push(chunk)
    this.#held.push(chunk)
    this.#heldBytes += chunk.length
    if (this.#heldBytes > PIECE_BYTES) this.#sendAllButLast()
    return this.#refused === undefined
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
    post.end(this.#held)
    this.#held = []
    return { post, model, requestBytes: this.#bytes }
  }

  /** Breaks the connection to the provider, so that it never has a complete request. */
  abort(): void {
    this.#post?.destroy()
  }

  #sendAllButLast(): void {
    const { model, isWhole } = this.#judge
    const last = this.#held.at(-1)
    if (this.#refused !== undefined || isWhole || last === undefined) return
    if (this.#declared === undefined || model === undefined) return
    if (this.#post === undefined) {
      this.#refused = this.#options.refusalOf(model)
      if (this.#refused !== undefined) return
      this.#post = this.#options.open(this.#declared)
    }
    this.#post.send(this.#held.slice(0, -1))
    this.#held = [last]
    this.#heldBytes = last.length
  }

  #wrongLength(): RefusedCall | undefined {
    const isRight = this.#declared === undefined || this.#declared === this.#bytes
    return isRight ? undefined : WRONG_LENGTH
  }
}
