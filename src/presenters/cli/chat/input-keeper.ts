import type { Clock } from '../../../host/clock.ts'
import type { InputDrafts } from '../../../host/typed-input/drafts.ts'
import { latestOnce, type InputHistory } from '../../../host/typed-input/history.ts'
import {
  clearEditor,
  newEditor,
  restoreDraft,
  wholeText,
  withHistory,
  type EditorState,
} from '../screen/editor.ts'
import { NEW_VIM } from '../screen/vim.ts'
import type { WatchedSession } from './watched-session.ts'

/** Where what a person types is stored. */
export interface TypedInput {
  readonly history: InputHistory
  readonly drafts: InputDrafts
  /** Removes keys from a text, as from everything that is stored. */
  readonly redact: (text: string) => string
}

/** What the keeper reads and changes. */
interface InputDesk {
  readonly parts: {
    readonly clock: Clock
    readonly typedInput?: TypedInput | undefined
    readonly vimKeys?: boolean | undefined
  }
  editor: EditorState
  current: WatchedSession
  note: string
  readonly display: { refresh(): void }
}

/** A draft is stored this long after the last key. */
const PAUSE_MS = 300

/** The drafts of all Sessions without a Turn have one name: such a Session is deleted when the chat ends. */
const NEW_SESSION = 'new'

/** Keeps what a person types: earlier messages of all Sessions of the workspace, and the draft until it is sent. */
export class InputKeeper {
  readonly #desk: InputDesk
  readonly #onDefect: (defect: unknown) => void
  #earlier: readonly string[] = []
  /** Entered or stashed in this chat. */
  #entries: string[] = []
  #name = NEW_SESSION
  #lastText = ''
  #due: (() => void) | undefined
  /** Reads and writes in order. */
  #work: Promise<void> = Promise.resolve()

  constructor(desk: InputDesk, onDefect: (defect: unknown) => void) {
    this.#desk = desk
    this.#onDefect = onDefect
  }

  /** A Session is shown: takes its draft, and all earlier messages. The person can type meanwhile. */
  begin(): void {
    const desk = this.#desk
    const { id, state } = desk.current.session
    this.#save()
    this.#name = state.turns > 0 ? id : NEW_SESSION
    this.#lastText = ''
    const { kills } = desk.editor
    desk.editor = { ...newEditor([], desk.parts.vimKeys === true ? NEW_VIM : undefined), kills }
    this.recount()
    const stored = desk.parts.typedInput
    if (stored === undefined) return
    const name = this.#name
    this.#then(async () => {
      this.#earlier = await stored.history.read()
      this.recount()
      const found = await stored.drafts.read(name)
      if (found === undefined || desk.editor.draft.text !== '' || this.#name !== name) return
      const chips = new Map(found.chips)
      desk.editor = restoreDraft(desk.editor, { text: found.text, cursor: found.cursor }, chips)
      this.#lastText = found.text
      desk.note = 'This is a draft that you did not send; Ctrl-C clears it.'
      desk.display.refresh()
    })
  }

  /** A message was recorded: what Up recalls changed. */
  recount(): void {
    const sent = this.#desk.current.sent()
    const all = latestOnce([...sent, ...this.#earlier, ...this.#entries])
    this.#desk.editor = withHistory(this.#desk.editor, all)
  }

  /** The draft may have changed. */
  follow(): void {
    if (
      this.#desk.editor.draft.text === this.#lastText ||
      this.#desk.parts.typedInput === undefined
    )
      return
    this.#due?.()
    this.#due = this.#desk.parts.clock.after(PAUSE_MS, () => this.#save())
  }

  /** The person entered a text. Its draft stays stored for a moment, until the text is in the Log. */
  enter(text: string): void {
    this.#remember(text, text)
    this.follow()
  }

  /** Clears the draft, so that Up brings it back. */
  stash(): void {
    const desk = this.#desk
    const { text } = desk.editor.draft
    const whole = wholeText(desk.editor)
    this.#remember(text, whole)
    desk.editor = clearEditor(desk.editor)
    this.follow()
  }

  /** Resolves when everything is stored. */
  async close(): Promise<void> {
    this.#save()
    await this.#work
  }

  #remember(text: string, whole: string): void {
    if (text.trim() === '') return
    this.#entries = latestOnce([...this.#entries, text])
    this.recount()
    const stored = this.#desk.parts.typedInput
    if (stored !== undefined) this.#then(() => stored.history.add(stored.redact(whole)))
  }

  #save(): void {
    this.#due?.()
    this.#due = undefined
    const { draft, chips } = this.#desk.editor
    const stored = this.#desk.parts.typedInput
    if (stored === undefined || draft.text === this.#lastText) return
    this.#lastText = draft.text
    const name = this.#name
    if (draft.text.trim() === '') return this.#then(() => stored.drafts.remove(name))
    const text = stored.redact(draft.text)
    const cursor = text === draft.text ? draft.cursor : text.length
    const all = [...chips].map(([sign, pasted]): [string, string] => [sign, stored.redact(pasted)])
    this.#then(() => stored.drafts.write(name, { v: 1, text, cursor, chips: all }))
  }

  #then(work: () => Promise<void>): void {
    this.#work = this.#work.then(work).catch(this.#onDefect)
  }
}
