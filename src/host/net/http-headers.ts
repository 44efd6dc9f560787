/**
 * The headers of a request or a response, with the interface of `Headers`. Node's own class loads its whole HTTP client,
 * which takes longer than the rest of a request. Names are case-insensitive; values of one name are joined with `, `,
 * except cookies. Iteration is in the order of names. Throws a `TypeError` for a name or a value that HTTP does not allow.
 */
export class HttpHeaders implements Headers {
  readonly #values = new Map<string, string[]>()

  constructor(given?: RequestInit['headers']) {
    if (given === undefined) return
    for (const [name, value] of rowsOf(given)) this.append(name, value)
  }

  append(name: string, value: string): void {
    const [key, text] = [checkName(name), checkValue(value)]
    const values = this.#values.get(key)
    if (values === undefined) this.#values.set(key, [text])
    else values.push(text)
  }

  set(name: string, value: string): void {
    this.#values.set(checkName(name), [checkValue(value)])
  }

  delete(name: string): void {
    this.#values.delete(checkName(name))
  }

  get(name: string): string | null {
    return this.#values.get(checkName(name))?.join(', ') ?? null
  }

  has(name: string): boolean {
    return this.#values.has(checkName(name))
  }

  getSetCookie(): string[] {
    return [...(this.#values.get(COOKIE) ?? [])]
  }

  forEach(take: (value: string, name: string, headers: Headers) => void, self?: unknown): void {
    for (const [name, value] of this) take.call(self, value, name, this)
  }

  *entries(): Generator<[string, string], undefined> {
    for (const name of [...this.#values.keys()].toSorted()) {
      const values = this.#values.get(name) ?? []
      if (name === COOKIE) for (const value of values) yield [name, value]
      else yield [name, values.join(', ')]
    }
  }

  *keys(): Generator<string, undefined> {
    for (const [name] of this) yield name
  }

  *values(): Generator<string, undefined> {
    for (const [, value] of this) yield value
  }

  [Symbol.iterator](): Generator<[string, string], undefined> {
    return this.entries()
  }
}

const COOKIE = 'set-cookie'
const TOKEN = /^[!#$%&'*+\-.^_`|~\w]+$/
/** One character per byte, without those that end a line. */
const FORBIDDEN = /[\0\r\n]|[^\0-\xFF]/

function checkName(name: string): string {
  if (!TOKEN.test(name)) throw new TypeError('invalid header name')
  return name.toLowerCase()
}

function checkValue(value: string): string {
  const text = value.replaceAll(/^[\t\n\r ]+|[\t\n\r ]+$/g, '')
  if (FORBIDDEN.test(text)) throw new TypeError('invalid header value')
  return text
}

function* rowsOf(
  given: NonNullable<RequestInit['headers']>,
): Generator<readonly [string, string], void> {
  if (Symbol.iterator in given) {
    for (const [name, value, ...more] of given) {
      if (name === undefined || value === undefined || more.length > 0) {
        throw new TypeError('expected pairs of a name and a value')
      }
      yield [name, value]
    }
    return
  }
  for (const [name, value] of Object.entries(given)) {
    yield [name, typeof value === 'string' ? value : value.join(',')]
  }
}
