/** A candidate, and what is computed once for all queries. */
export interface Candidate {
  readonly text: string
  /** In lower case. */
  readonly lowerCase: string
  /** Which letters it has: one bit for each letter of the alphabet, and some for all other characters. */
  readonly letters: number
  /** Where the last name of a path begins. */
  readonly name: number
}

export function candidate(text: string): Candidate {
  const lowerCase = text.toLowerCase()
  const end = lowerCase.endsWith('/') ? lowerCase.length - 2 : lowerCase.length - 1
  return {
    text,
    lowerCase,
    letters: lettersOf(lowerCase),
    name: lowerCase.lastIndexOf('/', end) + 1,
  }
}

function lettersOf(folded: string): number {
  let letters = 0
  for (let at = 0; at < folded.length; at += 1) letters |= 1 << (folded.charCodeAt(at) & 31)
  return letters
}

/** The best matches of a query; see `FuzzySearch`. Pure. */
export function fuzzyMatches(
  candidates: readonly Candidate[],
  query: string,
  most: number,
): readonly string[] {
  const search = new FuzzySearch(candidates, query, most)
  search.advance(candidates.length)
  return search.best
}

/**
 * Finds candidates that contain the characters of a query in this order, case-insensitively. The best come first: an exact
 * match, a beginning, a name that begins with the query, a name that contains it, a path that contains it; then the shorter
 * one. It judges as many candidates at a time as the caller has time for.
 */
export class FuzzySearch {
  readonly #candidates: readonly Candidate[]
  readonly #pattern: string
  readonly #most: number
  readonly #best: { readonly text: string; readonly rank: number }[] = []
  /** The candidates that match so far: those of a longer query are among them. */
  readonly all: Candidate[] = []
  #next = 0

  constructor(candidates: readonly Candidate[], query: string, most: number) {
    this.#candidates = candidates
    this.#pattern = query.toLowerCase()
    this.#most = most
  }

  get isDone(): boolean {
    return this.#next >= this.#candidates.length
  }

  /** Of the candidates judged so far. */
  get best(): readonly string[] {
    return this.#best.map(({ text }) => text)
  }

  /** Judges this many more candidates. */
  advance(count: number): void {
    const wanted = this.#pattern
    const letters = lettersOf(wanted)
    const end = Math.min(this.#candidates.length, this.#next + count)
    for (const one of this.#candidates.slice(this.#next, end)) {
      // Most candidates lack a letter, which is cheaper to find out.
      if ((one.letters & letters) !== letters) continue
      const rank = rankOf(one, wanted)
      if (rank < 0) continue
      this.all.push(one)
      this.#rank(one.text, rank)
    }
    this.#next = end
  }

  #rank(text: string, rank: number): void {
    const ranked = this.#best
    let at = ranked.length
    while (at > 0 && (ranked[at - 1]?.rank ?? 0) > rank) at -= 1
    if (at >= this.#most) return
    ranked.splice(at, 0, { text, rank })
    if (ranked.length > this.#most) ranked.pop()
  }
}

/** Less is better; negative if it does not match. The length counts less than any kind of match. */
function rankOf({ lowerCase, name }: Candidate, wanted: string): number {
  const { length } = lowerCase
  const found = lowerCase.indexOf(wanted)
  if (found === -1) return spreadRank(lowerCase, wanted)
  if (found === 0) return length === wanted.length ? 0 : WORSE + length
  const inName = found >= name ? found : lowerCase.indexOf(wanted, name)
  if (inName === name) return WORSE * 2 + length
  return WORSE * (inName === -1 ? 4 : 3) + length
}

const WORSE = 1_000_000
const GAP = 100

/** The fewer characters there are between those of the query, the better. */
function spreadRank(folded: string, wanted: string): number {
  const { length } = wanted
  if (length === 1) return -1
  const first = folded.indexOf(wanted.charAt(0))
  if (first === -1) return -1
  let matched = 1
  // One pass is faster than a search for each character.
  for (let at = first + 1; at < folded.length; at += 1) {
    if (folded.charCodeAt(at) !== wanted.charCodeAt(matched)) continue
    matched += 1
    if (matched === length) return WORSE * 5 + (at - first + 1 - length) * GAP + folded.length
  }
  return -1
}
