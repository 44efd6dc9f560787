import type { Clock } from '../../../host/clock.ts'
import { failed } from '../../../model/errors.ts'
import { PLAIN, type Line } from '../text/cell-width.ts'
import { visibleLine } from '../text/visible-text.ts'
import { EDITS, insertText, type Draft } from '../screen/draft.ts'
import type { Key } from '../screen/keys.ts'
import { proposalOf, questionTitle } from './proposal.ts'
import type { OpenQuestions, Question } from '../../../session/questions/session-questions.ts'
import { aside, sentences } from '../screen/rows.ts'

/**
 * A question accepts no keys until it has been visible this long without any key press, so that someone who was typing
 * when it appeared does not answer it by accident.
 */
const QUIET_MS = 300

/** Enter counts only this long after the last key, so that pasted or scripted input confirms nothing. */
const CALM_MS = 100

/** Escape means no only if nothing follows it, because an escape sequence that arrives in pieces begins with it too. */
const ESCAPE_MS = 150

/**
 * Asks the person the questions of a Turn in sequence. Nothing is preselected; an arrow or a digit selects, Enter
 * confirms, Escape denies. Other keys are ignored, and typed or pasted text restarts the quiet time.
 */
export class Asking {
  #questions: OpenQuestions = NO_QUESTIONS
  #stopListening: () => void = () => {}
  readonly #clock: Clock
  readonly #onChange: () => void
  readonly #came: () => void
  readonly #cycleMode: (() => void) | undefined
  #shownQuestion: Question | undefined
  #choices: readonly Choice[] = []
  #chosenRow: number | undefined
  /** The text field of the confirmed choice, while it is edited. */
  #field: (Field & { readonly draft: Draft }) | undefined
  #problem = ''
  /** First visible row of the proposal. */
  #from = 0
  #page = 1
  #open = false
  #calm = false
  #cancels = new Set<() => void>()

  /** `changed`: the rows changed. `came`: a new question is shown. `cycleMode`: the person presses Shift-Tab. */
  constructor(clock: Clock, changed: () => void, came: () => void, cycleMode?: () => void) {
    this.#clock = clock
    this.#onChange = changed
    this.#came = came
    this.#cycleMode = cycleMode
  }

  /** Asks these questions from now on, instead of those of another Session. */
  watch(questions: OpenQuestions): void {
    this.#stopListening()
    this.#questions = questions
    this.#stopListening = questions.listen(() => this.#showFirst())
    this.#showFirst()
  }

  #showFirst(): void {
    const [first] = this.#questions.open
    if (first?.request_id === this.#shownQuestion?.request_id) return
    this.#begin(first)
    if (first !== undefined) this.#came()
    this.#onChange()
  }

