import { grouped } from '../../../encoding/amounts.ts'
import type { Draft } from '../screen/draft.ts'
import { aside } from '../screen/rows.ts'
import { PLAIN, wrappedVerbatim, type Line } from '../text/cell-width.ts'
import { visibleLine } from '../text/visible-text.ts'
import {
  completedWord,
  withSuggestion,
  type CompletedWord,
  type Suggestion,
} from './completed-word.ts'
import type { FileIndex } from './file-index.ts'
import { FileSearch } from './file-search.ts'
import { candidate, fuzzyMatches } from './fuzzy.ts'

/** A name that can be completed, and words about it. */
export interface NamedSuggestion {
  readonly name: string
  readonly about: string
}

/** Where suggestions come from. Each is called again for every new word. */
export interface SuggestionSources {
  /** Absent if files cannot be listed. */
  readonly files: FileIndex | undefined
  /** Without their `@`. */
  readonly handles: () => readonly NamedSuggestion[]
  readonly commands: () => readonly NamedSuggestion[]
  readonly skills: () => readonly NamedSuggestion[]
  readonly sessions: () => readonly NamedSuggestion[]
}

interface ShownSuggestion extends Suggestion {
  /** Empty if there is nothing to say. */
  readonly about: string
}

const NO_FILES = { paths: [], progress: undefined }

/** How many suggestions are shown. */
const MOST_SUGGESTIONS = 8

const LONGEST_ROW = 200

/**
 * The list under the input. It follows the draft, until the person closes it for the current word. In a large workspace it keeps
 * its files for some rounds after a key, until those for the new word are found.
 */
export class Suggestions {
  readonly #sources: SuggestionSources
  readonly #changed: () => void
  readonly #files: FileSearch
  #word: CompletedWord | undefined
  /** The kind and beginning of the word for which the list was closed. */
  #closed = ''
  #chosen = 0
  #best: readonly ShownSuggestion[] = []

  /** `changed`: the list may have changed. */
  constructor(sources: SuggestionSources, changed: () => void) {
    this.#sources = sources
    this.#changed = changed
    this.#files = new FileSearch(sources.files ?? NO_FILES, MOST_SUGGESTIONS)
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
    if (word?.kind === 'path' && !isSame) this.#sources.files?.refresh()
    if (!isSame || word.query !== this.#word?.query) this.#chosen = 0
    this.#word = word
    this.#files.cancel()
    if (word === undefined || placeOf(word) === this.#closed) return this.#show([])
    const own = this.#ownNames(word)
    if (word.kind !== 'path') return this.#show(own)
    if (!isSame) this.#show(own)
    this.#files.start(word.query.replace(/^\.\//, ''), (best) => {
      const files = best.map((text): ShownSuggestion => ({ kind: 'path', text, about: '' }))
      this.#show([...own, ...files].slice(0, MOST_SUGGESTIONS))
      this.#changed()
    })
  }

  /** Before a key that chooses: the list must be the one for the current word. */
  settle(): void {
    this.#files.finish()
  }

  move(way: 'up' | 'down'): void {
    const count = this.#best.length
    if (count > 0) this.#chosen = (this.#chosen + (way === 'up' ? count - 1 : 1)) % count
  }

  /** Stays closed for the current word. */
  close(): void {
    this.#closed = placeOf(this.#word)
    this.#files.cancel()
    this.#best = []
  }

  /** Closes the list until the draft is edited. */
  hide(): void {
    this.#word = undefined
    this.#files.cancel()
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
    return chosen !== undefined && chosen.text === this.#word?.query
  }

  /** The rows under the input, none wider than `columns`. */
  rows(columns: number): Line[] {
    const progress = this.#sources.files?.progress
    const isScanned = this.#word?.kind === 'path' && progress !== undefined
    const isClosed = this.#word !== undefined && placeOf(this.#word) === this.#closed
    const scanning =
      isScanned && !isClosed ? [aside(`  Scanning files … ${grouped(progress)} found`)] : []
    const rows = this.#best.map(({ text, about }, at): Line => {
      const isChosen = at === this.#chosen
      const words = visibleLine(about === '' ? text : `${text}  ${about}`)
      const row = `${isChosen ? '› ' : '  '}${words.slice(0, LONGEST_ROW)}`
      const style = isChosen ? { bold: true } : PLAIN
      return wrappedVerbatim([{ text: row, style }], columns)[0] ?? []
    })
    return [...rows, ...scanning]
  }

  #show(best: readonly ShownSuggestion[]): void {
    this.#best = best
    this.#chosen = Math.min(this.#chosen, Math.max(0, best.length - 1))
  }

  /** Everything that is not a file. */
  #ownNames({ kind, query }: CompletedWord): readonly ShownSuggestion[] {
    const { handles, commands, skills, sessions } = this.#sources
    const named = { path: handles, command: commands, skill: skills, session: sessions }[kind]()
    const about = new Map(named.map((one) => [one.name, one.about]))
    const candidates = named.map(({ name }) => candidate(name))
    return fuzzyMatches(candidates, query, MOST_SUGGESTIONS).map((text): ShownSuggestion => {
      return { kind: kind === 'path' ? 'handle' : kind, text, about: about.get(text) ?? '' }
    })
  }
}

/** Identifies a word by where it begins, whatever is typed of it. */
function placeOf(word: CompletedWord | undefined): string {
  return word === undefined ? '' : `${word.kind} ${word.from}`
}
