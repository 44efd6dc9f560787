import type { Session } from '../../../session/session.ts'
import { Asking } from '../question/asking.ts'
import { OwnQuestions } from '../question/own-questions.ts'
import { Display } from '../screen/display.ts'
import { giveBack, newEditor, type EditorState } from '../screen/editor.ts'
import { listenToKeys } from '../screen/keyboard.ts'
import type { Key } from '../screen/keys.ts'
import { sentences, verbatim } from '../screen/rows.ts'
import type { Scene } from '../screen/screen.ts'
import { Suggestions, type SuggestionSources } from '../suggest/suggestions.ts'
import { Picking } from '../pick/picking.ts'
import { EXIT } from '../world/exit-code.ts'
import { SPIN_MS } from './activity-rows.ts'
import { ChatColours } from './chat-colours.ts'
import type { ChatSkill } from './commands/command-context.ts'
import type { ChatDesk, ChatParts } from './desk.ts'
import { EnteredText } from './entered-text.ts'
import { InputKeeper } from './input-keeper.ts'
import { INTERRUPTING, KeyPresses } from './key-presses.ts'
import { liveRegion, windowTitle } from './live-region.ts'
import { MessageQueue } from './commands/message-queue.ts'
import { askAboutPlan, planToApprove } from './plan-approval.ts'
import { postureWords } from './posture.ts'
import { Pulse } from './pulse.ts'
import { Transcript } from './transcript/transcript.ts'
import { failureRows } from './translate.ts'
import { PendingAttachments } from './commands/pending-attachments.ts'
import { suggestionSources } from './suggestion-sources.ts'
import { readyToShow, WatchedSession, type TurnsEnd } from './watched-session.ts'

/** The end of a longer Turn attracts attention: the person may have turned to something else. */
const LONG_TURN_MS = 20_000

/**
 * Runs a conversation until the person exits, and returns the exit code: 0 after `/quit` or Ctrl-D, 130 after Ctrl-C,
 * 143 or 129 when a signal or the closing of the terminal ended it. A running Turn is interrupted, and its end is in
 * the Log before this resolves. Restores the terminal.
 */
export async function runChat(parts: ChatParts): Promise<number> {
  const chat = new Chat(parts)
  const { streams } = parts
  const stops = [
    () => chat.unlisten(),
    streams.onSignal('SIGINT', () => chat.press({ kind: 'press', chord: 'ctrl-c' })),
    streams.onSignal('SIGTERM', () => chat.leave(EXIT.terminated)),
    streams.onSignal('SIGHUP', () => chat.leave(EXIT.hangup)),
  ]
  try {
    return await talk(chat)
  } finally {
    for (const stop of stops) stop()
  }
}

async function talk(chat: Chat): Promise<number> {
  try {
    await readyToShow(chat.current.session)
    chat.open()
    return await chat.exitCode
  } finally {
    await chat.close()
  }
}

/** The files for `@` are listed once the input is there, so that the first `@` finds them. */
const WARM_MS = 50

/** The life of a chat. What keys do, what an entered text does and what is shown are in files of their own. */
class Chat implements ChatDesk {
  readonly exitCode: Promise<number>
  readonly parts: ChatParts
  readonly display: Display
  readonly colours: ChatColours
  readonly asking: Asking
  readonly questions: OwnQuestions
  readonly pending = new PendingAttachments()
  readonly sources: SuggestionSources
  readonly suggestions: Suggestions
  readonly picking: Picking
  readonly keeper: InputKeeper
  readonly queue = new MessageQueue(() => this.keeper.follow())
  readonly transcript: Transcript
  branch: string | undefined
  current: WatchedSession
  editor: EditorState = newEditor([])
  note = ''
  exitsOnInterrupt = false
  skills: readonly ChatSkill[] = []
  readonly #entry: EnteredText
  readonly #keys: KeyPresses
  /** Stops reading keys; absent while someone else has the terminal. */
  #stopKeys: (() => void) | undefined
  #stopWarming = () => {}
  readonly #pulse: Pulse
  #leaving: number | undefined
  #leave: (code: number) => void = () => {}
  #onDefect: (defect: unknown) => void = () => {}
  /** Commands run in sequence. */
  #commands: Promise<void> = Promise.resolve()

