import { SessionResources } from '../../../../history/session-resources.ts'
import type { WholeEvent } from '../../../../model/events/event.ts'
import type { Session } from '../../../../session/session.ts'
import type { ReadEvent } from '../../../../session/reading/read-log.ts'
import { blocksOf, type Block } from '../../export/blocks.ts'
import type { Asking } from '../../question/asking.ts'
import type { Display } from '../../screen/display.ts'
import type { Key } from '../../screen/keys.ts'
import { sentences } from '../../screen/rows.ts'
import { clipboardBytes } from '../../screen/terminal-signals.ts'
import { loadCodeColours, needsCodeColours } from '../../text/code-colours.ts'
import type { ChatActions } from '../commands/command-context.ts'
import { blockRows, blockText } from './block-rows.ts'
import { at, currentBlock, NEW_PAGER, pagerBytes, pressPager, type PagerRow } from './pager.ts'

/** Events that become rows at once: a long Session opens as fast as a short one. */
const EVENTS_AT_ONCE = 400

interface TranscriptDesk {
  readonly parts: { readonly actions: Pick<ChatActions, 'read'> }
  readonly display: Display
  readonly asking: Asking
  readonly current: { readonly session: Session }
}

/**
 * The Log of the Session on the other screen of the terminal, in full: outputs, thinking, earlier Turns. While a question
 * waits, what it asks about instead. Reads what is above only when it is looked at.
 */
export class Transcript {
  readonly #desk: TranscriptDesk
  #uncover: (() => void) | undefined
  #pager = NEW_PAGER
  #blocks: Block[] = []
  #rows: PagerRow[] = []
  #columns = 0
  #title = 'Transcript'
  /** The Events of memory that are not rows yet: those before `#from` and those from `#to` on. */
  #from = 0
  #to = 0
  #isQuestion = false
  /** Events before a checkpoint are read from the Log when they are looked at. */
  #earlier: 'unread' | 'reading' | 'read' = 'unread'
  #clipboardBytes = ''

  constructor(desk: TranscriptDesk) {
    this.#desk = desk
  }

  get isOpen(): boolean {
    return this.#uncover !== undefined
  }

  open(): void {
    if (this.isOpen) return
    const { asking, display } = this.#desk
    this.#columns = display.columns
    this.#isQuestion = asking.waits
    this.#blocks = []
    this.#rows = []
    this.#title = asking.waits ? 'Question' : 'Transcript'
    if (asking.waits) this.#rows = asking.whole(display.columns).map((line) => ({ line, block: 0 }))
    else this.#begin()
    const end = this.#isQuestion ? 0 : this.#rows.length
    this.#pager = at(NEW_PAGER, end, this.#rows, this.#height)
    this.#uncover = display.cover(() => this.#bytes())
  }

