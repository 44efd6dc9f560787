import { countOf } from '../../../encoding/amounts.ts'
import type { Key } from '../screen/keys.ts'
import { graphemes } from '../screen/draft.ts'
import { aside, sentences } from '../screen/rows.ts'
import { candidate, fuzzyMatches } from '../suggest/fuzzy.ts'
import { cellWidth, PLAIN, wrappedVerbatim, type Line } from '../text/cell-width.ts'
import { padTo } from '../text/pad-to.ts'
import { visibleLine } from '../text/visible-text.ts'

/** One of the things to choose from. */
export interface PickerChoice<T> {
  readonly value: T
  /** What is searched, and the first column. */
  readonly name: string
  /** Further columns; each is as wide as its widest cell. */
  readonly columns?: readonly string[]
  /** Words that are searched and not shown. */
  readonly words?: string
}

export interface PickerOrder<T> {
  readonly title: string
  readonly choices: readonly PickerChoice<T>[]
  /** The index of the choice that is chosen first. */
  readonly first?: number
  /** More about a choice, below the list; called when it is chosen, again for every drawing. */
  readonly preview?: (value: T) => readonly string[]
}

/** What a key did. `choice` ends the picker; `undefined` in it: nothing was chosen. */
type PickerStep<T> = { readonly choice: { readonly value: T } | undefined } | undefined

/** A list to choose from with arrows and by typing. It knows neither terminal nor clock. */
export class Picker<T> {
  readonly #order: PickerOrder<T>
  readonly #byName: ReadonlyMap<string, PickerChoice<T>>
  readonly #candidates: ReturnType<typeof candidate>[]
  #query = ''
  #matches: readonly PickerChoice<T>[]
  #at: number
  #page = 1

  constructor(order: PickerOrder<T>) {
    this.#order = order
    const named = order.choices.map((choice, at) => [searchText(choice, at), choice] as const)
    this.#byName = new Map(named)
    this.#candidates = named.map(([text]) => candidate(text))
    this.#matches = order.choices
    this.#at = order.first ?? 0
  }

