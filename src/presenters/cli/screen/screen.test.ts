import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { VirtualTerminal } from '../../../../test/support/cli/virtual-terminal.ts'
import { lineWidth, PLAIN, wrapLine, type Line } from '../text/cell-width.ts'
import { inputBox } from './input-box.ts'
import {
  afterResize,
  erase,
  frame,
  NO_FRAME,
  redraw,
  type ScreenFrame,
  type Scene,
} from './screen.ts'

const line = (text: string): Line => [{ text, style: PLAIN }]
const textOf = (one: Line) => one.map(({ text }) => text).join('')
const draftOf = (text: string, cursor = text.length) => ({ text, cursor })

const EMPTY: Scene = {
  open: [],
  activity: [],
  question: () => [],
  draft: draftOf(''),
  hint: line('hint'),
  cursor: 'own',
}

/** A terminal, and the screen that draws on it. */
class Stage {
  readonly terminal: VirtualTerminal
  #columns: number
  #rows: number
  #drawn: ScreenFrame = NO_FRAME
  #resized = false

  constructor(columns: number, rows: number) {
    this.terminal = new VirtualTerminal(columns, rows)
    this.#columns = columns
    this.#rows = rows
  }

  /** Returns the rows that were printed. */
  async show(scene: Scene, finished: readonly string[] = []): Promise<string[]> {
    const printed = finished.flatMap((text) => wrapLine(line(text), this.#columns))
    const next = frame(scene, this.#columns, this.#rows)
    const drawn = this.#resized ? afterResize(this.#drawn, this.#columns) : this.#drawn
    await this.terminal.write(redraw(drawn, next, printed, true))
    this.#drawn = next
    this.#resized = false
    return printed.map(textOf)
  }

  resize(columns: number, rows: number): void {
    this.terminal.resize(columns, rows)
    this.#resized = true
    this.#columns = columns
    this.#rows = rows
  }

  async leave(): Promise<void> {
    await this.terminal.write(erase(this.#drawn))
  }

  get drawn(): ScreenFrame {
    return this.#drawn
  }
}

/** Without the empty rows below. */
function shownIn(terminal: VirtualTerminal): string[] {
  const rows = terminal.all()
  return rows.slice(0, rows.findLastIndex((row) => row !== '') + 1)
}

test('finished rows are above the region, which is redrawn below them', async () => {
  const stage = new Stage(20, 6)
  await stage.show({ ...EMPTY, open: [line('so far')] }, ['one'])
  await stage.show({ ...EMPTY, draft: draftOf('hello') }, ['two', 'three', 'four', 'five', 'six'])
  const finished = ['one', 'two', 'three', 'four', 'five', 'six']
  expect(shownIn(stage.terminal)).toEqual([...finished, '> hello', 'hint'])
  expect(stage.terminal.cursor()).toEqual({ row: 4, column: 7 })
  await stage.leave()
  expect(shownIn(stage.terminal)).toEqual(finished)
})

test('while output may arrive, the cursor stays in the last row, and a drawn cursor marks the draft', async () => {
  const stage = new Stage(20, 6)
  await stage.show({
    ...EMPTY,
    open: [line('so far')],
    draft: draftOf('日本x', 1),
    cursor: 'drawn',
  })
  expect(shownIn(stage.terminal)).toEqual(['so far', '> 日▏本x', 'hint'])
  expect(stage.terminal.cursor()).toEqual({ row: 2, column: 0 })
})

test('unchanged rows are not written again', () => {
  const scene = { ...EMPTY, open: [line('long answer')], draft: draftOf('a') }
  const before = frame(scene, 40, 10)
  const bytes = redraw(before, frame({ ...scene, draft: draftOf('ab') }, 40, 10), [], false)
  expect([bytes.includes('answer'), bytes.includes('> ab'), bytes.includes('hint')]).toEqual([
    false,
    true,
    false,
  ])
})

test('the region leaves one row above it, and the hint is never cut', () => {
  const many = Array.from({ length: 50 }, (_, at) => line(`row ${at}`))
  const scene = { ...EMPTY, open: many, activity: many, question: () => many }
  const { lines } = frame({ ...scene, draft: draftOf('a\n'.repeat(50)) }, 40, 12)
  expect([lines.length, textOf(lines.at(-1) ?? [])]).toEqual([11, 'hint'])
})

test('a draft is laid out around its cursor, in a third of the rows', () => {
  const text = Array.from({ length: 500 }, (_, at) => `line ${at}`).join('\n')
  const shown = (cursor: number) => {
    const box = inputBox(draftOf(text, cursor), 80, 4)
    return [...box.lines.map(textOf), `${box.cursor.row} ${box.cursor.column}`]
  }
  const note = '  [… 500 lines, 4389 characters]'
  expect(shown(text.length)).toEqual(['  line 497', '  line 498', '  line 499', note, '2 10'])
  expect(shown(0)).toEqual(['> line 0', '  line 1', '  line 2', note, '0 2'])
})

test.each([
  ['a full row', 'abcdefg', 7, ['> abcdefg'], [0, 9]],
  ['a row too many', 'abcdefgh', 8, ['> abcdefg', '  h'], [1, 3]],
  ['wide characters', '日本語日本', 4, ['> 日本語', '  日本'], [1, 4]],
  ['a cursor at a break', 'abcdefgh', 7, ['> abcdefg', '  h'], [1, 2]],
  ['controls', 'a\u001bb', 2, ['> a\\u{1b}', '  b'], [1, 2]],
  ['a tab', '\tx', 1, ['>     x'], [0, 6]],
  ['a family', '👩‍👩‍👧x', 8, ['> 👩👩👧x'], [0, 8]],
] as const)('a draft with %s is laid out cell by cell', (_title, text, cursor, rows, place) => {
  const box = inputBox(draftOf(text, cursor), 10, 5)
  expect([box.lines.map(textOf), [box.cursor.row, box.cursor.column]]).toEqual([rows, place])
})

test('a line of a megabyte is laid out near the cursor only', () => {
  const box = inputBox(draftOf('x'.repeat(2 ** 20)), 80, 5)
  expect(box.lines.length).toBe(5)
})

const word = fc.string({
  unit: fc.constantFrom('a', 'b', '日', 'é', '👍'),
  maxLength: 90,
  size: 'max',
})
const scene = fc.record({
  open: fc.array(word, { maxLength: 3 }),
  draft: fc.array(word, { minLength: 1, maxLength: 3 }).map((lines) => lines.join('\n')),
  cursor: fc.constantFrom('own', 'drawn', 'none'),
})
const step = fc.oneof(
  fc.record({ scene, finished: fc.array(word, { maxLength: 4 }) }),
  fc.record({ columns: fc.integer({ min: 30, max: 120 }), rows: fc.integer({ min: 26, max: 40 }) }),
)

test('after any drawing and resizing, every finished row is shown once, in order', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
      const stage = new Stage(80, 30)
      let columns = 80
      let now = EMPTY
      const printed: string[] = []
      for (const one of [...steps, { scene: undefined, finished: [] }]) {
        if ('columns' in one) {
          stage.resize(one.columns, one.rows)
          columns = one.columns
          continue
        }
        if (one.scene !== undefined) {
          const { open, draft, cursor } = one.scene
          const rows = open.flatMap((text) => wrapLine(line(text), columns))
          now = { ...EMPTY, open: rows, draft: draftOf(draft), cursor }
        } else now = EMPTY
        printed.push(...(await stage.show(now, one.finished)))
      }
      // The terminal may have rewrapped finished rows, so only their text is compared.
      const region = stage.drawn.lines.map(textOf)
      const shown = stage.terminal.all().join('')
      expect(shown).toBe([...printed, ...region].join('').replaceAll(/ +(?=hint)/g, ''))
      expect(stage.drawn.lines.every((one) => lineWidth(one) <= columns)).toBe(true)
    }),
    { numRuns: 60 },
  )
})

test('a picture has separate rows above the region, at any position on the screen', async () => {
  for (const above of [0, 3, 30]) {
    const terminal = new VirtualTerminal(40, 12)
    const texts = Array.from({ length: above }, (_, at) => `row ${at}`)
    const first = frame(EMPTY, 40, 12)
    await terminal.write(redraw(NO_FRAME, first, texts.map(line), true))
    const picture = { rows: 4, bytes: '\u001b_Ga=T,f=100,C=1,c=8,r=4,q=2,m=0;AAAA\u001b\\' }
    await terminal.write(redraw(first, first, [line('before'), picture, line('after')], true))
    await terminal.write(redraw(first, frame({ ...EMPTY, draft: draftOf('x') }, 40, 12), [], true))
    expect(terminal.all().slice(0, above + 9)).toEqual([
      ...texts,
      'before',
      '',
      '',
      '',
      '',
      'after',
      '',
      '> x',
      'hint',
    ])
    expect(terminal.cursor().column).toBe(3)
  }
})

test('a note with a next step is wrapped, not cut, where the terminal has rows for it', () => {
  const note = line('No clipboard is available. Save the content to a file and attach it.')
  const rowsIn = (rows: number) => frame({ ...EMPTY, hint: note }, 30, rows).lines.map(textOf)
  expect(rowsIn(20).slice(-3)).toEqual([
    'No clipboard is available.',
    'Save the content to a file and',
    'attach it.',
  ])
  expect(rowsIn(10).slice(-1)).toEqual(['No clipboard is available.'])
})