  /** Returns true while it is shown: it consumes every key. */
  take(key: Key): boolean {
    if (!this.isOpen) return false
    const { state, order } = pressPager(this.#pager, key, this.#rows, this.#height)
    if (order === 'all') this.#all()
    // A search over more rows finds more.
    this.#pager =
      order === 'all' ? pressPager(this.#pager, key, this.#rows, this.#height).state : state
    if (order === 'close') this.close()
    if (order === 'copy') this.#copy()
    if (this.#pager.top === 0 && order !== 'close') this.#extend(EVENTS_AT_ONCE)
    this.#desk.display.refresh()
    return true
  }

  close(): void {
    this.#uncover?.()
    this.#uncover = undefined
    this.#blocks = []
    this.#rows = []
    this.#desk.asking.show()
  }

  get #height(): number {
    return Math.max(1, this.#desk.display.rows - 1)
  }

  #begin(): void {
    const { events } = this.#desk.current.session
    this.#from = events.length
    this.#to = events.length
    this.#earlier = (events[0]?.seq ?? 0) === 0 ? 'read' : 'unread'
    this.#extend(EVENTS_AT_ONCE)
  }

  #bytes(): string {
    const { display } = this.#desk
    if (display.columns !== this.#columns) this.#layOut()
    this.#follow()
    const bytes = this.#clipboardBytes
    this.#clipboardBytes = ''
    const { columns, rows } = display
    const title = this.#title
    return (
      bytes + pagerBytes(this.#pager, this.#rows, { columns, rows, colour: display.colour, title })
    )
  }

  /** Adds what happened since; stays at the end if it was there. */
  #follow(): void {
    const { events } = this.#desk.current.session
    if (this.#isQuestion || events.length <= this.#to) return
    const isAtEnd = this.#pager.top + this.#height >= this.#rows.length
    const added = this.#blocksIn(events.slice(this.#to))
    this.#to = events.length
    const first = this.#blocks.length
    this.#blocks.push(...added)
    this.#rows.push(...added.flatMap((block, index) => this.#rowsOf(block, first + index)))
    if (isAtEnd) this.#pager = at(this.#pager, this.#rows.length, this.#rows, this.#height)
  }

  /** Adds Events before those that are shown. */
  #extend(count: number): void {
    if (this.#isQuestion) return
    if (this.#from === 0) return this.#readEarlier()
    const { events } = this.#desk.current.session
    const from = Math.max(0, this.#from - count)
    const added = this.#blocksIn(events.slice(from, this.#from))
    this.#from = from
    this.#prepend(added)
  }

  #all(): void {
    this.#extend(this.#from)
    this.#readEarlier()
  }

  /** Code that was shown without its colours gets them. */
  #colourCode(blocks: readonly Block[]): void {
    if (!blocks.some((block) => 'text' in block && needsCodeColours(block.text))) return
    void loadCodeColours().then(() => {
      if (!this.isOpen) return
      this.#layOut()
      this.#desk.display.refresh()
    })
  }

  #prepend(added: readonly Block[]): void {
    const before = this.#rows.length
    this.#colourCode(added)
    this.#blocks = [...added, ...this.#blocks]
    this.#layOut()
    const more = this.#rows.length - before
    this.#pager = { ...this.#pager, top: this.#pager.top + (before === 0 ? 0 : more) }
  }

  /** What a checkpoint replaced is only in the Log. */
  #readEarlier(): void {
    const { parts, current, display } = this.#desk
    const { read } = parts.actions
    const { id, events } = current.session
    const first = events[0]?.seq ?? 0
    if (this.#earlier !== 'unread' || read === undefined || this.#from > 0) return
    this.#earlier = 'reading'
    this.#pager = { ...this.#pager, note: 'Reading earlier Turns …' }
    const added: Block[] = []
    const resources = new SessionResources(events)
    const visit = (one: ReadEvent) => {
      if (one.raw.seq >= first) return false
      added.push(...blocksOf(one, (named) => resources.byId(named)?.descriptor))
      return undefined
    }
    void read(id, {}, visit).then((done) => {
      this.#earlier = 'read'
      if (!this.isOpen || current !== this.#desk.current) return
      this.#prepend(added)
      const note = done.ok ? '' : done.error.message
      this.#pager = { ...this.#pager, note }
      display.refresh()
    })
  }

  #blocksIn(events: readonly WholeEvent[]): Block[] {
    const resources = new SessionResources(this.#desk.current.session.events)
    return events.flatMap((event) =>
      blocksOf({ raw: event, event }, (id) => resources.byId(id)?.descriptor),
    )
  }

  #layOut(): void {
    const { display, asking } = this.#desk
    this.#columns = display.columns
    this.#rows =
      this.#isQuestion && asking.waits
        ? asking.whole(this.#columns).map((line) => ({ line, block: 0 }))
        : this.#blocks.flatMap((block, index) => this.#rowsOf(block, index))
    this.#pager = at(this.#pager, this.#pager.top, this.#rows, this.#height)
  }

  #rowsOf(block: Block, index: number): PagerRow[] {
    return blockRows(block, this.#columns).map((line) => ({ line, block: index }))
  }

  #copy(): void {
    const current = currentBlock(this.#rows, this.#pager.top, this.#height)
    const [first, second] = this.#blocks.slice(current, current + 2)
    // Where a Turn begins, nothing but a time could be copied.
    const block = first?.kind === 'turn' ? (second ?? first) : first
    const text =
      block === undefined
        ? this.#rows.map(({ line }) => line.map((span) => span.text).join('')).join('\n')
        : blockText(block)
    this.#clipboardBytes = clipboardBytes(text)
    const [beginning] = sentences(text, { columns: 40 })
    const words = beginning?.map((span) => span.text).join('') ?? ''
    this.#pager = { ...this.#pager, note: `Copied ${text.length} characters: ${words} …` }
  }
}
