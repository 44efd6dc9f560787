import { followSession, type Connection } from '../api/event-stream.ts'
import { request, type Failure } from '../api/server.ts'
import type { ApiSession, EphemeralEvent, LogLine } from '../api/shapes.ts'
import { Store } from '../store/store.ts'
import { SessionFold, type Fullness, type SessionSettings } from './fold.ts'
import {
  NOTHING_LIVE,
  type LiveView,
  type Question,
  type QuestionElsewhere,
  type Steered,
  type TurnView,
} from './turn-view.ts'

/** One Session as the screen shows it. */
export interface SessionView {
  readonly phase: 'loading' | 'ready' | 'failed'
  readonly failure: Failure | undefined
  readonly info: ApiSession | undefined
  readonly turns: readonly TurnView[]
  readonly live: LiveView
  readonly questions: readonly Question[]
  readonly elsewhere: QuestionElsewhere | undefined
  readonly settings: SessionSettings
  readonly messageKeys: ReadonlySet<string>
  readonly steered: readonly Steered[]
  /** The number of the last Event. */
  readonly lastSeq: number
  /** How full the window of the model is, as far as known. */
  readonly pressure: Fullness | undefined
  /** A process runs a Turn, this server or another. */
  readonly isRunning: boolean
  /** A Turn is open, and no process runs it: it was killed. The next message writes its end. */
  readonly isLeft: boolean
  readonly hasOlder: boolean
  readonly connection: Connection
}

const EMPTY: SessionView = {
  phase: 'loading',
  failure: undefined,
  info: undefined,
  turns: [],
  live: NOTHING_LIVE,
  questions: [],
  elsewhere: undefined,
  settings: {},
  messageKeys: new Set(),
  steered: [],
  lastSeq: -1,
  pressure: undefined,
  isRunning: false,
  isLeft: false,
  hasOlder: false,
  connection: 'connecting',
}

const PAGE = 200
const LOOK_MS = 5_000
/** More Turns than this are dropped from the start while the reader is at the end; they are loaded again on demand. */
const MOST_TURNS = 60
const KEPT_TURNS = 40

/** Shows one Session: its newest page at once, what happens from then on, and older pages on demand. */
export class SessionClient {
  readonly id: string
  readonly store = new Store<SessionView>(EMPTY)
  /** The reader is at the end, so older Turns may be dropped. */
  isAtEnd = true
  readonly #stop = new AbortController()
  #fold = new SessionFold()
  #lines: LogLine[] = []
  #live = NOTHING_LIVE
  #questions: readonly Question[] = []
  /** Questions of an earlier connection, which the server has not repeated. */
  #earlier = new Set<string>()
  #isDue = false
  /** A process runs the open Turn, as far as known. */
  #isBusy = false
  #isLoadingOlder = false
  #isRefreshing = false
  #refreshAgain = false
  readonly #timer: ReturnType<typeof setInterval>