  constructor(parts: ChatParts) {
    this.parts = parts
    this.exitCode = new Promise((resolve, reject) => {
      this.#leave = resolve
      this.#onDefect = reject
    })
    this.colours = new ChatColours(parts, (palette) => this.display.recolour(palette))
    this.display = new Display(
      { ...parts, colour: this.colours.palette },
      {
        scene: () => this.#scene(),
        onResize: (columns) => this.current.resize(columns),
        onDefect: this.#onDefect,
      },
    )
    const refresh = () => this.display.refresh()
    this.sources = suggestionSources({
      ...parts,
      session: () => this.current.session,
      skills: () => this.skills,
      onChange: () => this.#suggest(),
    })
    this.suggestions = new Suggestions(this.sources, refresh)
    this.picking = new Picking(refresh)
    this.keeper = new InputKeeper(this, this.#onDefect)
    this.#pulse = new Pulse(parts.clock, refresh)
    const came = () => this.display.attract('A question waits')
    this.asking = new Asking(parts.clock, refresh, came, () => this.#keys.cycleMode())
    this.questions = new OwnQuestions(parts.session.openQuestions, {
      isOffered: () => postureWords(this.current.session.state) === 'ask',
      change: () => this.#switchToAuto(),
    })
    this.transcript = new Transcript(this)
    this.current = this.#watchSession(parts.session)
    this.pending.giveBack(parts.attachments ?? [])
    this.#entry = new EnteredText(this)
    this.#keys = new KeyPresses(this, this.#entry.submit)
  }

  open(): void {
    this.#listen()
    this.display.open()
    if (this.colours.asksBackground) this.display.askBackground()
    this.#greet()
    this.#commands = this.#entry.listSkills().then(() => {}, this.#onDefect)
    this.#stopWarming = this.parts.clock.after(WARM_MS, () => this.sources.files?.refresh())
    void this.#readBranch()
    if (this.parts.first !== undefined) this.#entry.submit(this.parts.first)
  }

  readonly inOrder = (work: () => Promise<void>): void => {
    this.#commands = this.#commands.then(work).catch(this.#onDefect)
  }

  readonly alone = (work: () => Promise<void>): void => {
    work().catch(this.#onDefect)
  }

  readonly handOver = async (work: () => Promise<void>): Promise<void> => {
    await this.display.pause()
    this.unlisten()
    try {
      await work()
    } finally {
      this.#listen()
      this.display.resume()
    }
  }

  unlisten(): void {
    this.#stopKeys?.()
    this.#stopKeys = undefined
  }

  readonly leave = (code: number): void => {
    if (this.#leaving !== undefined) return
    this.#leaving = code
    this.#leave(code)
  }

  readonly interrupt = (): void => {
    const texts = this.current.withdrawSteering()
    if (this.queue.length > 0) this.queue.isHeld = true
    this.current.session.interrupt()
    for (const text of texts.toReversed()) this.editor = giveBack(this.editor, text)
    this.keeper.follow()
  }

  readonly goTo = async (session: Session): Promise<void> => {
    const before = this.current
    await readyToShow(session)
    this.current = this.#watchSession(session)
    await before.close()
    this.#greet()
  }

  async close(): Promise<void> {
    this.asking.close()
    this.picking.close()
    this.#stopWarming()
    this.sources.files?.close()
    for (const text of this.current.withdrawSteering().toReversed())
      this.editor = giveBack(this.editor, text)
    await this.keeper.close()
    this.#pulse.stop()
    this.note = 'Exiting …'
    this.display.refresh()
    await this.current.close()
    this.#showQueue()
    await this.display.close()
    const { id, state } = this.current.session
    if (state.turns > 0) {
      this.parts.streams.stderr.write(`Continue with: hawser chat --session ${id}\n`)
    }
  }

  readonly press = (key: Key): void => {
    if (this.#leaving === undefined && this.#stopKeys !== undefined) this.#keys.press(key)
  }

  #listen(): void {
    const { streams, clock } = this.parts
    const gone = () => this.leave(EXIT.hangup)
    this.#stopKeys = listenToKeys(streams.stdin, clock, this.press, gone, this.colours.takeReport)
  }

  #scene(): Scene {
    const { signals } = this.parts
    this.display.entitle(windowTitle(this))
    // Nothing runs while a question waits.
    const moves = this.current.busy && !this.asking.waits && !signals.isStill
    this.#pulse.next(moves, SPIN_MS)
    return liveRegion(this)
  }

  async #switchToAuto(): Promise<void> {
    const changed = await this.current.changeMode({ permission_mode: 'auto' })
    if (!changed.ok) this.display.print(failureRows(changed.error, this.display.columns))
  }

  /** It may change with any command of a Turn. */
  async #readBranch(): Promise<void> {
    const branch = await this.parts.actions.branch?.()
    if (branch === this.branch) return
    this.branch = branch
    this.display.refresh()
  }

  readonly #turnsEnded = ({ isComplete, ms }: TurnsEnd): void => {
    if (this.note === INTERRUPTING) this.note = ''
    void this.#readBranch()
    const { state, events } = this.current.session
    const plan = isComplete && state.mode === 'plan' ? planToApprove(events) : []
    if (!isComplete && this.queue.length > 0) this.queue.isHeld = true
    if (plan.length > 0)
      return void askAboutPlan(this, plan, this.#entry.submit).catch(this.#onDefect)
    const next = this.queue.isHeld ? undefined : this.queue.next()
    if (next !== undefined) this.#entry.submit(next)
    else if (ms >= LONG_TURN_MS)
      this.display.attract(isComplete ? 'The Turn has ended' : 'The Turn did not complete')
  }

  /** Nothing that was typed is lost silently. */
  #showQueue(): void {
    const { texts } = this.queue
    if (texts.length === 0) return
    const { columns } = this.display
    const why =
      this.parts.typedInput === undefined
        ? 'Not sent, because the chat ended:'
        : 'Not sent, because the chat ended; the queue is kept for the next time:'
    this.display.print([
      ...sentences(why, { columns, style: { colour: 'yellow' } }),
      ...texts.flatMap((text) => verbatim(text, { columns, first: '  ' })),
    ])
  }

  /** More can be suggested for the draft. */
  #suggest(): void {
    if (this.suggestions.hasWord) this.suggestions.follow(this.editor.draft)
    this.display.refresh()
  }

  #greet(): void {
    // The model is in the status line, because it may change.
    const text = `hawser · ${this.current.session.state.workspace}`
    const { columns } = this.display
    this.display.print(sentences(text, { columns, style: { dim: true } }))
    this.current.open()
    this.questions.over(this.current.session.openQuestions)
    this.asking.watch(this.questions)
    this.keeper.begin()
  }

  #watchSession(session: Session): WatchedSession {
    return new WatchedSession(session, this.display.columns, {
      print: (rows) => this.display.print(rows),
      onChange: () => this.display.refresh(),
      messageRecorded: () => this.keeper.recount(),
      turnsEnded: this.#turnsEnded,
      clock: this.parts.clock,
      notSent: ({ text, pending }) => {
        this.editor = giveBack(this.editor, text)
        this.pending.giveBack(pending)
        this.keeper.follow()
      },
      draw: this.parts.actions.draw,
      onDefect: this.#onDefect,
    })
  }
}
