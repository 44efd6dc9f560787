import { SessionResources } from '../../../history/session-resources.ts'
import type { Clock } from '../../../host/clock.ts'
import type { Result } from '../../../model/errors.ts'
import type { WholeEvent } from '../../../model/events/event.ts'
import type { ModeChange } from '../../../session/admission/settings-change.ts'
import type { Session } from '../../../session/session.ts'
import type { WatcherUpdate } from '../../../session/watch/subscribe.ts'
import { countOf } from '../../../encoding/amounts.ts'
import type { DrawResource } from '../render/pictures.ts'
import { broughtBy } from '../text/resource-words.ts'
import { isPlain, type OutgoingMessage } from './commands/pending-attachments.ts'
import { sentences } from '../screen/rows.ts'
import { loadCodeColours, needsCodeColours } from '../text/code-colours.ts'
import type { FinishedOutput } from '../screen/screen.ts'
import { SessionView } from './session-view.ts'
import { failureRows } from './translate.ts'

/** Receives what happens in the Session. */
export interface SessionListener {
  /** Prints finished rows. */
  readonly print: (rows: readonly FinishedOutput[]) => void
  /** The live rows changed. */
  readonly onChange: () => void
  /** A message of a person was recorded. */
  readonly messageRecorded: () => void
  /** No Turn of this chat runs any more; `ms` is how long the last one ran. */
  readonly turnsEnded: (end: TurnsEnd) => void
  /** A message could not be sent. */
  readonly notSent: (message: OutgoingMessage) => void
  readonly clock: Pick<Clock, 'monotonicMs'>
  /** Absent if the terminal cannot show images. */
  readonly draw: DrawResource | undefined
  /** A defect occurred. */
  readonly onDefect: (defect: unknown) => void
}

export interface TurnsEnd {
  readonly isComplete: boolean
  readonly ms: number
}

const NOT_ENDED =
  'The last Turn has not ended: it is running in another process, or a crash cut it off. After a crash, your next message ends it first.'

/** How many Turns of a continued Session are shown again. */
const TURNS_SHOWN = 3

/** Where the Events begin that `open` shows. */
function shownFrom(events: readonly WholeEvent[]): number {
  const starts = events.flatMap(({ type }, at) => (type === 'turn_started' ? [at] : []))
  return starts.at(-TURNS_SHOWN) ?? 0
}

/** Loads what the Turns need that `open` shows. */
export async function readyToShow({ events }: Pick<Session, 'events'>): Promise<void> {
  const shown = events.slice(shownFrom(events))
  const isNeeded = shown.some(
    (event) => event.type === 'assistant_message' && needsCodeColours(event.data.text),
  )
  if (isNeeded) await loadCodeColours()
}

/** A Session as the chat shows it, and where it sends messages. */
export class WatchedSession {
  readonly session: Session
  readonly #listener: SessionListener
  readonly #view: SessionView
  #columns: number
  #shownSeq = -1
  #turns = 0
  #isCommand = false
  #admissions = 0
  /** Texts for a Turn that is being admitted; they steer it as soon as it runs. */
  #early: OutgoingMessage[] = []
  /** Changes of the mode whose Events print nothing. */
  #quietChanges = 0
  #watching: Promise<void> = Promise.resolve()

