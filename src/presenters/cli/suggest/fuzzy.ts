/** A candidate, and what is computed once for all queries. */
export interface Candidate {
  readonly text: string
  /** In lower case. */
  readonly folded: string
  /** Which letters it has: one bit for each letter of the alphabet, and some for all other characters. */
  readonly letters: number
  /** Where the last name of a path begins. */
  readonly name: number
}

export function candidate(text: string): Candidate {
  const folded = text.toLowerCase()
  const end = folded.endsWith('/') ? folded.length - 2 : folded.length - 1
  return { text, folded, letters: lettersOf(folded), name: folded.lastIndexOf('/', end) + 1 }
}

function lettersOf(folded: string): number {
  let letters = 0
  for (let at = 0; at < folded.length; at += 1) letters |= 1 << (folded.charCodeAt(at) & 31)
  return letters
}

/** The best matches, and all candidates that match: those of a longer query are among them. */
export interface Matches {
  readonly best: readonly string[]
  readonly all: readonly Candidate[]
}

/**
 * Candidates that contain the characters of the query in this order, case-insensitively. The best come first: an exact match,
 * a beginning, a name that begins with the query, a name that contains it, a path that contains it; then the shorter one. Pure.
 */
export function fuzzyMatches(
  candidates: readonly Candidate[],
  query: string,
  most: number,
): Matches {
  const wanted = query.toLowerCase()
  if (wanted === '') return { best: shortest(candidates, most), all: candidates }
  const letters = lettersOf(wanted)
  const all: Candidate[] = []
  const best: { readonly text: string; readonly rank: number }[] = []
  let worst = Infinity
  for (const one of candidates) {
    // Most candidates lack a letter, which is cheaper to find out.
    if ((one.letters & letters) !== letters) continue
    const rank = rankOf(one, wanted)
    if (rank < 0) continue
    all.push(one)
    if (rank >= worst) continue
    let at = best.length
    while (at > 0 && (best[at - 1]?.rank ?? 0) > rank) at -= 1
    best.splice(at, 0, { text: one.text, rank })
    if (best.length > most) best.pop()
    if (best.length === most) worst = best[most - 1]?.rank ?? Infinity
  }
  return { best: best.map(({ text }) => text), all }
}

/** The shortest candidates, in the order in which they were found. */
function shortest(candidates: readonly Candidate[], most: number): string[] {
  const best: string[] = []
  for (const { text } of candidates) {
    if (best.length === most && text.length >= (best.at(-1)?.length ?? 0)) continue
    let at = best.length
    while (at > 0 && (best[at - 1]?.length ?? 0) > text.length) at -= 1
    best.splice(at, 0, text)
    if (best.length > most) best.pop()
  }
  return best
}

/** Less is better; negative if it does not match. The length counts less than any kind of match. */
function rankOf({ folded, name }: Candidate, wanted: string): number {
  const { length } = folded
  const found = folded.indexOf(wanted)
  if (found === -1) return spreadRank(folded, wanted)
  if (found === 0) return length === wanted.length ? 0 : WORSE + length
  const inName = found >= name ? found : folded.indexOf(wanted, name)
  if (inName === name) return WORSE * 2 + length
  return WORSE * (inName === -1 ? 4 : 3) + length
}

const WORSE = 1_000_000
const GAP = 100

/** The fewer characters there are between those of the query, the better. */
function spreadRank(folded: string, wanted: string): number {
  const first = folded.indexOf(wanted.charAt(0))
  let at = first
  for (let index = 1; index < wanted.length && at !== -1; index += 1)
    at = folded.indexOf(wanted.charAt(index), at + 1)
  if (at === -1) return -1
  return WORSE * 5 + (at - first + 1 - wanted.length) * GAP + folded.length
}
