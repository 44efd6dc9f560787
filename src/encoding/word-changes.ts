/** A part of a line, and whether the other line lacks it. */
export interface LinePart {
  readonly text: string
  readonly isChange: boolean
}

export interface WordChanges {
  readonly before: readonly LinePart[]
  readonly after: readonly LinePart[]
}

/**
 * Which words of a line changed; `undefined` if the lines have too little in common for that to help, or are too long to
 * compare. Pure.
 */
export function wordChanges(before: string, after: string): WordChanges | undefined {
  const [old, fresh] = [wordsOf(before), wordsOf(after)]
  if (old.length * fresh.length > MOST_COMPARISONS) return undefined
  const kept = commonWords(old, fresh)
  const shared = kept.reduce((sum, { at }) => sum + (old[at] ?? '').trim().length, 0)
  const longer = Math.max(before.trim().length, after.trim().length)
  if (shared < longer * LEAST_SHARED) return undefined
  return {
    before: partsOf(old, new Set(kept.map(({ at }) => at))),
    after: partsOf(fresh, new Set(kept.map(({ other }) => other))),
  }
}

const MOST_COMPARISONS = 40_000
const LEAST_SHARED = 0.3

function wordsOf(line: string): string[] {
  return line.match(/[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu) ?? []
}

/** The longest sequence of words that both have, by their places. */
function commonWords(
  old: readonly string[],
  fresh: readonly string[],
): { readonly at: number; readonly other: number }[] {
  const width = fresh.length + 1
  // How long the sequence is from a pair of places on.
  const lengths = new Uint32Array((old.length + 1) * width)
  const lengthAt = (at: number, other: number) => lengths[at * width + other] ?? 0
  for (let at = old.length - 1; at >= 0; at -= 1) {
    for (let other = fresh.length - 1; other >= 0; other -= 1) {
      lengths[at * width + other] =
        old[at] === fresh[other]
          ? lengthAt(at + 1, other + 1) + 1
          : Math.max(lengthAt(at + 1, other), lengthAt(at, other + 1))
    }
  }
  const found = []
  let [at, other] = [0, 0]
  while (at < old.length && other < fresh.length) {
    if (old[at] === fresh[other]) {
      found.push({ at, other })
      at += 1
      other += 1
    } else if (lengthAt(at + 1, other) >= lengthAt(at, other + 1)) at += 1
    else other += 1
  }
  return found
}

/** Neighbours of one kind are one part. */
function partsOf(words: readonly string[], kept: ReadonlySet<number>): LinePart[] {
  const parts: { text: string; readonly isChange: boolean }[] = []
  for (const [at, text] of words.entries()) {
    const isChange = !kept.has(at)
    const last = parts.at(-1)
    if (last?.isChange === isChange) last.text += text
    else parts.push({ text, isChange })
  }
  return parts
}