  /** Takes every key while it is open. */
  take(key: Key): PickerStep<T> {
    if (key.kind !== 'press') {
      this.#search(
        this.#query +
          key.text
            .split('\n', 1)
            .join('')
            .replaceAll(/\p{Cc}/gu, ''),
      )
      return undefined
    }
    switch (key.chord) {
      case 'escape':
      case 'ctrl-c':
      case 'ctrl-g':
      case 'ctrl-d':
        return { choice: undefined }
      case 'enter': {
        const chosen = this.#matches[this.#at]
        return chosen === undefined ? undefined : { choice: { value: chosen.value } }
      }
      case 'backspace':
        this.#search(graphemes(this.#query).slice(0, -1).join(''))
        return undefined
      case 'ctrl-u':
        this.#search('')
        return undefined
      default:
        this.#move(key.chord)
        return undefined
    }
  }

  /** In at most `most` rows, none wider than `columns`. */
  rows(columns: number, most: number): Line[] {
    const chosen = this.#matches[this.#at]
    const preview = (chosen && this.#order.preview?.(chosen.value)) ?? []
    const below = preview.flatMap((text) =>
      sentences(text, { columns, first: '  ', style: { dim: true } }),
    )
    const room = Math.max(1, most - HEAD_ROWS)
    const about = below.slice(0, Math.max(0, Math.min(MOST_PREVIEW, Math.floor(room / 2))))
    const gap: Line[] = about.length > 0 && room > about.length + 2 ? [[]] : []
    const shown = Math.max(1, Math.min(MOST_SHOWN, room - about.length - gap.length))
    this.#page = shown
    const from = Math.max(
      0,
      Math.min(this.#at - Math.floor(shown / 2), this.#matches.length - shown),
    )
    const part = this.#matches.slice(from, from + shown)
    const widths = widthsOf(part, columns)
    const list = part.map((choice, at) => rowOf(choice, from + at === this.#at, widths, columns))
    const none: Line[] = this.#matches.length === 0 ? [aside('  Nothing matches.')] : []
    return [...this.#head(columns), ...list, ...none, ...gap, ...about].slice(0, most)
  }

  hint(): Line {
    return aside('Up, Down choose · type to search · Enter takes it · Esc cancels')
  }

  #head(columns: number): Line[] {
    const total = this.#order.choices.length
    const found = this.#matches.length
    const amount =
      found === total ? String(total) : `${found} of ${countOf(total, 'entry', 'entries')}`
    const title: Line = [
      { text: visibleLine(this.#order.title), style: { bold: true } },
      { text: ` (${amount})`, style: { dim: true } },
    ]
    const query: Line = [
      { text: 'Search: ', style: { dim: true } },
      { text: `${visibleLine(this.#query)}▏`, style: PLAIN },
    ]
    return [title, query].map((line) => wrappedVerbatim(line, columns)[0] ?? [])
  }

  #search(query: string): void {
    this.#query = query
    const { choices } = this.#order
    const best = query === '' ? [] : fuzzyMatches(this.#candidates, query, choices.length)
    this.#matches = query === '' ? choices : best.flatMap((text) => this.#byName.get(text) ?? [])
    this.#at = 0
  }

  #move(chord: string): void {
    const last = Math.max(0, this.#matches.length - 1)
    const around = (by: number) => (this.#at + by + last + 1) % (last + 1)
    const places: Readonly<Record<string, number>> = {
      up: around(-1),
      'ctrl-p': around(-1),
      'ctrl-s': around(-1),
      'shift-tab': around(-1),
      down: around(1),
      'ctrl-n': around(1),
      'ctrl-r': around(1),
      tab: around(1),
      'page-up': Math.max(0, this.#at - this.#page),
      'page-down': Math.min(last, this.#at + this.#page),
      home: 0,
      end: last,
    }
    this.#at = places[chord] ?? this.#at
  }
}

const HEAD_ROWS = 2
const MOST_SHOWN = 12
const MOST_PREVIEW = 6
const GAP = '  '
const MARK_WIDTH = 2
/** The first column leaves this much to the others. */
const NAME_SHARE = 0.6

/** Unique by its number, which is not part of what is shown. */
function searchText<T>({ name, columns = [], words = '' }: PickerChoice<T>, at: number): string {
  return [name, ...columns, words, `\0${at}`].join(' ')
}

function widthsOf<T>(choices: readonly PickerChoice<T>[], columns: number): readonly number[] {
  const most = Math.max(...choices.map(({ columns: cells = [] }) => cells.length), 0)
  const cells = (at: number) =>
    choices.map(({ name, columns: all = [] }) => visibleLine(at === 0 ? name : (all[at - 1] ?? '')))
  const widths = Array.from({ length: most + 1 }, (_, at) =>
    Math.max(0, ...cells(at).map(cellWidth)),
  )
  const rest = widths.slice(1).reduce((sum, width) => sum + width + GAP.length, MARK_WIDTH)
  const least = Math.floor(columns * NAME_SHARE) - MARK_WIDTH
  const name = Math.min(widths[0] ?? 0, Math.max(least, columns - rest))
  return [Math.max(1, name), ...widths.slice(1)]
}

function rowOf<T>(
  { name, columns: cells = [] }: PickerChoice<T>,
  isChosen: boolean,
  widths: readonly number[],
  columns: number,
): Line {
  const [width = 0, ...others] = widths
  const rest = cells.map((text, at) => padTo(visibleLine(text), others[at] ?? 0)).join(GAP)
  const first = padTo(visibleLine(name), width)
  const line: Line = [
    { text: `${isChosen ? '› ' : '  '}${first}`, style: isChosen ? { bold: true } : PLAIN },
    { text: `${GAP}${rest}`.trimEnd(), style: { dim: true } },
  ]
  return wrappedVerbatim(line, columns)[0] ?? []
}
