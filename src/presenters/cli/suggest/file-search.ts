import { nextRound } from '../../../host/wait.ts'
import type { FileIndex } from './file-index.ts'
import { FuzzySearch, type Candidate } from './fuzzy.ts'

/** How many files are judged before the next key is handled: a few milliseconds. */
const SLICE = 10_000

interface RunningSearch {
  readonly search: FuzzySearch
  readonly onFound: (best: readonly string[]) => void
}

/** Searches the files of the workspace, one query at a time, without keeping a key waiting. */
export class FileSearch {
  readonly #index: Pick<FileIndex, 'paths' | 'progress'>
  readonly #most: number
  #running: RunningSearch | undefined
  /** The last search in a complete list: a longer query is searched in what it found. */
  #last:
    | { readonly of: readonly Candidate[]; readonly query: string; readonly search: FuzzySearch }
    | undefined

  /** `most`: how many files are found. */
  constructor(index: Pick<FileIndex, 'paths' | 'progress'>, most: number) {
    this.#index = index
    this.#most = most
  }

  /** Replaces the search that is running. Calls `onFound` once: before it returns if there are few files, or some rounds later. */
  start(query: string, onFound: RunningSearch['onFound']): void {
    const { paths, progress } = this.#index
    const search = new FuzzySearch(this.#narrow(query), query, this.#most)
    // A scan that is running adds to the list.
    this.#last = progress === undefined ? { of: paths, query, search } : undefined
    const running = { search, onFound }
    this.#running = running
    void this.#run(running)
  }

  /** Ends the search now, however long it takes. */
  finish(): void {
    if (this.#running !== undefined) this.#advance(this.#running, Infinity)
  }

  cancel(): void {
    this.#running = undefined
  }

  async #run(running: RunningSearch): Promise<void> {
    while (this.#running === running) {
      this.#advance(running, SLICE)
      await nextRound()
    }
  }

  #advance(running: RunningSearch, count: number): void {
    running.search.advance(count)
    if (!running.search.isDone) return
    this.#running = undefined
    running.onFound(running.search.best)
  }

  /** The files among which those of the query are. */
  #narrow(query: string): readonly Candidate[] {
    const { paths } = this.#index
    const last = this.#last
    const isNarrower =
      last?.of === paths &&
      last.search.isDone &&
      query.toLowerCase().startsWith(last.query.toLowerCase())
    return isNarrower ? last.search.all : paths
  }
}
