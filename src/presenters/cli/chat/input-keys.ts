import { droppedPaths } from '../input/dropped-paths.ts'
import { insert, openChip, replaceAll, wholeText } from '../screen/editor.ts'
import type { Key } from '../screen/keys.ts'
import { visibleLine } from '../text/visible-text.ts'
import type { ChatDesk } from './desk.ts'
import { failureRows } from './translate.ts'

/** Keys of the input that need more than the draft: other programs, the disk, the history of all Sessions. */
export class InputKeys {
  readonly #desk: ChatDesk
  /** Ctrl-X was pressed, and waits for its second key. */
  #prefix = false

  constructor(desk: ChatDesk) {
    this.#desk = desk
  }

  /** Returns the key as the draft gets it; `undefined` if it was handled here. */
  take(key: Key): Key | undefined {
    const isSecond = this.#prefix
    this.#prefix = false
    if (key.kind === 'paste') return this.#paste(key)
    if (key.kind === 'text') return key
    if (isSecond) return this.#afterPrefix(key.chord)
    if (key.chord === 'ctrl-r' && this.#vimTakes()) return key
    if (key.chord === 'backspace' && this.#detaches()) return undefined
    const act = this.#acts[key.chord]
    if (act === undefined) return key
    act()
    return undefined
  }

  readonly #acts: Readonly<Record<string, () => void>> = {
    'ctrl-x': () => {
      this.#prefix = true
      this.#desk.note = 'Ctrl-X … Ctrl-E opens your editor, Ctrl-U undoes.'
    },
    'ctrl-g': () => this.#edit(),
    'ctrl-z': () => this.#suspend(),
    'ctrl-r': () => this.#searchHistory(),
    'ctrl-v': () => this.#attach(['clipboard']),
    'alt-o': () => {
      const open = openChip(this.#desk.editor)
      if (open === undefined) this.#desk.note = 'There is no pasted text to open.'
      else this.#desk.editor = open
    },
  }

  #afterPrefix(chord: string): Key | undefined {
    if (chord === 'ctrl-u') return { kind: 'press', chord: 'ctrl-_' }
    if (chord === 'ctrl-e') this.#edit()
    return undefined
  }

  #vimTakes(): boolean {
    const { vim } = this.#desk.editor
    return vim !== undefined && vim.mode !== 'insert'
  }

  /** Before the text, Backspace removes the last attachment. */
  #detaches(): boolean {
    const { editor, pending } = this.#desk
    if (editor.draft.cursor > 0 || pending.waiting.length === 0) return false
    const gone = pending.remove(pending.waiting.length)
    this.#desk.note = `Not attached any more: ${gone?.words ?? ''}`
    return true
  }

  #edit(): void {
    const desk = this.#desk
    const { editText } = desk.parts.actions
    if (editText === undefined) return
    desk.suggestions.hide()
    desk.inOrder(() =>
      desk.handOver(async () => {
        const edited = await editText(wholeText(desk.editor))
        if (edited.ok) desk.editor = replaceAll(desk.editor, edited.value)
        else desk.display.print(failureRows(edited.error, desk.display.columns))
        desk.keeper.follow()
      }),
    )
  }

  #suspend(): void {
    const desk = this.#desk
    const { suspend } = desk.parts.actions
    if (suspend !== undefined) desk.alone(() => desk.handOver(suspend))
  }

  #searchHistory(): void {
    const desk = this.#desk
    desk.alone(async () => {
      await desk.keeper.reread()
      const choices = desk.editor.history.toReversed().map(historyChoice)
      if (choices.length === 0) {
        desk.note = 'There are no earlier messages in this folder.'
        return desk.display.refresh()
      }
      const text = await desk.picking.pick({ title: 'Earlier messages', choices, preview })
      if (text === undefined) return
      desk.editor = replaceAll(desk.editor, text)
      desk.keeper.follow()
      desk.display.refresh()
    })
  }

  /** A path that was dragged into the terminal becomes an attachment; anything else is text. */
  #paste(key: Key & { readonly kind: 'paste' }): Key | undefined {
    const paths = this.#desk.parts.actions.attach === undefined ? undefined : droppedPaths(key.text)
    if (paths === undefined || this.#desk.editor.draft.text.startsWith('/')) return key
    this.#attach(paths, key.text)
    return undefined
  }

  /** In order, so that a message that is sent at once has them. `text`: what stays in the draft if that fails. */
  #attach(names: readonly string[], text = ''): void {
    const desk = this.#desk
    const { attach } = desk.parts.actions
    if (attach === undefined) return
    desk.note = `Checking ${visibleLine(names.join(', '))} …`
    desk.inOrder(async () => {
      const notes: string[] = []
      let refused = 0
      for (const name of names) {
        const checked = await attach(name)
        if (checked.ok) {
          desk.pending.add(checked.value)
          notes.push(`Attached: ${checked.value.words}`)
        } else {
          refused += 1
          const next = checked.error.next_actions?.[0]?.action
          notes.push([checked.error.message, ...(next === undefined ? [] : [next])].join(' '))
        }
      }
      if (refused === names.length && text !== '') desk.editor = insert(desk.editor, text)
      desk.note = notes.join(' ')
      desk.display.refresh()
    })
  }
}

function historyChoice(text: string) {
  const [first = '', ...rest] = text.trim().split('\n')
  const more = rest.length === 0 ? '' : ` … (${rest.length + 1} lines)`
  return {
    value: text,
    name: `${first.slice(0, LONGEST_NAME)}${more}`,
    words: rest.join(' ').slice(0, LONGEST_NAME),
  }
}

function preview(text: string): readonly string[] {
  return text.split('\n', MOST_PREVIEW)
}

const LONGEST_NAME = 200
const MOST_PREVIEW = 6
