/** A seeded random generator: the same seed gives the same run, so a seed that found a bug can become a test. */
export interface Random {
  /** At least 0, below 1. */
  next(): number
  /** An integer of at least 0, below `limit`. */
  below(limit: number): number
  pick<T>(choices: readonly T[]): T
  bytes(length: number): Buffer
}

export function random(seed: number): Random {
  let state = seed >>> 0
  const next = () => {
    // mulberry32
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  const below = (limit: number) => Math.floor(next() * limit)
  return {
    next,
    below,
    pick: (choices) => {
      const choice = choices[below(choices.length)]
      if (choice === undefined) throw new Error('nothing to pick from')
      return choice
    },
    bytes: (length) => Buffer.from(Array.from({ length }, () => below(256))),
  }
}