  constructor(id: string) {
    this.id = id
    void this.#open()
    // A process that was killed says nothing.
    this.#timer = setInterval(() => {
      if (this.store.value.isRunning && !document.hidden) void this.refresh()
    }, LOOK_MS)
  }

  close(): void {
    clearInterval(this.#timer)
    this.#stop.abort()
  }

  /** Reads what the server says about the Session. Calls at the same moment share one request, and one that follows it. */
  async refresh(): Promise<void> {
    if (this.#isRefreshing) {
      this.#refreshAgain = true
      return
    }
    this.#isRefreshing = true
    do {
      this.#refreshAgain = false
      await this.#refreshOnce()
    } while (this.#refreshAgain && !this.#stop.signal.aborted)
    this.#isRefreshing = false
  }

  async #refreshOnce(): Promise<void> {
    const shown = await request<{ session: ApiSession }>('GET', `/api/harness/session/${this.id}`)
    if (shown.ok) this.#take(shown.value.session)
  }

  /** Adds the page before the first Event. Resolves when it is shown. */
  async loadOlder(): Promise<void> {
    const first = this.#lines[0]?.event.seq ?? 0
    if (this.#isLoadingOlder || first === 0) return
    this.#isLoadingOlder = true
    const page = await this.#page(first)
    this.#isLoadingOlder = false
    if (page === undefined) return
    this.#lines = [...page, ...this.#lines]
    this.#refold()
    this.#publish()
  }

  async #open(): Promise<void> {
    const shown = await request<{ session: ApiSession }>('GET', `/api/harness/session/${this.id}`)
    if (this.#stop.signal.aborted) return
    if (!shown.ok) {
      if (shown.failure.status === 0) return this.#again(shown.failure)
      return this.store.change({ phase: 'failed', failure: shown.failure })
    }
    this.#take(shown.value.session)
    const page = await this.#page()
    if (this.#stop.signal.aborted || page === undefined) return
    this.#lines = page
    this.#refold()
    this.#publish()
    this.store.change({ phase: 'ready' })
    await this.#follow()
  }

  #take(info: ApiSession): void {
    const { busy, runsHere = false, questions = 0 } = info
    this.#isBusy = busy || runsHere
    if (questions === 0)
      this.#questions = this.#questions.filter(({ request_id }) => !this.#earlier.has(request_id))
    this.store.change({ info })
    this.#publish()
  }

  /** The server does not answer yet. */
  #again(failure: Failure): void {
    this.store.change({ failure, connection: 'stopped' })
    setTimeout(() => {
      if (!this.#stop.signal.aborted) void this.#open()
    }, 1_000)
  }

  /** A page begins with the start of a Turn, so that no Turn is drawn in part. */
  async #page(before?: number): Promise<LogLine[] | undefined> {
    const lines: LogLine[] = []
    for (let first = before; ; first = lines[0]?.event.seq) {
      const query = first === undefined ? '' : `&before_seq=${first}`
      const path = `/api/harness/session/${this.id}/log?limit=${PAGE}${query}`
      const answer = await request<{ events: LogLine[] }>('GET', path)
      if (!answer.ok) {
        if (answer.failure.status === 0 && before === undefined) this.#again(answer.failure)
        else if (before === undefined)
          this.store.change({ phase: 'failed', failure: answer.failure })
        return undefined
      }
      lines.unshift(...answer.value.events)
      const start = lines[0]?.event
      if (start === undefined || start.seq === 0 || start.type === 'turn_started') return lines
      const at = lines.findIndex(({ event }) => event.type === 'turn_started')
      if (at > 0) return lines.slice(at)
      if (answer.value.events.length === 0) return lines
    }
  }

  async #follow(): Promise<void> {
    await followSession(
      this.id,
      this.#fold.last,
      {
        line: (line) => this.#addLine(line),
        live: (notice) => this.#addNotice(notice),
        rewound: (seq) => this.#rewind(seq),
        connection: (connection) => this.#connected(connection),
      },
      this.#stop.signal,
    )
  }

  /**
   * The server repeats its open questions on every connection; one that it does not ask any more goes with `refresh`. What else
   * was live is gone.
   */
  #connected(connection: Connection): void {
    if (connection === 'open') {
      this.#earlier = new Set(this.#questions.map(({ request_id }) => request_id))
      this.#live = NOTHING_LIVE
      this.#schedule()
      void this.refresh()
    }
    this.store.change({ connection })
  }

  #rewind(seq: number): void {
    this.#lines = this.#lines.filter(({ event }) => event.seq <= seq)
    this.#refold()
    this.#schedule()
  }

  #addLine(line: LogLine): void {
    if (line.event.seq <= this.#fold.last) return
    this.#lines.push(line)
    this.#isBusy = true
    this.#fold.add(line)
    const { type } = line.event
    if (type === 'assistant_message') this.#live = { ...this.#live, text: '', thinking: '' }
    if (type === 'turn_started' || type === 'turn_ended') {
      this.#live = { ...NOTHING_LIVE, pressure: this.#live.pressure }
      if (type === 'turn_ended') this.#questions = []
      void this.refresh()
    }
    this.#schedule()
  }

  #addNotice({ type, data }: EphemeralEvent): void {
    this.#isBusy = true
    const live = this.#live
    switch (type) {
      case 'text_delta':
        this.#live = { ...live, text: live.text + data.text, status: '' }
        break
      case 'reasoning_delta':
        this.#live = { ...live, thinking: live.thinking + data.text, status: '' }
        break
      case 'stream_restarted':
        this.#live = { ...live, text: '', thinking: '', status: data.reason }
        break
      case 'status':
        this.#live = { ...live, status: data.text }
        break
      case 'tool_progress': {
        const before = live.progress.get(data.call_id) ?? ''
        const text = `${before}${data.text}`.slice(-PROGRESS_CHARACTERS)
        this.#live = { ...live, progress: new Map([...live.progress, [data.call_id, text]]) }
        break
      }
      case 'context_pressure':
        this.#live = { ...live, pressure: data }
        break
      case 'permission_requested':
        this.#earlier.delete(data.request_id)
        this.#questions = [
          ...this.#questions.filter(({ request_id }) => request_id !== data.request_id),
          data,
        ]
        break
      case 'permission_settled':
        this.#questions = this.#questions.filter(({ request_id }) => request_id !== data.request_id)
        break
    }
    this.#schedule()
  }

  #refold(): void {
    const fold = new SessionFold()
    for (const line of this.#lines) fold.add(line)
    this.#fold = fold
  }

  /** Draws at most once a frame, however much arrives. A hidden tab has no frames. */
  #schedule(): void {
    if (this.#isDue) return
    this.#isDue = true
    const publish = () => {
      this.#isDue = false
      if (this.#stop.signal.aborted) return
      this.#trim()
      this.#publish()
    }
    if (document.hidden) setTimeout(publish, 200)
    else requestAnimationFrame(publish)
  }

  #trim(): void {
    const { turns } = this.#fold
    if (!this.isAtEnd || turns.length <= MOST_TURNS) return
    const first = turns.slice(-KEPT_TURNS).find(({ turnId }) => turnId !== undefined)
    if (first === undefined) return
    this.#lines = this.#lines.filter(({ event }) => event.seq >= first.seq)
    this.#refold()
  }

  #publish(): void {
    const fold = this.#fold
    const asked = this.#questions.length > 0 ? undefined : fold.asked
    this.store.change({
      turns: fold.turns.filter(({ isHidden }) => !isHidden),
      live: this.#live,
      questions: this.#questions,
      elsewhere: asked,
      // A long Session begins before what is loaded.
      settings: { ...settingsOf(this.store.value.info), ...fold.settings },
      messageKeys: fold.messageKeys,
      steered: fold.steered,
      lastSeq: fold.last,
      pressure: fullness(this.#live) ?? fold.pressure,
      isRunning: fold.openTurn !== undefined && this.#isBusy,
      isLeft: fold.openTurn !== undefined && !this.#isBusy,
      hasOlder: (this.#lines[0]?.event.seq ?? 0) > 0,
    })
  }
}

function fullness({ pressure }: LiveView): Fullness | undefined {
  const { ratio, window_tokens } = pressure ?? {}
  return ratio === undefined || window_tokens === undefined ? undefined : { ratio, window_tokens }
}

function settingsOf(info: ApiSession | undefined): SessionSettings {
  if (info === undefined) return {}
  const { provider, model, effort, mode, permissionMode: permission_mode } = info
  return { provider, model, mode, permission_mode, ...(effort === undefined ? {} : { effort }) }
}

const PROGRESS_CHARACTERS = 8_000
