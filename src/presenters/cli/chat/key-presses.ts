import { apply, clearEditor, giveBack, replaceDraft, wholeText } from '../screen/editor.ts'
import type { Key } from '../screen/keys.ts'
import { EXIT } from '../world/exit-code.ts'
import { commandNames } from './commands/commands.ts'
import type { ChatDesk } from './desk.ts'
import { InputKeys } from './input-keys.ts'
import { goBack } from './rewind.ts'
import { nextPosture, postureWords } from './posture.ts'
import { failureRows } from './translate.ts'

/** The note until the Turn has ended. */
export const INTERRUPTING = 'Interrupting …'

/** Keys that browse earlier messages. */
const BROWSING: ReadonlySet<string> = new Set(['up', 'down', 'ctrl-p', 'ctrl-n'])

/** Keys that choose from the list of suggestions. */
const CHOOSING: ReadonlySet<string> = new Set(['up', 'down', 'tab', 'enter'])

/** What a key does: it goes to the first of the question, the list, the chat and the draft that handles it. */
export class KeyPresses {
  readonly #desk: ChatDesk
  readonly #submit: (text: string) => void
  readonly #inputKeys: InputKeys
  /** The last key was Esc on an empty input. */
  #hasEscape = false

  constructor(desk: ChatDesk, submit: (text: string) => void) {
    this.#desk = desk
    this.#submit = submit
    this.#inputKeys = new InputKeys(desk)
  }

  press(key: Key): void {
    const desk = this.#desk
    desk.display.hurry()
    if (desk.picking.take(key)) return
    const isInterrupt = isPress(key, 'ctrl-c')
    if (isInterrupt && !desk.transcript.isOpen) return this.#interrupt()
    desk.note = ''
    desk.exitsOnInterrupt = false
    const again = this.#hasEscape
    this.#hasEscape = false
    if (desk.transcript.take(key)) return
    if (isPress(key, 'ctrl-o')) return desk.transcript.open()
    if (desk.asking.take(key)) return
    if (isPress(key, 'shift-tab')) return this.cycleMode()
    if (key.kind === 'press' && !this.#leavesInsert(key.chord)) {
      if (this.#chooses(key.chord) || this.#control(key.chord)) return
      if (key.chord === 'escape' && this.#goesBack(again)) return
    }
    if (this.#sendsBare(key)) return this.#submit('')
    const own = this.#inputKeys.take(key)
    if (own === undefined) return desk.keeper.follow()
    const { state, submit } = apply(desk.editor, own, this.#slashWords())
    desk.editor = state
    // The list would take the keys that browse further.
    if (key.kind === 'press' && BROWSING.has(key.chord)) desk.suggestions.hide()
    // A list that no one sees must not take keys.
    else if (!desk.parts.signals.isPlain) desk.suggestions.follow(desk.editor.draft)
    desk.keeper.follow()
    if (submit !== undefined) this.#submit(submit)
  }

  /** With vim keys, Esc in the text leaves insert mode; only then does it interrupt. */
  #leavesInsert(chord: string): boolean {
    const { vim } = this.#desk.editor
    const isOpen = this.#desk.suggestions.isOpen
    return chord === 'escape' && vim !== undefined && vim.mode !== 'normal' && !isOpen
  }

  /** Returns true if the list of suggestions handled the key. */
  #chooses(chord: string): boolean {
    const desk = this.#desk
    const list = desk.suggestions
    if (CHOOSING.has(chord)) list.settle()
    if (!list.isOpen) return false
    if (chord === 'up' || chord === 'down') list.move(chord)
    else if (chord === 'escape') list.close()
    else if (chord === 'tab' || (chord === 'enter' && !list.isComplete)) {
      const draft = list.accept(desk.editor.draft) ?? desk.editor.draft
      desk.editor = replaceDraft(desk.editor, draft)
      list.follow(draft)
    } else return false
    return true
  }

  /** What can follow a slash. */
  #slashWords(): string[] {
    const { parts, skills } = this.#desk
    const names = [
      ...commandNames(parts.actions),
      ...skills.flatMap(({ name, trust }) => (trust === 'untrusted' ? [] : [name])),
    ]
    return [...new Set(names)]
  }

  /** Attachments can be sent without text. */
  #sendsBare(key: Key): boolean {
    const { editor, pending } = this.#desk
    const isBlank = editor.draft.text.trim() === ''
    const isEnter = key.kind === 'press' && key.chord === 'enter'
    return isEnter && isBlank && pending.waiting.length > 0
  }

