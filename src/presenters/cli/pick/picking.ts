import type { Key } from '../screen/keys.ts'
import type { Line } from '../text/cell-width.ts'
import { Picker, type PickerOrder } from './picker.ts'

/** Lets the person choose; `undefined` if they cancel. */
export type PickOne = <T>(order: PickerOrder<T>) => Promise<T | undefined>

interface OpenPicker {
  /** Returns whether the picker is over. */
  readonly take: (key: Key) => boolean
  readonly rows: (columns: number, most: number) => readonly Line[]
  readonly hint: () => Line
  readonly cancel: () => void
}

/** The picker of a chat: at most one is open, and it takes all keys. */
export class Picking {
  readonly #redraw: () => void
  #open: OpenPicker | undefined

  /** `changed`: it must be drawn again. */
  constructor(changed: () => void) {
    this.#redraw = changed
  }

  get isOpen(): boolean {
    return this.#open !== undefined
  }

  /** Replaces a picker that is open, which is cancelled. */
  readonly pick: PickOne = (order) => {
    this.close()
    const picker = new Picker(order)
    this.#redraw()
    return new Promise((resolve) => {
      this.#open = {
        take: (key) => {
          const step = picker.take(key)
          if (step !== undefined) resolve(step.choice?.value)
          return step !== undefined
        },
        rows: (columns, most) => picker.rows(columns, most),
        hint: () => picker.hint(),
        cancel: () => resolve(undefined),
      }
    })
  }

  /** Returns whether a picker is open, which has the key then. */
  take(key: Key): boolean {
    const open = this.#open
    if (open === undefined) return false
    if (open.take(key) && this.#open === open) this.#open = undefined
    this.#redraw()
    return true
  }

  rows(columns: number, most: number): readonly Line[] {
    return this.#open?.rows(columns, most) ?? []
  }

  hint(): Line {
    return this.#open?.hint() ?? []
  }

  close(): void {
    const open = this.#open
    this.#open = undefined
    open?.cancel()
  }
}
