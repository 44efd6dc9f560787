/**
 * Compiles a glob: `*` and `?` within a name, `**` for any folders, `[a-z]`, `[!a]`, `{one,two}`, `\` to escape a character. A
 * pattern without a slash matches the last name at any depth. Returns a test for paths with `/`, or undefined for a pattern
 * with too many alternatives. Matching never takes exponential time.
 */
export function globPattern(pattern: string): ((path: string) => boolean) | undefined {
  const spelt = alternatives(pattern.replace(/^(\.?\/)+/, ''))
  if (spelt === undefined) return undefined
  const ways = spelt.map((way) => {
    const names = way.split('/')
    if (names.length === 1) names.unshift('**')
    if (names.at(-1) === '**') names.push('*')
    return names.map((name) => (name === '**' ? DEEP : tokensOf(name)))
  })
  return (path) => {
    const names = path.split('/')
    return ways.some((way) => fits(way, names, (step) => step === DEEP, matchesName))
  }
}

const MOST_ALTERNATIVES = 256

/** A character, a set of characters, or any run of them. */
type Token = 'star' | ((letter: string) => boolean)

/** Any number of folders. */
const DEEP: readonly Token[] = []

/**
 * Whether items match a pattern in which a star matches any run. After a mismatch it backtracks to the last star only: whatever
 * an earlier star could match, the last one can match too.
 */
function fits<P, I>(
  pattern: readonly P[],
  items: readonly I[],
  isStar: (part: P) => boolean,
  matches: (part: P, item: I) => boolean,
): boolean {
  let [at, star, resume] = [0, -1, 0]
  for (let i = 0; i < items.length;) {
    const [part, item] = [pattern[at], items[i]]
    if (part !== undefined && isStar(part)) {
      star = at++
      resume = i
    } else if (part !== undefined && item !== undefined && matches(part, item)) {
      at++
      i++
    } else if (star !== -1) {
      at = star + 1
      i = ++resume
    } else return false
  }
  return pattern.slice(at).every(isStar)
}

function matchesName(tokens: readonly Token[], name: string): boolean {
  return fits(
    tokens,
    Array.from(name),
    (token) => token === 'star',
    (token, letter) => token !== 'star' && token(letter),
  )
}

function tokensOf(name: string): readonly Token[] {
  const tokens: Token[] = []
  const parts = name.matchAll(/\\(.)|(\*+)|(\?)|\[([!^]?)(\]?[^\]]*)\]|(.)/gsu)
  for (const [, escaped, stars, any, not, set, letter] of parts) {
    if (stars !== undefined) tokens.push('star')
    else if (any !== undefined) tokens.push(() => true)
    else if (set !== undefined) tokens.push(setOf(set, not !== ''))
    else tokens.push((other) => other === (escaped ?? letter))
  }
  return tokens
}

function setOf(set: string, not: boolean): (letter: string) => boolean {
  const ranges = [...set.matchAll(/(.)-(.)|(.)/gsu)].map(([, from, to, one]) => ({
    from: from ?? one ?? '',
    to: to ?? one ?? '',
  }))
  return (letter) => ranges.some(({ from, to }) => from <= letter && letter <= to) !== not
}

/** Every alternative of the braces; unclosed braces are literal. */
function alternatives(pattern: string): string[] | undefined {
  const done: string[] = []
  const open = [pattern]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const braces = outerBraces(next)
    if (braces === undefined) done.push(next)
    else open.push(...braces)
    if (done.length + open.length > MOST_ALTERNATIVES) return undefined
  }
  return done
}

/** Expands the first pair of braces with a comma. */
function outerBraces(pattern: string): string[] | undefined {
  const parts: string[] = []
  let [depth, from, start] = [0, 0, -1]
  for (let i = 0; i < pattern.length; i++) {
    const letter = pattern[i]
    if (letter === '\\') i++
    else if (letter === '{') {
      if (depth++ === 0) [start, from] = [i, i + 1]
    } else if (letter === ',' && depth === 1) {
      parts.push(pattern.slice(from, i))
      from = i + 1
    } else if (letter === '}' && depth > 0 && --depth === 0 && parts.length > 0) {
      parts.push(pattern.slice(from, i))
      return parts.map((part) => pattern.slice(0, start) + part + pattern.slice(i + 1))
    }
  }
  return undefined
}