  /** Returns true while a question is shown: it consumes every key. */
  take(key: Key): boolean {
    if (this.#shownQuestion === undefined) return false
    const wasCalm = this.#calm
    if (this.#open) this.#stir()
    else this.#wait()
    if (!this.#open) return true
    if (isPress(key, 'escape')) this.#later(ESCAPE_MS, () => this.#refuse())
    else if (isPress(key, 'shift-tab')) this.#considerMode(wasCalm)
    else if (isPress(key, 'enter')) {
      if (wasCalm) this.#confirm()
    } else if (this.#field !== undefined) this.#write(this.#field, key)
    else this.#choose(key)
    this.#onChange()
    return true
  }

  get waits(): boolean {
    return this.#shownQuestion !== undefined
  }

  /** The question in at most `most` rows: the choices stay visible, the proposal is shown one page at a time. */
  rows(columns: number, most: number): Line[] {
    if (this.#shownQuestion === undefined) return []
    const title = questionTitle(this.#shownQuestion, columns)
    const below = this.#field === undefined ? this.#choiceRows(columns) : this.#fieldRows(columns)
    const proposal = proposalOf(this.#shownQuestion, columns)
    const room = most - title.length - below.length
    if (proposal.length <= room || room >= LEAST_ROOM) {
      return [...title, ...this.#pageOf(proposal, room, columns), ...below]
    }
    // On a small terminal, the selected choice stays visible and the rest is paged.
    const few = Math.max(1, most - 2)
    const marked = below.findIndex(([first]) => first?.text.startsWith(MARK) === true)
    const from = Math.min(Math.max(0, below.length - few), Math.max(0, marked))
    const kept = below.slice(from, from + few)
    return [...this.#pageOf([...title, ...proposal], most - kept.length, columns), ...kept]
  }

  /** The question with the whole proposal, for a screen of its own. */
  whole(columns: number): Line[] {
    if (this.#shownQuestion === undefined) return []
    return [
      ...questionTitle(this.#shownQuestion, columns),
      ...proposalOf(this.#shownQuestion, columns),
    ]
  }

  /** It is visible again: the quiet time begins, as for a new question. */
  show(): void {
    this.#wait()
    this.#onChange()
  }

  /** The keys that are accepted now. */
  hint(): Line {
    if (this.#shownQuestion === undefined) return []
    if (!this.#open) return aside('A question …')
    const text =
      this.#field === undefined
        ? `↑ ↓ or 1-${this.#choices.length} choose · Enter confirms · Esc no`
        : 'Enter confirms · ↑ ↓ back to the choices · Esc no'
    return [{ text, style: { bold: true, colour: 'yellow' } }]
  }

  close(): void {
    this.#stopTimers()
    this.#stopListening()
    this.#questions = NO_QUESTIONS
    this.#shownQuestion = undefined
  }

  #begin(question: Question | undefined): void {
    this.#shownQuestion = question
    this.#choices = question?.choices ?? []
    this.#chosenRow = undefined
    this.#field = undefined
    this.#problem = ''
    this.#from = 0
    this.#wait()
  }

  #choose(key: Key): void {
    if (key.kind === 'press') {
      const { chord } = key
      if (chord === 'up' || chord === 'down') this.#move(chord)
      else if (chord === 'page-down') this.#from += this.#page
      else if (chord === 'page-up') this.#from = Math.max(0, this.#from - this.#page)
      return
    }
    const number = key.kind === 'text' ? Number(key.text) : Number.NaN
    if (Number.isInteger(number) && this.#choices[number - 1] !== undefined) {
      this.#chosenRow = number - 1
      return
    }
    // The person is typing text and does not look at the question.
    this.#chosenRow = undefined
    this.#wait()
  }

  #move(way: 'up' | 'down'): void {
    const last = this.#choices.length - 1
    const from = this.#chosenRow ?? (way === 'down' ? -1 : last + 1)
    this.#chosenRow = Math.min(last, Math.max(0, from + (way === 'down' ? 1 : -1)))
  }

  #confirm(): void {
    const choice = this.#chosenRow === undefined ? undefined : this.#choices[this.#chosenRow]
    if (choice === undefined) return
    const field = this.#field === undefined ? choice.field : undefined
    if (field !== undefined) {
      this.#field = { ...field, draft: { text: field.text, cursor: field.text.length } }
      return
    }
    this.#answer(choice, this.#field?.draft.text)
  }

  /** Another client may have answered first, and text may not fit: then the question stays. */
  #answer({ number: choice }: Choice, text?: string): void {
    const shown = this.#shownQuestion
    if (shown === undefined) return
    void this.#questions.answer(shown.request_id, { choice, text }).then((answered) => {
      if (answered.ok || this.#shownQuestion !== shown) return
      this.#problem = answered.error.message
      this.#onChange()
    })
  }

  /** Only a single press counts: a mode may permit what is asked, and pasted or scripted input must not change it. */
  #considerMode(wasCalm: boolean): void {
    if (wasCalm) this.#later(ESCAPE_MS, () => this.#cycleMode?.())
  }

  /** Denies the question that is shown. */
  #refuse(): void {
    const no = this.#shownQuestion?.choices.find(({ decision }) => decision === 'denied')
    if (no !== undefined) this.#answer(no)
  }

  #write(field: Field & { readonly draft: Draft }, key: Key): void {
    this.#problem = ''
    if (key.kind !== 'press') {
      const text = key.text
        .replaceAll(/\s+/g, ' ')
        .slice(0, LONGEST_FIELD - field.draft.text.length)
      this.#field = { ...field, draft: insertText(field.draft, text) }
      return
    }
    if (key.chord === 'up' || key.chord === 'down') {
      this.#field = undefined
      return
    }
    const edit = BREAKS_LINE.has(key.chord) ? undefined : EDITS[key.chord]
    if (edit !== undefined) this.#field = { ...field, draft: edit(field.draft) }
  }

  #choiceRows(columns: number): Line[] {
    return this.#choices.flatMap((choice, at) => {
      const isChosen = at === this.#chosenRow
      const style = isChosen ? { bold: true } : PLAIN
      const first = `${isChosen ? MARK : ' '} ${at + 1}  `
      return sentences(visibleLine(choice.text), { columns, first, style, firstStyle: style })
    })
  }

  #fieldRows(columns: number): Line[] {
    if (this.#field === undefined) return []
    const { label, draft } = this.#field
    const text = `${draft.text.slice(0, draft.cursor)}▏${draft.text.slice(draft.cursor)}`
    const problem =
      this.#problem === ''
        ? []
        : sentences(this.#problem, { columns, first: '  ', style: { colour: 'red' } })
    return [...problem, ...sentences(visibleLine(label + text), { columns, first: `${MARK} ` })]
  }

  #pageOf(proposal: readonly Line[], room: number, columns: number): Line[] {
    if (proposal.length <= room) return [...proposal]
    this.#page = Math.max(1, room - 1)
    this.#from = Math.max(0, Math.min(this.#from, proposal.length - this.#page))
    const to = this.#from + this.#page
    const page = proposal.slice(this.#from, to).slice(0, Math.max(0, room))
    const place = `${this.#from + 1}-${to} of ${proposal.length}`
    // In one row, which is what it was counted as.
    const notes = [
      `  [lines ${place} · PgDn and PgUp show the rest, Ctrl-O all]`,
      `  [lines ${place} · PgDn, Ctrl-O]`,
    ]
    const note = notes.find((text) => text.length <= columns) ?? `[${place}]`
    return room < 2 ? page : [...page, aside(note)]
  }

  /** Ignores keys until none has come for the quiet time. */
  #wait(): void {
    this.#stopTimers()
    this.#open = false
    this.#calm = false
    if (this.#shownQuestion === undefined) return
    this.#later(QUIET_MS, () => {
      this.#open = true
      this.#calm = true
      this.#onChange()
    })
  }

  #stir(): void {
    this.#stopTimers()
    this.#calm = false
    this.#later(CALM_MS, () => {
      this.#calm = true
    })
  }

  #later(ms: number, then: () => void): void {
    const cancel = this.#clock.after(ms, () => {
      this.#cancels.delete(cancel)
      then()
    })
    this.#cancels.add(cancel)
  }

  #stopTimers(): void {
    for (const cancel of this.#cancels) cancel()
    this.#cancels.clear()
  }
}

type Choice = Question['choices'][number]
type Field = NonNullable<Choice['field']>

const NO_QUESTIONS: OpenQuestions = {
  open: [],
  answer: async () => failed('not_found', 'No question is open.'),
  listen: () => () => {},
}

const MARK = '❯'
const LONGEST_FIELD = 1_000
/** A proposal needs at least this many rows to be readable. */
const LEAST_ROOM = 3
const BREAKS_LINE = new Set(['ctrl-j', 'alt-enter', 'shift-enter'])

function isPress(key: Key, chord: string): boolean {
  return key.kind === 'press' && key.chord === chord
}
