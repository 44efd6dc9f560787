import { phrases } from './phrase.ts'

/** Which lines of a file a text asks for, and where it says so. */
export interface Range {
  readonly from_line?: number
  readonly to_line?: number
}

export interface RangeFound {
  readonly range: Range
  readonly start: number
  readonly end: number
}

/** Every range of lines, or of pages, that a text names, in order. */
export function rangesIn(text: string, noun: 'line' | 'page' = 'line'): RangeFound[] {
  const found: RangeFound[] = []
  for (const [form, range] of FORMS[noun]) {
    for (const match of text.matchAll(form)) {
      const start = match.index
      const end = start + match[0].length
      if (found.some((other) => start < other.end && other.start < end)) continue
      found.push({ range: range(numberOf(match[1]), numberOf(match[2])), start, end })
    }
  }
  return found.toSorted((a, b) => a.start - b.start)
}

/** The range of a name like `a.ts:10-20`, and the name without it. */
export function splitRange(name: string): { readonly path: string; readonly range: Range } {
  const found = /^(.+?)[:#]L?(\d+)(?:[-–]L?(\d+))?$/.exec(name)
  if (found === null) return { path: name, range: {} }
  const from = Number(found[2])
  return { path: found[1] ?? name, range: { from_line: from, to_line: Number(found[3] ?? from) } }
}

const WORDS = 'one two three four five six seven eight nine ten eleven twelve'.split(' ')
const TENS: Readonly<Record<string, number>> = {
  fifteen: 15,
  twenty: 20,
  thirty: 30,
  forty: 40,
  fifty: 50,
  hundred: 100,
}
const N = `(?:number |no\\.? |#|L)?(\\d+|${WORDS.join('|')}|${Object.keys(TENS).join('|')})`
const TO = '(?:\\s*(?:-|–|—|\\.\\.\\.?|…)\\s*| (?:to|through|thru|till|until|up to|and) )'

type Form = readonly [RegExp, (a: number, b: number) => Range]

function formsOf(noun: string): Form[] {
  const to = `${TO}(?:${noun}s? )?`
  return [
    [phrases`\b(?:between |from )?${noun}s? ${N}${to}${N}(?!\w)`, between],
    [
      phrases`\b(?:first|top|opening|initial) ${N} ${noun}s(?!\w)`,
      (count) => ({ from_line: 1, to_line: count }),
    ],
    [phrases`\b(?:first|top|opening) ${noun}(?!\w)`, () => ({ from_line: 1, to_line: 1 })],
    [
      phrases`\b(?:up to|until|till|through|before)(?: and including)? ${noun} ${N}(?!\w)`,
      (last) => ({ to_line: last }),
    ],
    [
      phrases`
        \b(?:(?:starting |beginning )?(?:from|at|with|after)|starting|beginning|everything (?:from
        |after)) ${noun} ${N}(?: on(?:wards?)?| to the end| down| forward)?(?!\w)`,
      (from) => ({ from_line: from }),
    ],
    [
      phrases`\b${noun}s? ${N} (?:on(?:wards?)?|and (?:below|following|after))(?!\w)`,
      (from) => ({ from_line: from }),
    ],
    [phrases`\b${noun}s? ${N}(?!\w)`, (only) => ({ from_line: only, to_line: only })],
    [phrases`\b(\d+)(?:st|nd|rd|th) ${noun}(?!\w)`, (only) => ({ from_line: only, to_line: only })],
  ]
}

/** Lines are so usual that they need not be named. */
const UNNAMED: readonly Form[] = [
  [phrases`\bfrom (?:lines? )?${N}${TO}(?:lines? )?${N}(?!\w)`, between],
  [phrases`\bL(\d+)(?:-|–)L?(\d+)(?!\w)`, between],
]

const FORMS = { line: [...UNNAMED, ...formsOf('line')], page: formsOf('page') } as const

function between(a: number, b: number): Range {
  return { from_line: Math.min(a, b), to_line: Math.max(a, b) }
}

function numberOf(said: string | undefined): number {
  const word = (said ?? '').toLowerCase()
  const place = WORDS.indexOf(word)
  return place >= 0 ? place + 1 : (TENS[word] ?? Number(word))
}
