import { SessionResources } from '../../../history/session-resources.ts'
import type { Result } from '../../../model/errors.ts'
import type { WholeEvent } from '../../../model/events/event.ts'
import type { Session } from '../../../session/session.ts'
import type { WatcherUpdate } from '../../../session/watch/subscribe.ts'
import { counted } from '../../../encoding/amounts.ts'
import type { DrawResource } from '../render/pictures.ts'
import { broughtBy } from '../text/resource-words.ts'
import { isPlain, type OutgoingMessage } from './pending-attachments.ts'
import { sentences } from '../screen/rows.ts'
import type { FinishedOutput } from '../screen/screen.ts'
import { SessionView } from './session-view.ts'
import { failureRows } from './translate.ts'

/** Receives what happens in the Session. */
export interface SessionListener {
  /** Prints finished rows. */
  readonly print: (rows: readonly FinishedOutput[]) => void
  /** The live rows changed. */
  readonly changed: () => void
  /** A message of a person was recorded. */
  readonly messageRecorded: () => void
  /** A message could not be sent. */
  readonly notSent: (message: OutgoingMessage) => void
  /** Absent if the terminal cannot show images. */
  readonly draw: DrawResource | undefined
  /** A defect occurred. */
  readonly onDefect: (defect: unknown) => void
}

const NOT_ENDED =
  'The last Turn has not ended: it is running in another process, or a crash cut it off. After a crash, your next message ends it first.'

/** How many Turns of a continued Session are shown again. */
const TURNS_SHOWN = 3

/** A Session as the chat shows it, and where it sends messages. */
export class WatchedSession {
  readonly session: Session
  readonly #listener: SessionListener
  readonly #view: SessionView
  #columns: number
  #shown = -1
  #turns = 0
  #isCommand = false
  #watching: Promise<void> = Promise.resolve()

  constructor(session: Session, columns: number, listener: SessionListener) {
    this.session = session
    this.#columns = columns
    this.#listener = listener
    this.#view = new SessionView(
      columns,
      (id) => new SessionResources(session.events).byId(id)?.descriptor,
    )
  }

  /** Shows the last Turns, and everything from there on. */
  open(): void {
    const { events } = this.session
    const starts = events.flatMap(({ type }, at) => (type === 'turn_started' ? [at] : []))
    const from = starts.at(-TURNS_SHOWN) ?? 0
    const shown = Math.min(starts.length, TURNS_SHOWN)
    const before = this.session.state.turns - shown
    if (before > 0) this.#note(`[… ${counted(before, 'earlier Turn')}]`)
    this.#watching = this.#watch().catch(this.#listener.onDefect)
    this.#shown = (events[from]?.seq ?? 0) - 1
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
  sent(): string[] {
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
    const { text } = message
    if (isPlain(message) && this.busy && this.session.steer(text)) {
      this.#view.steered(text)
      this.#listener.changed()
    } else this.#turn(message).catch(this.#listener.onDefect)
  }

  /** Runs a command of the person, and resolves when its end is in the Log. */
  async run(command: string): Promise<Result<unknown>> {
    this.#isCommand = true
    this.#listener.changed()
    try {
      return await this.session.runCommand(command)
    } finally {
      this.#isCommand = false
      this.#listener.changed()
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
    this.#listener.changed()
    const { text, attached: _, ...enclosed } = message
    const admitted = await this.session.admit(text, { ...enclosed, whenBusy: 'queue' })
    if (!admitted.ok) this.#listener.notSent(message)
    const outcome = admitted.ok ? await admitted.value.done : admitted
    this.#turns -= 1
    // A Turn that failed because of its attachments is in the Log and was already shown.
    if (!outcome.ok && outcome.error.kind !== 'attachments_failed')
      this.#listener.print(failureRows(outcome.error, this.#columns))
    this.#listener.changed()
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
      const event = this.#see(seen)
      this.#listener.changed()
      if (event !== undefined) await this.#draw(event)
    }
    return true
  }

  /** Returns the Event if it is shown for the first time. */
  #see(seen: Exclude<WatcherUpdate, { kind: 'resync' }>): WholeEvent | undefined {
    if (seen.kind === 'notice') {
      this.#listener.print(this.#view.notice(seen.notice))
      return undefined
    }
    const { seq } = seen.line
    if (seq <= this.#shown) return undefined
    this.#shown = seq
    const at = this.session.events.findLastIndex((event) => event.seq === seq)
    if (at !== -1) this.#show(at)
    else if (!seen.line.logged.known) this.#note(unknownEvent(seen.line.logged.event.type))
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
      if (seq <= this.#shown) continue
      this.#shown = seq
      this.#show(at)
    }
  }

  #show(at: number): void {
    const { events } = this.session
    const event = events[at]
    if (event === undefined) return
    this.#listener.print(this.#view.take(event, turnUpTo(events, at)))
    if (event.type === 'user_message') this.#listener.messageRecorded()
  }
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
