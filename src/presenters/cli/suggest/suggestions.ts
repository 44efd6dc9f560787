import { grouped } from '../../../encoding/amounts.ts'
import type { Draft } from '../screen/draft.ts'
import { aside } from '../screen/rows.ts'
import { PLAIN, wrappedVerbatim, type Line } from '../text/cell-width.ts'
import { visibleLine } from '../text/visible-text.ts'
import { completedWord, withSuggestion, type CompletedWord } from './completed-word.ts'
import type { FileIndex } from './file-index.ts'
import { candidate, fuzzyMatches, type Candidate, type Matches } from './fuzzy.ts'

/** A name that can be completed, and words about it. */
export interface Named {
  readonly name: string
  readonly about: string
}

/** Where suggestions come from. Each is called again for every new word. */
export interface SuggestionSources {
  /** Absent if files cannot be listed. */
  readonly files: FileIndex | undefined
  /** Without their `@`. */
  readonly handles: () => readonly Named[]
  readonly commands: () => readonly Named[]
  readonly skills: () => readonly Named[]
  readonly sessions: () => readonly Named[]
}

/** How many suggestions are shown. */
const MOST_SUGGESTIONS = 8

const LONGEST_ROW = 200

/** The list under the input. It follows the draft, until the person closes it for the current word. */
export class Suggestions {
  readonly #sources: SuggestionSources
  #word: CompletedWord | undefined
  /** The kind and beginning of the word for which the list was closed. */
  #closed = ''
  #chosen = 0
  #best: readonly string[] = []
  /** What the last query was searched in, and what it found: a longer query is searched in that. */
  #last:
    | { readonly of: readonly Candidate[]; readonly query: string; readonly matches: Matches }
    | undefined
  #about: ReadonlyMap<string, string> = new Map()

  constructor(sources: SuggestionSources) {
    this.#sources = sources
  }

  get isOpen(): boolean {
    return this.#best.length > 0
  }

  /** There is a word to complete, even if nothing is suggested for it. */
  get hasWord(): boolean {
    return this.#word !== undefined
  }

  /** The draft changed, or more files were found. */
  follow(draft: Draft): void {
    const word = completedWord(draft)
    const isSame = word !== undefined && placeOf(word) === placeOf(this.#word)
    if (word === undefined) this.#closed = ''
    if (!isSame) this.#chosen = 0
    if (word?.kind === 'path' && !isSame) this.#sources.files?.refresh()
    if (word?.query !== this.#word?.query) this.#chosen = 0
    this.#word = word
    this.#best = word === undefined || placeOf(word) === this.#closed ? [] : this.#search(word)
    this.#chosen = Math.min(this.#chosen, Math.max(0, this.#best.length - 1))
  }

  move(way: 'up' | 'down'): void {
    const count = this.#best.length
    if (count > 0) this.#chosen = (this.#chosen + (way === 'up' ? count - 1 : 1)) % count
  }

  /** Stays closed for the current word. */
  close(): void {
    this.#closed = placeOf(this.#word)
    this.#best = []
  }

  /** Closes the list until the draft is edited. */
  hide(): void {
    this.#word = undefined
    this.#best = []
  }

  /** The draft with the chosen suggestion; `undefined` if there is none. */
  accepted(draft: Draft): Draft | undefined {
    const chosen = this.#best[this.#chosen]
    if (chosen === undefined || this.#word === undefined) return undefined
    return withSuggestion(draft, this.#word, chosen)
  }

  /** The word is already what the list suggests, so that Enter sends the message. */
  get isComplete(): boolean {
    const chosen = this.#best[this.#chosen]
    return chosen !== undefined && chosen === this.#word?.query
  }

  /** The rows under the input, none wider than `columns`. */
  rows(columns: number): Line[] {
    const progress = this.#sources.files?.progress
    const isScanned = this.#word?.kind === 'path' && progress !== undefined
    const isClosed = this.#word !== undefined && placeOf(this.#word) === this.#closed
    const scanning =
      isScanned && !isClosed ? [aside(`  Scanning files … ${grouped(progress)} found`)] : []
    const rows = this.#best.map((text, at): Line => {
      const isChosen = at === this.#chosen
      const about = this.#about.get(text)
      const words = visibleLine(about === undefined || about === '' ? text : `${text}  ${about}`)
      const row = `${isChosen ? '› ' : '  '}${words.slice(0, LONGEST_ROW)}`
      const style = isChosen ? { bold: true } : PLAIN
      return wrappedVerbatim([{ text: row, style }], columns)[0] ?? []
    })
    return [...rows, ...scanning]
  }

  #search(word: CompletedWord): readonly string[] {
    const named = this.#named(word.kind)
    this.#about = new Map(named.map(({ name, about }) => [name, about]))
    const own = fuzzyMatches(
      named.map(({ name }) => candidate(name)),
      word.query,
      MOST_SUGGESTIONS,
    ).best
    if (word.kind !== 'path') return own
    const query = word.query.replace(/^\.\//, '')
    return [...own, ...this.#searchFiles(query)].slice(0, MOST_SUGGESTIONS)
  }

  #named(kind: CompletedWord['kind']): readonly Named[] {
    const { handles, commands, skills, sessions } = this.#sources
    return { path: handles, command: commands, skill: skills, session: sessions }[kind]()
  }

  #searchFiles(query: string): readonly string[] {
    const paths = this.#sources.files?.paths ?? []
    const last = this.#last
    const isNarrower =
      last !== undefined &&
      last.of === paths &&
      this.#sources.files?.progress === undefined &&
      last.query !== '' &&
      query.toLowerCase().startsWith(last.query.toLowerCase())
    const matches = fuzzyMatches(isNarrower ? last.matches.all : paths, query, MOST_SUGGESTIONS)
    this.#last =
      this.#sources.files?.progress === undefined ? { of: paths, query, matches } : undefined
    return matches.best
  }
}

/** Identifies a word by where it begins, whatever is typed of it. */
function placeOf(word: CompletedWord | undefined): string {
  return word === undefined ? '' : `${word.kind} ${word.from}`
}
