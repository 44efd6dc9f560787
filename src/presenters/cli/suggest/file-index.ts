import type { Clock } from '../../../host/clock.ts'
import { isMentionable } from '../input/mentions.ts'
import { candidate, type Candidate } from './fuzzy.ts'

/** Lists the files of the workspace; see `Harness.listFiles`. */
export type ListFiles = (scan: {
  readonly onPaths: (paths: readonly string[]) => boolean
  readonly signal: AbortSignal
}) => Promise<void>

/** More files are not suggested. */
const MOST_FILES = 200_000

/** After this time, the next `@` scans again; the old list is used meanwhile. */
const STALE_MS = 1_000
/** A large workspace is scanned at most this share of the time. */
const SCAN_SHARE = 10

/** How often a running scan is reported: each time, the list is searched again. */
const TELL_MS = 100

/** The files and folders of the workspace, scanned when they are first needed. */
export class FileIndex {
  readonly #list: ListFiles
  readonly #clock: Clock
  readonly #onChange: () => void
  readonly #stop = new AbortController()
  #paths: readonly Candidate[] = []
  #scannedFiles = 0
  #scanning = false
  /** Nothing was found before the running scan. */
  #isFirst = true
  #at = -Infinity
  /** How long the last scan took. */
  #scanMs = 0
  /** A scan for what was wanted during the last one, or too soon after it. */
  #laterScan: (() => void) | undefined
  #wasLater = false
  #isWantedAgain = false

  constructor(list: ListFiles, clock: Clock, changed: () => void) {
    this.#list = list
    this.#clock = clock
    this.#onChange = changed
  }

  /** As of the last complete scan; during the first one, what was found so far. */
  get paths(): readonly Candidate[] {
    return this.#paths
  }

  /** The number of paths found by the first scan; `undefined` once they are complete. Later scans are not shown. */
  get progress(): number | undefined {
    return this.#scanning && this.#isFirst ? this.#scannedFiles : undefined
  }

  /**
   * Starts a scan. A file may be newer than one that is running or was recent: then another one follows, once, as soon as the
   * share of the time permits.
   */
  refresh(): void {
    if (this.#scanning) this.#isWantedAgain = true
    else if (this.#restMs() > 0) this.#scanLater()
    else {
      this.#wasLater = false
      this.#start()
    }
  }

  /** Until the next scan may start. */
  #restMs(): number {
    const rest = Math.max(STALE_MS, this.#scanMs * SCAN_SHARE)
    return this.#at + rest - this.#clock.monotonicMs()
  }

  #scanLater(): void {
    if (this.#wasLater) return
    this.#laterScan ??= this.#clock.after(this.#restMs(), () => {
      this.#laterScan = undefined
      this.#wasLater = true
      if (!this.#scanning) this.#start()
    })
  }

  #start(): void {
    const started = this.#clock.monotonicMs()
    this.#laterScan?.()
    this.#laterScan = undefined
    this.#scanning = true
    this.#isWantedAgain = false
    void this.#scan().finally(() => {
      this.#scanning = false
      this.#at = this.#clock.monotonicMs()
      this.#scanMs = this.#at - started
      if (this.#isWantedAgain && !this.#stop.signal.aborted) this.#scanLater()
      this.#onChange()
    })
  }

  close(): void {
    this.#laterScan?.()
    this.#stop.abort()
  }

  async #scan(): Promise<void> {
    const found: Candidate[] = []
    const folders = new Set<string>()
    this.#isFirst = this.#paths.length === 0
    if (this.#isFirst) this.#paths = found
    this.#scannedFiles = 0
    let told = -Infinity
    let last = ''
    const onPaths = (paths: readonly string[]) => {
      for (const path of paths) {
        // Git lists a path with conflicts once for each side.
        if (!isMentionable(path) || path === last) continue
        last = path
        addFolders(path, folders, found)
        found.push(candidate(path))
      }
      this.#scannedFiles = found.length
      const now = this.#clock.monotonicMs()
      if (now - told >= TELL_MS) {
        told = now
        this.#onChange()
      }
      return found.length < MOST_FILES
    }
    await this.#list({ onPaths, signal: this.#stop.signal })
    this.#paths = found
  }
}

/** Adds the folders of a path that are not known yet; where one is known, so are those above it. */
function addFolders(path: string, known: Set<string>, found: Candidate[]): void {
  for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
    const folder = path.slice(0, end + 1)
    if (known.has(folder)) return
    known.add(folder)
    found.push(candidate(folder))
  }
}