  /** Returns true if the chat handled the key, so that it does not go to the draft. */
  #control(chord: string): boolean {
    const desk = this.#desk
    if (chord === 'ctrl-l') {
      desk.display.repair()
      return true
    }
    if (chord === 'tab' && this.#queues()) return true
    if (chord === 'alt-up' && desk.queue.length > 0) {
      const last = desk.queue.remove(desk.queue.length) ?? ''
      desk.editor = giveBack(desk.editor, last)
      return true
    }
    if (chord === 'escape' && desk.current.busy) {
      desk.note = INTERRUPTING
      desk.interrupt()
      return true
    }
    if (chord !== 'ctrl-d' || desk.editor.draft.text !== '') return false
    if (desk.current.busy)
      desk.note = `A ${desk.current.work} is running; press Esc to interrupt it.`
    else desk.leave(EXIT.done)
    return true
  }

  /** Esc twice on an empty input, while nothing runs. */
  #goesBack(again: boolean): boolean {
    const desk = this.#desk
    if (desk.editor.draft.text !== '' || desk.parts.actions.read === undefined) return false
    if (again) desk.inOrder(() => goBack(desk))
    else desk.note = 'Press Esc again to go back to one of your messages.'
    this.#hasEscape = !again
    return true
  }

  /** Queues the draft for after the running Turn, or sends the first message of a queue that is held. */
  #queues(): boolean {
    const desk = this.#desk
    const { text } = desk.editor.draft
    const isBlank = text.trim() === ''
    if (!desk.current.busy && isBlank && desk.queue.isHeld) {
      const first = desk.queue.next()
      if (first !== undefined) this.#submit(first)
      return true
    }
    // A command without arguments is completed.
    if (!desk.current.busy || isBlank || /^\/\S*$/.test(text)) return false
    if (desk.pending.waiting.length > 0) {
      desk.note =
        'A message with attachments is not queued here: Enter sends it when the Turn ends.'
      return true
    }
    desk.queue.add(wholeText(desk.editor))
    desk.editor = clearEditor(desk.editor)
    desk.keeper.follow()
    desk.suggestions.hide()
    return true
  }

  /** In the order of input, because an earlier command may also change the mode. */
  readonly cycleMode = (): void => this.#desk.inOrder(this.#cycle)

  readonly #cycle = async (): Promise<void> => {
    const { current, display, asking } = this.#desk
    const changed = await current.changeMode(nextPosture(current.session.state))
    if (!changed.ok) display.print(failureRows(changed.error, display.columns))
    // The keys of a question are where the status line would show it.
    else if (asking.waits) this.#desk.note = `Mode: ${postureWords(current.session.state)}`
    display.refresh()
  }

  #interrupt(): void {
    const desk = this.#desk
    const { busy } = desk.current
    if (desk.exitsOnInterrupt) return desk.leave(EXIT.interrupted)
    if (!busy && desk.editor.draft.text !== '') {
      desk.keeper.stash()
      desk.suggestions.hide()
      desk.note = 'Cleared; Up brings it back.'
      return
    }
    desk.exitsOnInterrupt = true
    desk.note = 'Press Ctrl-C again to exit.'
    if (!busy) return
    desk.note = 'Interrupted. Press Ctrl-C again to exit.'
    desk.interrupt()
  }
}

function isPress(key: Key, chord: string): boolean {
  return key.kind === 'press' && key.chord === chord
}
