import { sha256 } from './hash.ts'

/** 64 Ki bits: of 5,000 ids, half a percent of other ids are taken for known. */
const BYTES = 8 * 1024
const PLACES = 4

/**
 * A set of ids in a fixed size (a Bloom filter). It never forgets an id; of ids that it does not contain, it takes a few
 * for known, more of them the more it contains.
 */
export class IdFilter {
  readonly #bits: Buffer

  /** `stored` is an earlier filter. One that is not valid contains every id. */
  constructor(stored?: string) {
    const bits = stored === undefined ? Buffer.alloc(BYTES) : Buffer.from(stored, 'base64')
    this.#bits = bits.length === BYTES ? bits : Buffer.alloc(BYTES, 0xff)
  }

  add(id: string): void {
    for (const { byte, mask } of placesOf(id)) this.#bits[byte] = (this.#bits[byte] ?? 0) | mask
  }

  /** False only if the id was never added. */
  mayContain(id: string): boolean {
    return placesOf(id).every(({ byte, mask }) => ((this.#bits[byte] ?? 0) & mask) !== 0)
  }

  /** In base64. */
  stored(): string {
    return this.#bits.toString('base64')
  }
}

function placesOf(id: string): { readonly byte: number; readonly mask: number }[] {
  const hash = sha256(id)
  return Array.from({ length: PLACES }, (_, at) => {
    const bit = Number.parseInt(hash.slice(at * 4, at * 4 + 4), 16)
    return { byte: bit >> 3, mask: 1 << (bit & 7) }
  })
}
