import { sha256 } from './hash.ts'

/** 64 Ki bits: of 5,000 ids, half a percent of other ids are mistaken for known ones. */
const DEFAULT_BYTES = 8 * 1024
const PLACES = 4

/**
 * A set of ids in a fixed size (a Bloom filter). It never forgets an id; of ids that it does not contain, it takes a few
 * for known, more of them the more it contains.
 */
export class IdFilter {
  readonly #bits: Buffer

  /** `stored` is an earlier filter of as many bytes, a power of two up to 8 KiB. One that is not valid contains every id. */
  constructor(stored?: string, bytes = DEFAULT_BYTES) {
    const bits = stored === undefined ? Buffer.alloc(bytes) : Buffer.from(stored, 'base64')
    this.#bits = bits.length === bytes ? bits : Buffer.alloc(bytes, 0xff)
  }

  add(id: string): void {
    for (const { byte, mask } of this.#placesOf(id))
      this.#bits[byte] = (this.#bits[byte] ?? 0) | mask
  }

  /** False only if the id was never added. */
  mayContain(id: string): boolean {
    return this.#placesOf(id).every(({ byte, mask }) => ((this.#bits[byte] ?? 0) & mask) !== 0)
  }

  /** In base64. */
  toBase64(): string {
    return this.#bits.toString('base64')
  }

  #placesOf(id: string): { readonly byte: number; readonly mask: number }[] {
    const hash = sha256(id)
    return Array.from({ length: PLACES }, (_, at) => {
      const bit = Number.parseInt(hash.slice(at * 4, at * 4 + 4), 16) % (this.#bits.length * 8)
      return { byte: bit >> 3, mask: 1 << (bit & 7) }
    })
  }
}
