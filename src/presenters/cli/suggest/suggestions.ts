import { groupDigits } from '../../../encoding/amounts.ts'
import { isMentionable } from '../input/mentions.ts'
import { EMPTY_DRAFT, type Draft } from '../screen/draft.ts'
import { aside } from '../screen/rows.ts'
import { cellWidth, PLAIN, type Line } from '../text/cell-width.ts'
import { padTo } from '../text/pad-to.ts'
import { visibleLine } from '../text/visible-text.ts'
import {
  completedWord,
  withSuggestion,
  type CompletedWord,
  type Suggestion,
} from './completed-word.ts'
import type { FileIndex } from './file-index.ts'
import { FileSearch } from './file-search.ts'
import { candidate, fuzzyMatches, type Candidate } from './fuzzy.ts'
import { outsideFolder, type OutsideFolder } from './outside-folder.ts'

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
  /** What can follow a command, such as `model` or `review --with`; empty if anything can. */
  readonly arguments: (command: string) => readonly NamedSuggestion[]
  /** Absent if folders outside of the workspace cannot be listed. */
  readonly outside?: OutsideFolder | undefined
  /** What is known of a file, and absent for most; `onKnown` is called when there is more. */
  readonly about?: (path: string, onKnown: () => void) => string
}

interface ShownSuggestion extends Suggestion {
  /** Empty if there is nothing to say. */
  readonly about: string
}

const NO_FILES = { paths: [], progress: undefined }

/** How many suggestions are shown at a time, and how many files are found. */
const MOST_SHOWN = 8
const MOST_FILES = 100

const LONGEST_ROW = 200
/** As wide as the mark of the chosen one. */
const GAP = '  '

/**
 * The list under the input. It follows the draft, until the person closes it for the current word. In a large workspace it keeps
 * its files for some rounds after a key, until those for the new word are found.
 */
export class Suggestions {
  readonly #sources: SuggestionSources
  readonly #onChange: () => void
  readonly #files: FileSearch
  #draft: Draft = EMPTY_DRAFT
  #word: CompletedWord | undefined
  /** The kind and beginning of the word for which the list was closed. */
  #closed = ''
  #chosenAt = 0
  #best: readonly ShownSuggestion[] = []

  /** `changed`: the list may have changed. */
  constructor(sources: SuggestionSources, changed: () => void) {
    this.#sources = sources
    this.#onChange = changed
    this.#files = new FileSearch(sources.files ?? NO_FILES, MOST_FILES)
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
    this.#draft = draft
    const word = completedWord(draft)
    const isSame = word !== undefined && wordKey(word) === wordKey(this.#word)
    if (word === undefined) {
      this.#closed = ''
      this.#sources.outside?.forget()
    }
    const isTyped = !isSame || word.query !== this.#word?.query
    if (word?.kind === 'path' && isTyped) this.#sources.files?.refresh()
    if (isTyped) this.#chosenAt = 0
    this.#word = word
    this.#files.cancel()
    if (word === undefined || wordKey(word) === this.#closed) return this.#show([])
    const own = this.#ownNames(word)
    if (word.kind !== 'path') return this.#show(own)
    const outside = outsideFolder(word.query)
    if (outside !== undefined) return this.#showOutside(outside, word.query)
    if (!isSame) this.#show(own)
    this.#files.start(word.query.replace(/^\.\//, ''), (best) => {
      const files = best.map((text): ShownSuggestion => ({ kind: 'path', text, about: '' }))
      this.#show([...own, ...files])
      this.#onChange()
    })
  }

  /** Before a key that chooses: the list must be the one for the current word. */
  settle(): void {
    this.#files.finish()
  }

  move(way: 'up' | 'down'): void {
    const count = this.#best.length
    if (count > 0) this.#chosenAt = (this.#chosenAt + (way === 'up' ? count - 1 : 1)) % count
  }

