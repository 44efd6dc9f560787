import { HttpHeaders } from './http-headers.ts'

interface Head {
  readonly status: number
  readonly headers: HttpHeaders
}

/**
 * A response with the interface of `Response`, whose class loads Node's whole HTTP client. `url` and `statusText` are always
 * empty. Throws a `RangeError` for a status that no answer has.
 */
export class HttpResponse implements Response {
  readonly status: number
  readonly headers: HttpHeaders
  readonly statusText = ''
  readonly type = 'default'
  readonly url = ''
  #body: ReadableStream<Uint8Array> | null
  #isUsed = false

  constructor(body: ReadableStream<Uint8Array> | null, { status, headers }: Head) {
    if (!(status >= 200 && status <= 599)) throw new RangeError('invalid status')
    this.status = status
    this.headers = headers
    this.#body = body
  }

  get body(): ReadableStream<Uint8Array> | null {
    return this.#body
  }

  get redirected(): boolean {
    return false
  }

  get ok(): boolean {
    return this.status >= 200 && this.status <= 299
  }

  get bodyUsed(): boolean {
    return this.#isUsed
  }

  async text(): Promise<string> {
    return new TextDecoder().decode(await this.#whole())
  }

  async json(): Promise<unknown> {
    return JSON.parse(await this.text())
  }

  async arrayBuffer(): Promise<ArrayBuffer> {
    return (await this.#whole()).buffer
  }

  bytes(): Promise<Uint8Array<ArrayBuffer>> {
    return this.#whole()
  }

  async blob(): Promise<Blob> {
    return new Blob([await this.#whole()], { type: this.headers.get('content-type') ?? '' })
  }

  formData(): Promise<FormData> {
    this.#take()
    return new Response(this.#body, { headers: [...this.headers] }).formData()
  }

  clone(): HttpResponse {
    this.#check()
    const [own, other] = this.#body?.tee() ?? [null, null]
    this.#body = own
    return new HttpResponse(other, { status: this.status, headers: new HttpHeaders(this.headers) })
  }

  async #whole(): Promise<Uint8Array<ArrayBuffer>> {
    this.#take()
    const pieces: Uint8Array[] = []
    for await (const piece of this.#body ?? []) pieces.push(piece)
    const whole = new Uint8Array(pieces.reduce((length, piece) => length + piece.length, 0))
    let at = 0
    for (const piece of pieces) {
      whole.set(piece, at)
      at += piece.length
    }
    return whole
  }

  #take(): void {
    this.#check()
    this.#isUsed = true
  }

  #check(): void {
    if (this.#isUsed || this.#body?.locked === true) throw new TypeError('the body is in use')
  }
}
