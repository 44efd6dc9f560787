/** The word that was most likely intended, if one is near enough to be a typing error. */
export function nearest(typed: string, words: readonly string[]): string | undefined {
  const lower = typed.slice(0, LONGEST).toLowerCase()
  const ranked = words
    .map((word) => ({ word, apart: apartness(lower, word.toLowerCase()) }))
    .toSorted((a, b) => a.apart - b.apart)
  const [best] = ranked
  return best !== undefined && best.apart <= lower.length * SLIP ? best.word : undefined
}

const LONGEST = 100
const SLIP = 0.4

/** The edit distance to the whole name or to its last part. */
function apartness(typed: string, word: string): number {
  const last = word.split('.').at(-1) ?? word
  return Math.min(edits(typed, word), edits(typed, last) + 0.5)
}

/** Levenshtein distance. */
function edits(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at)
  for (const [i, letter] of Array.from(a).entries()) {
    const next = [i + 1]
    for (let j = 0; j < b.length; j++) {
      const change = (row[j] ?? 0) + (letter === b[j] ? 0 : 1)
      next.push(Math.min((next[j] ?? 0) + 1, (row[j + 1] ?? 0) + 1, change))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