  /** Stays closed for the current word. */
  close(): void {
    this.#closed = wordKey(this.#word)
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
  accept(draft: Draft): Draft | undefined {
    const chosen = this.#best[this.#chosenAt]
    if (chosen === undefined || this.#word === undefined) return undefined
    return withSuggestion(draft, this.#word, chosen)
  }

  /** The word is already what the list suggests, so that Enter sends the message. */
  get isComplete(): boolean {
    const chosen = this.#best[this.#chosenAt]
    return chosen !== undefined && chosen.text === this.#word?.query
  }

  /** The rows under the input, none wider than `columns`. */
  rows(columns: number): Line[] {
    const progress = this.#sources.files?.progress
    const isScanned = this.#word?.kind === 'path' && progress !== undefined
    const isClosed = this.#word !== undefined && wordKey(this.#word) === this.#closed
    const scanning =
      isScanned && !isClosed ? [aside(`  Scanning files … ${groupDigits(progress)} found`)] : []
    return [...this.#list(columns), ...scanning]
  }

  /** The part of the list around the chosen suggestion, in two columns. */
  #list(columns: number): Line[] {
    const total = this.#best.length
    const from = Math.max(0, Math.min(this.#chosenAt - MOST_SHOWN + 2, total - MOST_SHOWN))
    const part = this.#best.slice(from, from + MOST_SHOWN)
    const texts = part.map(({ text }) => visibleLine(text).slice(0, LONGEST_ROW))
    const width = Math.min(Math.max(0, ...texts.map(cellWidth)), Math.floor(columns / 2))
    const room = Math.max(1, columns - GAP.length)
    const rows = part.map((one, at): Line => {
      const isChosen = from + at === this.#chosenAt
      const about = this.#aboutOf(one, isChosen)
      const style = isChosen ? { bold: true } : PLAIN
      const rest = room - width - GAP.length
      const name = padTo(texts[at] ?? '', about === '' ? room : width)
      return [
        { text: `${isChosen ? '› ' : '  '}${about === '' ? name.trimEnd() : name}`, style },
        {
          text: about === '' || rest < 1 ? '' : `${GAP}${padTo(about, rest).trimEnd()}`,
          style: { dim: true },
        },
      ]
    })
    const more: Line[] = total > part.length ? [aside(`  ${this.#chosenAt + 1} of ${total}`)] : []
    return [...rows, ...more]
  }

  /** Images are looked at when they are chosen. */
  #aboutOf({ kind, text, about }: ShownSuggestion, isChosen: boolean): string {
    const isFile = kind === 'path' || kind === 'outside'
    const known = isFile && isChosen ? this.#sources.about?.(text, this.#onChange) : undefined
    return visibleLine(known ?? about).slice(0, LONGEST_ROW)
  }

  #showOutside(folder: string, query: string): void {
    const { outside } = this.#sources
    const paths = outside?.paths(folder, () => {
      // More may be typed by now.
      if (outsideFolder(this.#word?.query ?? '') !== folder) return
      this.follow(this.#draft)
      this.#onChange()
    })
    const isHidden = (path: string) => path.slice(folder.length).startsWith('.')
    const wantsHidden = isHidden(query)
    const candidates = (paths ?? [])
      .filter((path) => isMentionable(path) && (wantsHidden || !isHidden(path)))
      .map(candidate)
    this.#show(
      matchesInOrder(candidates, query, folder).map((text) => ({
        kind: 'outside',
        text,
        about: '',
      })),
    )
  }

  #show(best: readonly ShownSuggestion[]): void {
    this.#best = best
    this.#chosenAt = Math.min(this.#chosenAt, Math.max(0, best.length - 1))
  }

  /** Everything that is not a file. */
  #ownNames({ kind, query, command = '' }: CompletedWord): readonly ShownSuggestion[] {
    const { handles, commands, skills } = this.#sources
    const named = {
      path: handles,
      command: commands,
      skill: skills,
      argument: () => this.#sources.arguments(command),
    }[kind]()
    const about = new Map(named.map((one) => [one.name, one.about]))
    const candidates = named.map(({ name }) => candidate(name))
    return matchesInOrder(candidates, query, '').map((text): ShownSuggestion => {
      return { kind: kind === 'path' ? 'handle' : kind, text, about: about.get(text) ?? '' }
    })
  }
}

/** The best first; all in their own order while nothing is typed. */
function matchesInOrder(
  candidates: readonly Candidate[],
  query: string,
  nothing: string,
): readonly string[] {
  if (query === nothing) return candidates.map(({ text }) => text)
  return fuzzyMatches(candidates, query, candidates.length)
}

/** Identifies a word by where it begins, whatever is typed of it. */
function wordKey(word: CompletedWord | undefined): string {
  return word === undefined ? '' : `${word.kind} ${word.from}`
}
