import type { Clock } from '../../../host/clock.ts'
import type { InputDrafts, StoredDraft } from '../../../host/typed-input/drafts.ts'
import { latestOnce, type InputHistory } from '../../../host/typed-input/history.ts'
import {
  clearEditor,
  newEditor,
  restoreDraft,
  wholeText,
  withHistory,
  type EditorState,
} from '../screen/editor.ts'
import { expand } from '../screen/chips.ts'
import { NEW_VIM } from '../screen/vim.ts'
import type { MessageQueue } from './commands/message-queue.ts'
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
  readonly queue: MessageQueue
  readonly current: Pick<WatchedSession, 'sentMessages'> & {
    readonly session: { readonly id: string; readonly state: { readonly turns: number } }
  }
  note: string
  readonly display: { refresh(): void }
}

/** A change is stored at most this much later, also while the person keeps typing. */
const DELAY_MS = 300

/** The drafts of all Sessions without a Turn have one name: such a Session is deleted when the chat ends. */
const NEW_SESSION = 'new'

const NO_QUEUE: readonly string[] = []

/**
 * Keeps what a person types: earlier messages of all Sessions of the workspace, and the draft and the queue of each Session
 * until they are sent. A crash costs at most the last keys.
 */
export class InputKeeper {
  readonly #desk: InputDesk
  readonly #onDefect: (defect: unknown) => void
  #earlier: readonly string[] = []
  /** Entered or stashed in this chat. */
  #entries: string[] = []
  #name = NEW_SESSION
  /** As last stored. */
  #lastText = ''
  #lastQueue = NO_QUEUE
  #due: (() => void) | undefined
  #isClosed = false
  /** Reads and writes in order. */
  #work: Promise<void> = Promise.resolve()

  constructor(desk: InputDesk, onDefect: (defect: unknown) => void) {
    this.#desk = desk
    this.#onDefect = onDefect
  }

  /** A Session is shown: takes its draft, and all earlier messages. The person can type meanwhile. */
  begin(): void {
    const desk = this.#desk
    this.#save(this.#name)
    this.#name = this.#nameNow()
    this.#lastText = ''
    this.#lastQueue = NO_QUEUE
    if (desk.parts.typedInput !== undefined) desk.queue.clear()
    const { kills, chips } = desk.editor
    // The characters of chips mean other texts in another draft.
    this.#entries = this.#entries.map((text) => expand(text, chips))
    desk.editor = { ...newEditor([], desk.parts.vimKeys === true ? NEW_VIM : undefined), kills }
    this.recount()
    const stored = desk.parts.typedInput
    if (stored === undefined) return
    const name = this.#name
    this.#then(async () => {
      this.#earlier = await stored.history.read()
      this.recount()
      const found = await stored.drafts.read(name)
      if (found !== undefined && this.#name === name) this.#restore(found)
    })
  }

  /** What the person typed meanwhile is not replaced. */
  #restore({ text, cursor, chips, queue }: StoredDraft): void {
    const desk = this.#desk
    if (desk.queue.length === 0 && queue.length > 0) {
      desk.queue.restore(queue)
      this.#lastQueue = desk.queue.texts
    }
    if (text !== '' && desk.editor.draft.text === '') {
      desk.editor = restoreDraft(desk.editor, { text, cursor }, new Map(chips))
      this.#lastText = text
      desk.note = 'This is a draft that you did not send; Ctrl-C clears it.'
    }
    desk.display.refresh()
  }

  /** Other chats of the folder may have sent messages since. */
  async reread(): Promise<void> {
    const stored = this.#desk.parts.typedInput
    if (stored === undefined) return
    this.#earlier = await stored.history.read()
    this.recount()
  }

  /** A message was recorded: what Up recalls changed. */
  recount(): void {
    const sent = this.#desk.current.sentMessages()
    const all = latestOnce([...sent, ...this.#earlier, ...this.#entries])
    this.#desk.editor = withHistory(this.#desk.editor, all)
  }

  /** The draft or the queue may have changed. */
  follow(): void {
    const desk = this.#desk
    if (this.#isStored() || this.#isClosed || desk.parts.typedInput === undefined) return
    this.#due ??= desk.parts.clock.after(DELAY_MS, () => this.#save())
  }

  /** The person entered a text. It stays stored for a moment, until it is in the Log. */
  enter(text: string): void {
    this.#remember(text, text)
    this.#due?.()
    this.#due = undefined
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
    this.#isClosed = true
    await this.drain()
  }

  /** Resolves when what is due so far was read and stored. */
  async drain(): Promise<void> {
    await this.#work
  }

  #remember(text: string, whole: string): void {
    if (text.trim() === '') return
    this.#entries = latestOnce([...this.#entries, text])
    this.recount()
    const stored = this.#desk.parts.typedInput
    if (stored !== undefined) this.#then(() => stored.history.add(stored.redact(whole)))
  }

  /** A Session has a name of its own from its first Turn on. */
  #nameNow(): string {
    const { id, state } = this.#desk.current.session
    return state.turns > 0 ? id : NEW_SESSION
  }

  #isStored(): boolean {
    const { editor, queue } = this.#desk
    const isEmpty = queue.length === 0 && this.#lastQueue.length === 0
    return editor.draft.text === this.#lastText && (isEmpty || queue.texts === this.#lastQueue)
  }

  #save(name = this.#nameNow()): void {
    this.#due?.()
    this.#due = undefined
    const { editor, queue, parts } = this.#desk
    const stored = parts.typedInput
    if (stored === undefined || this.#isStored()) return
    const before = this.#name
    this.#name = name
    this.#lastText = editor.draft.text
    this.#lastQueue = queue.texts
    const kept = storedDraft(editor, queue.texts, stored.redact)
    this.#then(async () => {
      if (before !== name) await stored.drafts.remove(before)
      if (kept === undefined) await stored.drafts.remove(name)
      else await stored.drafts.write(name, kept)
    })
  }

  #then(work: () => Promise<void>): void {
    this.#work = this.#work.then(work).catch(this.#onDefect)
  }
}

/** What is stored of a draft and a queue, without keys; `undefined` if both are empty. */
function storedDraft(
  { draft, chips }: EditorState,
  queue: readonly string[],
  redact: TypedInput['redact'],
): StoredDraft | undefined {
  const isBlank = draft.text.trim() === ''
  if (isBlank && queue.length === 0) return undefined
  const text = isBlank ? '' : redact(draft.text)
  return {
    v: 1,
    text,
    cursor: text === draft.text ? draft.cursor : text.length,
    chips: [...chips].map(([sign, pasted]): [string, string] => [sign, redact(pasted)]),
    queue: queue.map(redact),
  }
}
