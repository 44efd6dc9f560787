import { countOf } from '../../../../encoding/amounts.ts'
import { aside, fittingParts, oneRow } from '../../screen/rows.ts'
import type { Line } from '../../text/cell-width.ts'

/** Texts that are entered one by one when the running Turn has ended; people see them numbered from 1. */
export class MessageQueue {
  #texts: readonly string[] = []
  /** After an interruption, nothing is sent until the person sends something. */
  isHeld = false
  readonly #onChange: () => void

  /** `onChange`: texts were added, removed or moved. */
  constructor(onChange: () => void = () => {}) {
    this.#onChange = onChange
  }

  get texts(): readonly string[] {
    return this.#texts
  }

  get length(): number {
    return this.#texts.length
  }

  add(text: string): void {
    this.#set([...this.#texts, text])
  }

  /** Takes over the texts of an earlier chat, which wait for the person. */
  restore(texts: readonly string[]): void {
    this.#set(texts)
    this.isHeld = texts.length > 0
  }

  /** Takes the first one, to send it. */
  next(): string | undefined {
    return this.remove(1)
  }

  /** Removes one and returns it; `undefined` if the number does not exist. */
  remove(number: number): string | undefined {
    const text = this.#texts[number - 1]
    if (text !== undefined) this.#set(this.#texts.filter((_, at) => at !== number - 1))
    if (this.#texts.length === 0) this.isHeld = false
    return text
  }

  /** Moves one to another place. Returns false if either number does not exist. */
  move(from: number, to: number): boolean {
    const text = this.#texts[from - 1]
    if (text === undefined || this.#texts[to - 1] === undefined) return false
    const others = this.#texts.filter((_, at) => at !== from - 1)
    this.#set([...others.slice(0, to - 1), text, ...others.slice(to - 1)])
    return true
  }

  /** Removes and returns all, the first one first. */
  clear(): readonly string[] {
    const all = this.#texts
    this.isHeld = false
    this.#set([])
    return all
  }

  #set(texts: readonly string[]): void {
    this.#texts = texts
    this.#onChange()
  }
}

const MOST_ROWS = 4

/** The queue, one line for each text. Pure. */
export function queueRows(
  { texts, isHeld }: Pick<MessageQueue, 'texts' | 'isHeld'>,
  columns: number,
): Line[] {
  if (texts.length === 0) return []
  const rows = texts.slice(0, MOST_ROWS).map((text, at): Line => {
    const setting = { columns, first: `  ${at + 1}. `, style: { dim: true } }
    return oneRow(text.replaceAll(/\s+/g, ' '), setting)
  })
  const more = texts.length - rows.length
  const held = isHeld
    ? [`${countOf(texts.length, 'queued message')} held`, 'Tab sends the first']
    : ['Queued for after this Turn']
  const head = fittingParts([...held, 'Alt-Up edits the last', '/queue changes the order'], columns)
  return [
    oneRow(head, { columns, style: { colour: 'cyan' } }),
    ...rows,
    ...(more > 0 ? [aside(`  [… ${countOf(more, 'more message')}]`)] : []),
  ]
}