  constructor(session: Session, columns: number, listener: SessionListener) {
    this.session = session
    this.#columns = columns
    this.#listener = listener
    this.#view = new SessionView(
      columns,
      listener.clock,
      (id) => new SessionResources(session.events).byId(id)?.descriptor,
    )
  }

  /** Shows the last Turns, and everything from there on. */
  open(): void {
    const { events } = this.session
    const from = shownFrom(events)
    const shown = events.slice(from).filter(({ type }) => type === 'turn_started').length
    const before = this.session.state.turns - shown
    if (before > 0) this.#note(`[… ${countOf(before, 'earlier Turn')}]`)
    this.#watching = this.#watch().catch(this.#listener.onDefect)
    this.#shownSeq = (events[from]?.seq ?? 0) - 1
    this.#showKnown()
    this.#view.rest()
    if (this.session.state.turn_open) this.#note(NOT_ENDED)
  }

  /** A Turn of this process or a command of the person is running. */
  get busy(): boolean {
    return this.#turns > 0 || this.#isCommand
  }

  /** What is running, for the person. */
  get work(): 'Turn' | 'command' {
    return this.#isCommand ? 'command' : 'Turn'
  }

  get view(): Pick<SessionView, 'open' | 'activity'> {
    return this.#view
  }

  /** The messages that the person sent, the latest last. */
  sentMessages(): string[] {
    const { events } = this.session
    const ours = new Set(
      events.flatMap((event) =>
        event.type === 'turn_started' && event.data.purpose !== undefined ? [event.turn_id] : [],
      ),
    )
    return events.flatMap((event) =>
      event.type === 'user_message' && event.data.text !== '' && !ours.has(event.turn_id)
        ? [event.data.text]
        : [],
    )
  }

  /** Steers the running Turn, or starts a new one. A message with anything besides text always starts one. */
  say(message: OutgoingMessage): void {
    if (isPlain(message) && this.busy && this.#steer(message)) {
      this.#view.addSteering(message.text)
      this.#listener.onChange()
    } else this.#turn(message).catch(this.#listener.onDefect)
  }

  /** Withdraws what steers the running Turn and is not recorded yet, the first one first. */
  withdrawSteering(): string[] {
    const texts = this.#view.activity.steering.filter((text) => this.#unsteer(text))
    for (const text of texts) this.#view.forgetSteering(text)
    return texts
  }

  /** Changes the mode without a line in the transcript: the status line shows it. */
  async changeMode(change: ModeChange): Promise<Result<void>> {
    this.#quietChanges += 1
    const changed = await this.session.change(change)
    if (!changed.ok) this.#quietChanges -= 1
    this.#listener.onChange()
    return changed
  }

  /** Runs a command of the person, and resolves when its end is in the Log. */
  async run(command: string): Promise<Result<unknown>> {
    this.#isCommand = true
    this.#listener.onChange()
    try {
      return await this.session.runCommand(command)
    } finally {
      this.#isCommand = false
      this.#listener.onChange()
    }
  }

  resize(columns: number): void {
    this.#columns = columns
    this.#view.resize(columns)
  }

  /** Ends the running Turn, and resolves when its end is in the Log and shown. */
  async close(): Promise<void> {
    await this.session.close()
    await this.#watching
  }

  async #turn(message: OutgoingMessage): Promise<void> {
    this.#turns += 1
    this.#listener.onChange()
    const startMs = this.#listener.clock.monotonicMs()
    const { text, pending: _, ...enclosed } = message
    this.#admissions += 1
    const admitted = await this.session.admit(text, { ...enclosed, whenBusy: 'queue' })
    this.#admissions -= 1
    if (!admitted.ok) this.#listener.notSent(message)
    this.#sendEarly(admitted.ok)
    const outcome = admitted.ok ? await admitted.value.done : admitted
    this.#turns -= 1
    // A Turn that failed because of its attachments is in the Log and was already shown.
    if (!outcome.ok && outcome.error.kind !== 'attachments_failed')
      this.#listener.print(failureRows(outcome.error, this.#columns))
    this.#listener.onChange()
    if (this.#turns > 0) return
    const isComplete = outcome.ok && outcome.value.status === 'completed'
    const ms = this.#listener.clock.monotonicMs() - startMs
    this.#listener.turnsEnded({ isComplete, ms })
  }

  #steer(message: OutgoingMessage): boolean {
    if (this.session.steer(message.text)) return true
    if (this.#admissions > 0) this.#early.push(message)
    return this.#admissions > 0
  }

  #unsteer(text: string): boolean {
    const at = this.#early.findLastIndex((message) => message.text === text)
    if (at === -1) return this.session.unsteer(text)
    this.#early.splice(at, 1)
    return true
  }

  /** Steers the Turn that runs now. What it does not take is a Turn of its own, or returns to the person. */
  #sendEarly(isRunning: boolean): void {
    for (const message of this.#early.splice(0)) {
      if (isRunning && this.session.steer(message.text)) continue
      this.#view.forgetSteering(message.text)
      if (isRunning) this.#turn(message).catch(this.#listener.onDefect)
      else this.#listener.notSent(message)
    }
  }

  async #watch(): Promise<void> {
    for (;;) {
      const isOver = await this.#watchOnce()
      if (isOver) return
      // The watcher was too slow, or another process cut lines that it saw: read the Log.
      const known = await this.session.catchUp()
      if (!known.ok) return this.#listener.print(failureRows(known.error, this.#columns))
      this.#showKnown()
    }
  }

  async #watchOnce(): Promise<boolean> {
    for await (const seen of this.session.subscribe()) {
      if (seen.kind === 'resync') return false
      if (needsCodeColours(textOf(seen))) await loadCodeColours()
      const event = this.#see(seen)
      this.#listener.onChange()
      if (event !== undefined) await this.#draw(event)
    }
    return true
  }

  /** Returns the Event if it is shown for the first time. */
  #see(seen: Exclude<WatcherUpdate, { kind: 'resync' }>): WholeEvent | undefined {
    if (seen.kind === 'ephemeral') {
      this.#listener.print(this.#view.notice(seen.ephemeral))
      return undefined
    }
    const { seq } = seen.line
    if (seq <= this.#shownSeq) return undefined
    this.#shownSeq = seq
    const at = this.session.events.findLastIndex((event) => event.seq === seq)
    if (at !== -1) this.#show(at)
    else if (!seen.line.content.isKnown) this.#note(unknownEvent(seen.line.content.event.type))
    return this.session.events[at]
  }

  /** Draws the images that an Event attached. Later Events wait, so that images appear in order. */
  async #draw(event: WholeEvent): Promise<void> {
    const { draw } = this.#listener
    if (draw === undefined) return
    for (const resource of broughtBy(event)) {
      const picture = await draw(this.session, resource)
      if (picture !== undefined) this.#listener.print([picture])
    }
  }

  #note(text: string): void {
    this.#listener.print(sentences(text, { columns: this.#columns, style: { dim: true } }))
  }

  #showKnown(): void {
    for (const [at, { seq }] of this.session.events.entries()) {
      if (seq <= this.#shownSeq) continue
      this.#shownSeq = seq
      this.#show(at)
    }
  }

  #show(at: number): void {
    const { events } = this.session
    const event = events[at]
    if (event === undefined) return
    if (this.#quietChanges > 0 && isModeChange(event)) {
      this.#quietChanges -= 1
      return
    }
    this.#listener.print(this.#view.take(event, turnUpTo(events, at)))
    if (event.type === 'user_message') this.#listener.messageRecorded()
  }
}

/** What may be shown as Markdown. */
function textOf(seen: WatcherUpdate): string {
  if (seen.kind === 'ephemeral' && seen.ephemeral.type === 'text_delta')
    return seen.ephemeral.data.text
  const event = seen.kind === 'line' ? seen.whole : undefined
  return event?.type === 'assistant_message' ? event.data.text : ''
}

function isModeChange({ type, data }: WholeEvent): boolean {
  const modes = new Set(['mode', 'permission_mode'])
  return type === 'session_settings' && Object.keys(data).every((key) => modes.has(key))
}

/** The Events of a Turn up to and including one of them. */
function turnUpTo(events: readonly WholeEvent[], at: number): WholeEvent[] {
  let from = at
  while (from > 0 && events[from]?.type !== 'turn_started') from -= 1
  return events.slice(from, at + 1)
}

function unknownEvent(type: string): string {
  return `[Unknown Event type: ${type}]`
}
